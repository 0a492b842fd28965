import type { Account } from '../service/account.ts';

/** What a name of the old CRM stands for. */
export type NameKind = 'pipeline' | 'stage' | 'owner';

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

/** The targets with this id, else with exactly this name, else those whose name differs only in case, spacing or Unicode form. */
export function matching(wanted: string, targets: readonly NamedTarget[]): readonly NamedTarget[] {
  const identified = withId(wanted, targets);
  if (identified) return [identified];
  const found = [
    targets.filter(({ names }) => names.includes(wanted)),
    targets.filter(({ names }) => names.some((name) => fold(name) === fold(wanted))),
  ];
  return found.find(({ length }) => length > 0) ?? [];
}

/** What names this target and no other one: one of its names, or its id. */
export function nameOf(target: NamedTarget, targets: readonly NamedTarget[]): string {
  return target.names.find((name) => matching(name, targets).length === 1) ?? target.id;
}

export function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();
}
