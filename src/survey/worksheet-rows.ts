import { nearest } from '../problem.ts';
import { numberText } from '../report/words/numbers.ts';
import type { MetName, Resolver } from './resolve.ts';
import {
  BETWEEN,
  choiceOf,
  choicesOf,
  keyOf,
  matching,
  type NamedTarget,
  type NameKind,
  type OldName,
} from './targets.ts';
import { isOmitted, OMITTED, type Answer } from './worksheet.ts';

/** A row of the worksheet. */
export interface NameRow extends OldName {
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
  const left = new Map(answers.map((answer) => [keyOf(answer), answer]));
  const rows = resolver.met().map((met) => {
    const key = keyOf(met);
    const answer = left.get(key)?.newName;
    left.delete(key);
    return { ...rowOf(met, resolver, answer), choices: choices(met) };
  });
  const others = [...left.values()].map((answer) => {
    return { ...answer, records: 0, suggestions: [], choices: choices(answer), isOpen: false };
  });
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
  const { kind, pipeline, oldName, resolution, records } = met;
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
    const key = `${kind} ${pipeline}`;
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

/** Beginnings of words for deals that were won or lost, in the languages of many exports. */
const OUTCOMES = [
  /won|gewonnen|vint[aeio]|ganad|gagn|ganh|wygran|vunnet|vundet/iu,
  /lost|verlor|pers[aeio]\b|perdid|perdu|przegran|tapt|tabt/iu,
];
/** The number of a stage at the start or end of its name: `2. Offer`, `Phase 2`. */
const NUMBER = /^(\d{1,2})(?![\d%])|\D(\d{1,2})$/;

const MOST_SUGGESTED = 3;
const LEAST_STEM = 6;
const STEM_SHARE = 0.7;

/** Targets that an unresolved name may mean. */
interface Suggestion {
  /** What names one target each, as `new_name` accepts it. Several if they have the same name; none if nothing is similar. */
  readonly names: readonly string[];
  /** The name itself has one target, once the pipeline is resolved. */
  readonly isExact: boolean;
}

function suggestionFor({ kind, pipeline, oldName: name }: OldName, resolver: Resolver): Suggestion {
  const scope = resolver.scope(kind, pipeline);
  const candidates = scope?.targets ?? stagesOfSuggested(pipeline, resolver);
  const exact = matching(name, candidates);
  const guess = exact[0] ?? guessFor(kind, name, candidates);
  if (!guess) return { names: [], isExact: false };
  const called = guess.names[0] ?? guess.id;
  const same = exact.length > 0 ? exact : matching(called, candidates);
  // Of a pipeline that is still to be chosen, the name alone is enough: it is looked up within that pipeline.
  const names = scope ? same.slice(0, MOST_SUGGESTED).map((target) => choiceOf(target, candidates)) : [called];
  return { names, isExact: exact.length === 1 };
}

/** Of a pipeline that is not resolved: the stages of the one that is suggested for it, otherwise all. */
function stagesOfSuggested(pipeline: string, { targets }: Resolver): readonly NamedTarget[] {
  const suggested = guessFor('pipeline', pipeline, targets.pipeline);
  return suggested ? targets.stage.filter((each) => each.pipeline?.id === suggested.id) : targets.stage;
}

function guessFor(kind: NameKind, name: string, candidates: readonly NamedTarget[]): NamedTarget | undefined {
  if (kind !== 'stage')
    return byName(name, candidates) ?? (kind === 'pipeline' && candidates.length === 1 ? candidates[0] : undefined);
  return (
    byOutcome(name, candidates) ?? byName(name, candidates) ?? byStem(name, candidates) ?? byNumber(name, candidates)
  );
}

function byOutcome(name: string, stages: readonly NamedTarget[]): NamedTarget | undefined {
  const outcome = OUTCOMES.find((words) => words.test(name));
  const found = stages.filter(({ names }) => outcome?.test(names[0] ?? ''));
  return new Set(found.map(({ names }) => names[0])).size === 1 ? found[0] : undefined;
}

function byName(name: string, targets: readonly NamedTarget[]): NamedTarget | undefined {
  const names = targets.flatMap((target) => target.names);
  const near = nearest(name, names, 1)[0];
  return near === undefined ? undefined : targets.find((target) => target.names.includes(near));
}

/** `Qualification` is `Qualified`: letters at the beginning of both, and most of one of them. */
function byStem(name: string, targets: readonly NamedTarget[]): NamedTarget | undefined {
  const isAlike = (other: string): boolean => {
    const [one, two] = [name.toLowerCase(), other.toLowerCase()];
    let same = 0;
    while (same < one.length && one[same] === two[same]) same += 1;
    return same >= LEAST_STEM && same >= Math.min(one.length, two.length) * STEM_SHARE;
  };
  const found = targets.filter(({ names }) => names.some(isAlike));
  return new Set(found.map(({ names }) => names[0])).size === 1 ? found[0] : undefined;
}

/** The stage at that position, if all are of one pipeline. */
function byNumber(name: string, stages: readonly NamedTarget[]): NamedTarget | undefined {
  const [, first, last] = NUMBER.exec(name) ?? [];
  const isOnePipeline = stages.every(({ pipeline }) => pipeline?.id === stages[0]?.pipeline?.id);
  return isOnePipeline ? stages[Number(first ?? last ?? 0) - 1] : undefined;
}
