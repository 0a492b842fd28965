import { numberText } from '../report/words/numbers.ts';
import type { MetName, Resolver } from './resolve.ts';
import { suggestionFor } from './suggestions.ts';
import { BETWEEN, choiceOf, choicesOf, matching, type NameKind } from './targets.ts';
import { isOmitted, OMITTED, type Answer } from './worksheet.ts';

/** A row of the worksheet. */
export interface NameRow {
  readonly kind: NameKind;
  readonly pipeline: string;
  readonly oldName: string;
  readonly records: number;
  /** For a name that is not resolved: the names that it may mean; several if they are equally likely. */
  readonly suggestions: readonly string[];
  /** The new name; empty if it is not resolved, or only by the `"*"` of the mapping. */
  readonly newName: string;
  /** The names of the account that it may become. */
  readonly choices: string;
  /** Somebody has to say what it becomes. */
  readonly isOpen: boolean;
}

/** A row for each name that the survey met, and for each answer to another name; open ones first within each kind. */
export function worksheetRows(resolver: Resolver, answers: readonly Answer[]): readonly NameRow[] {
  const choices = choicesFor(resolver);
  const left = new Map(answers.map((answer) => [keyOf(answer.kind, answer.pipeline, answer.oldName), answer]));
  const rows = resolver.met().map((met) => {
    const key = keyOf(met.kind, met.pipeline, met.name);
    const answer = left.get(key)?.newName;
    left.delete(key);
    return { ...rowOf(met, resolver, answer), choices: choices(met) };
  });
  const others = [...left.values()].map((answer) => ({
    ...answer,
    records: 0,
    suggestions: [],
    choices: choices(answer),
    isOpen: false,
  }));
  const order: readonly NameKind[] = ['pipeline', 'stage', 'owner'];
  return [...withLikely(rows), ...others].sort(
    (a, b) =>
      order.indexOf(a.kind) - order.indexOf(b.kind) ||
      a.pipeline.localeCompare(b.pipeline, 'en') ||
      Number(b.isOpen) - Number(a.isOpen) ||
      b.records - a.records ||
      a.oldName.localeCompare(b.oldName, 'en'),
  );
}

function rowOf(met: MetName, resolver: Resolver, answer: string | undefined): Omit<NameRow, 'choices'> {
  const { kind, pipeline, name: oldName, resolution, records } = met;
  const row = { kind, pipeline, oldName, records, suggestions: [], newName: answer ?? '', isOpen: false };
  switch (resolution.kind) {
    case 'unknown_account':
      return row;
    case 'failed': {
      const { names, isExact } = suggestionFor(met, resolver);
      return { ...row, suggestions: names, isOpen: answer === undefined && !isExact };
    }
    case 'omit':
      if (resolution.byDefault) return { ...row, suggestions: [OMITTED] };
      return { ...row, newName: answer !== undefined && isOmitted(answer) ? answer : OMITTED };
    case 'resolved': {
      const targets = resolver.scope(kind, pipeline)?.targets ?? [];
      const { target, byDefault } = resolution;
      if (byDefault) return { ...row, suggestions: [choiceOf(target, targets)] };
      const isAnswer = answer !== undefined && matching(answer, targets)[0] === target;
      return { ...row, newName: isAnswer ? answer : choiceOf(target, targets) };
    }
  }
}

/** Of stages with one name, that of the pipeline to which most other stages of the same old pipeline go, if there is one. */
function withLikely(rows: readonly NameRow[]): readonly NameRow[] {
  const pipelineOf = (choice: string): string => choice.slice(0, choice.lastIndexOf(BETWEEN) + 1);
  return rows.map((row) => {
    if (row.kind !== 'stage' || row.suggestions.length < 2) return row;
    const sure = rows.flatMap(({ kind, pipeline, suggestions: [first, second], newName }) =>
      kind === 'stage' && pipeline === row.pipeline && second === undefined ? [newName || (first ?? '')] : [],
    );
    const counts = row.suggestions.map((each) => sure.filter((one) => pipelineOf(one) === pipelineOf(each)).length);
    const most = Math.max(...counts);
    const likely = row.suggestions.filter((_, at) => counts[at] === most);
    return most > 0 && likely.length === 1 ? { ...row, suggestions: likely } : row;
  });
}

/** The same text for all rows with the same targets. */
function choicesFor(resolver: Resolver): (of: Pick<NameRow, 'kind' | 'pipeline'>) => string {
  const known = new Map<string, string>();
  return ({ kind, pipeline }) => {
    const key = keyOf(kind, pipeline);
    let text = known.get(key);
    if (text === undefined) {
      const targets = resolver.scope(kind, pipeline)?.targets ?? resolver.targets[kind];
      const more = targets.length - MOST_CHOICES;
      text = choicesOf(targets)
        .slice(0, MOST_CHOICES)
        .concat(more > 0 ? [`and ${numberText(more)} more`] : [])
        .join('; ');
      known.set(key, text);
    }
    return text;
  };
}

/** A cell of a spreadsheet has at most 32,767 characters. */
const MOST_CHOICES = 300;

function keyOf(...parts: readonly string[]): string {
  return JSON.stringify(parts);
}
