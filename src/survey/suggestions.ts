import { nearest } from '../problem.ts';
import type { MetName, Resolver } from './resolve.ts';
import { choiceOf, matching, type NameKind, type NamedTarget } from './targets.ts';

/** Beginnings of words for deals that were won or lost, in the languages of many exports. */
const OUTCOMES = [
  /won|gewonnen|vint[aeio]|ganad|gagn|ganh|wygran|vunnet|vundet/iu,
  /lost|verlor|pers[aeio]\b|perdid|perdu|przegran|tapt|tabt/iu,
];
/** The number of a stage at the start or end of its name: `2. Offer`, `Phase 2`. */
const NUMBER = /^(\d{1,2})(?![\d%])|\D(\d{1,2})$/;

const MOST = 3;
const LEAST_STEM = 6;
const STEM_SHARE = 0.7;

/** Targets that an unresolved name may mean. */
interface Suggestion {
  /** What names one target each, as `new_name` accepts it. Several if they have the same name; none if nothing is similar. */
  readonly names: readonly string[];
  /** The name itself has one target, once the pipeline is resolved. */
  readonly isExact: boolean;
}

export function suggestionFor({ kind, pipeline, name }: MetName, resolver: Resolver): Suggestion {
  const scope = resolver.scope(kind, pipeline);
  const candidates = scope?.targets ?? stagesOfSuggested(pipeline, resolver);
  const exact = matching(name, candidates);
  const guess = exact[0] ?? guessFor(kind, name, candidates);
  if (!guess) return { names: [], isExact: false };
  const called = guess.names[0] ?? guess.id;
  const same = exact.length > 0 ? exact : matching(called, candidates);
  // Of a pipeline that is still to be chosen, the name alone is enough: it is looked up within that pipeline.
  const names = scope ? same.slice(0, MOST).map((target) => choiceOf(target, candidates)) : [called];
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
