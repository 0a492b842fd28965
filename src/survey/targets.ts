import { fold } from '../plan/account/fields.ts';
import { nearest } from '../problem.ts';
import type { Account } from '../service/account.ts';
import { visible } from '../report/words/visible.ts';

/** The target of a name of the old CRM. */
export type NameKind = 'pipeline' | 'stage' | 'owner';

export interface OldName {
  readonly kind: NameKind;
  /** Of a stage: the old name of its pipeline; empty if the mapping gives none. */
  readonly pipeline: string;
  readonly oldName: string;
}

export function keyOf({ kind, pipeline, oldName }: OldName): string {
  return JSON.stringify([kind, pipeline, oldName]);
}

/** A pipeline, stage or user of the target account, with all its names; the e-mail address of a user is one of them. */
export interface NamedTarget {
  readonly id: string;
  readonly names: readonly string[];
  /** Of a stage. */
  readonly pipeline?: NamedTarget;
}

export type Targets = Readonly<Record<NameKind, readonly NamedTarget[]>>;

/** The deal pipelines, their stages, and the users. */
export function targetsOf(account: Account | undefined): Targets {
  const pipelines = (account?.pipelines ?? [])
    .filter(({ type }) => type === 'DEAL')
    .map((pipeline) => ({ ...pipeline, target: { id: pipeline.id, names: [pipeline.name] } }));
  return {
    pipeline: pipelines.map(({ target }) => target),
    stage: pipelines.flatMap(({ stages, target: pipeline }) =>
      stages.map(({ id, name }) => ({ id, names: [name], pipeline })),
    ),
    owner: (account?.users ?? []).map(({ id, names, email }) => ({
      id,
      names: email === undefined ? names : [...names, email],
    })),
  };
}

export function withId(id: string, targets: readonly NamedTarget[]): NamedTarget | undefined {
  const wanted = id.toLowerCase();
  return targets.find((target) => target.id.toLowerCase() === wanted);
}

/**
 * The targets with this id, else with exactly this name, else those whose name differs only in case, spacing or Unicode form, or is
 * written as it is printed.
 * A stage is also found with its pipeline: `Sales / Won`.
 */
export function matching(wanted: string, targets: readonly NamedTarget[]): readonly NamedTarget[] {
  const identified = withId(wanted, targets);
  if (identified) return [identified];
  const exact = targets.filter((target) => allNames(target).includes(wanted));
  if (exact.length > 0) return exact;
  const folded = fold(wanted);
  return targets.filter((target) => allNames(target).some((name) => isWrittenAs(name, folded)));
}

/** Whether a folded text is the name, or the name as messages print it: invisible characters by their code points. */
export function isWrittenAs(name: string, folded: string): boolean {
  return fold(name) === folded || fold(visible(name)) === folded;
}

/** What names this target and no other one: one of its names, if need be with its pipeline or with its id. */
export function nameOf(target: NamedTarget, targets: readonly NamedTarget[]): string {
  return uniqueOf(allNames(target), targets) ?? target.id;
}

/** Each target as `choiceOf` has it. */
export function choicesOf(targets: readonly NamedTarget[]): string[] {
  return targets.map((target) => choiceOf(target, targets));
}

/** As `nameOf` has it; a stage with its pipeline. */
export function choiceOf(target: NamedTarget, targets: readonly NamedTarget[]): string {
  return (target.pipeline && uniqueOf(longNames(target), targets)) ?? nameOf(target, targets);
}

/** Targets with names similar to `wanted`, best first, as `nameOf` has them. */
export function similarNames(wanted: string, targets: readonly NamedTarget[]): string[] {
  const near = nearest(
    wanted,
    targets.flatMap(({ names }) => names),
  );
  const found = near.flatMap((name) => targets.filter(({ names }) => names.includes(name)));
  return [...new Set(found)].map((target) => nameOf(target, targets));
}

function uniqueOf(names: readonly string[], targets: readonly NamedTarget[]): string | undefined {
  return names.find((name) => matching(name, targets).length === 1);
}

function allNames(target: NamedTarget): string[] {
  return [...target.names, ...longNames(target)];
}

/** Between a pipeline and its stage. */
export const BETWEEN = ' / ';

/** `Sales / Won`, and where that does not suffice, `Sales / Won (0f8a…)`. */
function longNames({ id, names: [name], pipeline }: NamedTarget): string[] {
  if (name === undefined) return [];
  const long = pipeline?.names[0] === undefined ? name : `${pipeline.names[0]}${BETWEEN}${name}`;
  return [long, `${long} (${id})`];
}

/** Whether a row of the worksheet is about a name, perhaps as messages print it; a stage without a pipeline is of any. */
export function isAbout(row: OldName, { kind, pipeline, oldName }: OldName): boolean {
  const isOfPipeline = row.pipeline === '' || isWrittenAs(pipeline, fold(row.pipeline));
  return row.kind === kind && isOfPipeline && isWrittenAs(oldName, fold(row.oldName));
}
