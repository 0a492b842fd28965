import type { NameMap, References } from '../mapping/mapping.ts';
import type { Place } from '../model.ts';
import { quoted, type Problem } from '../problem.ts';
import type { Account } from '../service/account.ts';
import { fold } from '../plan/account/fields.ts';
import {
  isWrittenAs,
  matching,
  nameOf,
  similarNames,
  targetsOf,
  withId,
  type NameKind,
  type NamedTarget,
  type OldName,
  type Targets,
} from './targets.ts';
import { issueOf } from '../report/words/words.ts';

/**
 * What a name from the old CRM resolves to in the target account. `omit`: the mapping says to omit the field. `byDefault`:
 * through the `"*"` of the mapping.
 */
export type Resolution =
  | { readonly kind: 'resolved'; readonly target: NamedTarget; readonly byDefault?: true }
  | { readonly kind: 'omit'; readonly byDefault?: true }
  | { readonly kind: 'unknown_account' }
  | { readonly kind: 'failed'; readonly issue: Problem };

/** A name that the survey met. */
export interface MetName extends OldName {
  readonly resolution: Resolution;
  /** How many records have it. */
  readonly records: number;
}

interface NameTally extends MetName {
  records: number;
  /** Of the last record that has it. */
  last: Place | undefined;
}

/** The targets among which a name is looked up, and their kind. */
interface Scope {
  readonly targets: readonly NamedTarget[];
  readonly where: string;
}

const OMIT = { kind: 'omit' } as const;

/**
 * Turns names of stages and owners into ids of the target account. Names are matched exactly first, then ignoring case,
 * spacing and Unicode form if that match is unique; an id of the account resolves to itself. `references` take precedence, the first of
 * them most. Their `"*"` applies to names that are neither in them nor in the account.
 */
export class Resolver {
  /** Empty if the account is unknown. */
  readonly targets: Targets;
  readonly #isKnown: boolean;
  readonly #references: readonly References[];
  /** The worksheet that the mapping names, in which names get their answers. */
  readonly #worksheet: string | undefined;
  readonly #met = new Map<string, NameTally>();

  /** `account` is undefined if the account is unknown (`--offline` without a stored account). */
  constructor(account: Account | undefined, references: readonly References[], worksheet?: string) {
    this.#isKnown = account !== undefined;
    this.#references = references;
    this.#worksheet = worksheet;
    this.targets = targetsOf(account);
  }

  /** `oldPipeline`: the old CRM's name of the pipeline in which the stage is looked up, if the mapping gives one. */
  stage(name: string, oldPipeline: string | undefined, place: Place): Resolution {
    return this.#meet('stage', name, oldPipeline ?? '', place);
  }

  owner(name: string, place: Place): Resolution {
    return this.#meet('owner', name, '', place);
  }

  /** Whether a UUID that the mapping gives directly exists in the account; true if the account is unknown. */
  knows(field: 'stage_id' | 'owner_id', id: string): boolean {
    return !this.#isKnown || withId(id, this.targets[field === 'stage_id' ? 'stage' : 'owner']) !== undefined;
  }

  /** The name that belongs to the id, where the name beside it differs; undefined if they agree, or one is unknown. */
  disagrees(kind: 'stage' | 'owner', id: string, name: string, oldPipeline: string | undefined): string | undefined {
    const named = this.#resolve(kind, name, oldPipeline ?? '');
    const own = withId(id, this.targets[kind]);
    return own && named.kind === 'resolved' && named.target.id !== own.id ? nameOf(own, this.targets[kind]) : undefined;
  }

  /** Whether nothing but its name says where a stage goes: neither the mapping, nor the worksheet, nor a pipeline. */
  isByName(stage: string): boolean {
    const found = this.#resolve('stage', stage, '');
    if (found.kind !== 'resolved' || found.byDefault || !isWrittenAs(stage, fold(found.target.names[0]!))) return false;
    return this.#references.every(({ stages }) => lookUp(stages, stage) === undefined);
  }

  /** The names in the account; undefined if it has no such stage. */
  stageNames(id: string): { readonly stage: string; readonly pipeline: string } | undefined {
    const found = withId(id, this.targets.stage);
    return found && { stage: found.names[0]!, pipeline: found.pipeline!.names[0]! };
  }

  /** The name in the account, or else the e-mail address; undefined if it has no such user, or only the id. */
  ownerName(id: string): string | undefined {
    return withId(id, this.targets.owner)?.names[0];
  }

  /** All names so far, those of pipelines included. */
  met(): readonly MetName[] {
    const pipelines = new Map<string, number>();
    for (const { pipeline, records } of this.#met.values()) {
      if (pipeline !== '') pipelines.set(pipeline, (pipelines.get(pipeline) ?? 0) + records);
    }
    return [
      ...[...pipelines].map(([oldName, records]): MetName => {
        const resolution = this.#resolve('pipeline', oldName, '');
        return { kind: 'pipeline', pipeline: '', oldName, resolution, records };
      }),
      ...this.#met.values(),
    ];
  }

  /** Where a name is looked up; undefined for a stage of a pipeline that is not resolved, and if the account is unknown. */
  scope(kind: NameKind, oldPipeline: string): Scope | undefined {
    if (!this.#isKnown) return undefined;
    if (kind !== 'stage' || oldPipeline === '') return { targets: this.targets[kind], where: WORDS[kind].where };
    const pipeline = this.#resolve('pipeline', oldPipeline, '');
    if (pipeline.kind === 'failed') return undefined;
    if (pipeline.kind !== 'resolved') return { targets: this.targets.stage, where: WORDS.stage.where };
    const { id, names } = pipeline.target;
    return {
      targets: this.targets.stage.filter((stage) => stage.pipeline?.id === id),
      where: `stages of pipeline \`${names[0] ?? oldPipeline}\``,
    };
  }

  #meet(kind: 'stage' | 'owner', oldName: string, pipeline: string, place: Place): Resolution {
    const key = `${kind}\0${pipeline}\0${oldName}`;
    let met = this.#met.get(key);
    if (!met) {
      const resolution = this.#resolve(kind, oldName, pipeline);
      met = { kind, pipeline, oldName, resolution, records: 0, last: undefined };
      this.#met.set(key, met);
    }
    // A record may have several events.
    if (met.last !== place) met.records += 1;
    met.last = place;
    return met.resolution;
  }

  #resolve(kind: NameKind, name: string, oldPipeline: string): Resolution {
    if (!this.#isKnown) return { kind: 'unknown_account' };
    const scope = this.scope(kind, oldPipeline);
    if (!scope) return this.#resolve('pipeline', oldPipeline, '');
    const maps = this.#references.flatMap((references) => mapsOf(references, kind, oldPipeline));
    for (const map of maps) {
      const mapped = lookUp(map, name);
      if (mapped === null) return OMIT;
      // A mistake in the worksheet is reported when it is read, so this is one of the mapping.
      if (mapped !== undefined) return find(kind, mapped, scope, name);
    }
    const direct = find(kind, name, scope, name, this.#worksheet);
    if (direct.kind !== 'failed' || direct.issue.code.startsWith('ambiguous')) return direct;
    const fallback = maps.map((map) => map.get('*')).find((value) => value !== undefined);
    if (fallback === undefined) return direct;
    if (fallback === null) return { ...OMIT, byDefault: true };
    const found = find(kind, fallback, scope, name);
    return found.kind === 'resolved' ? { ...found, byDefault: true } : found;
  }
}

/** Those of a stage's own pipeline come first. */
function mapsOf(references: References, kind: NameKind, oldPipeline: string): readonly NameMap[] {
  if (kind !== 'stage') return [kind === 'owner' ? references.owners : references.pipelines];
  const within = oldPipeline === '' ? undefined : lookUp(references.stagesByPipeline, oldPipeline);
  return within ? [within, references.stages] : [references.stages];
}

const WORDS = {
  stage: { field: 'stage_name', where: 'stages of the deal pipelines', fix: 'references.stages' },
  owner: { field: 'owner_name', where: 'users', fix: 'references.owners' },
  pipeline: { field: 'stage_pipeline', where: 'deal pipelines', fix: 'references.pipelines' },
} as const;

/** `worksheet`: where the name gets its answer, if not in the mapping. */
function find(
  kind: NameKind,
  wanted: string,
  { targets, where }: Scope,
  original: string,
  worksheet?: string,
): Resolution {
  const { field, fix: inMapping } = WORDS[kind];
  const fix = worksheet === undefined ? `\`${inMapping}\`` : worksheet;
  const mapped = wanted === original ? '' : ` (\`${original}\` in the export)`;
  const matches = matching(wanted, targets);
  if (matches.length === 1) return { kind: 'resolved', target: matches[0]! };
  const named = `\`${wanted}\`${mapped}`;
  if (matches.length > 0) {
    const narrow = kind === 'stage' ? 'give the entry a `stage_pipeline`, or ' : '';
    const hint = `${narrow}choose one in ${fix}: ${quotedNames(matches, targets)}`;
    return { kind: 'failed', issue: issueOf(`ambiguous_${kind}`, named, matches.length, where).with({ field, hint }) };
  }
  const near = similarNames(wanted, targets);
  const similar = near.length > 0 ? `similar: ${quoted(near)}; ` : '';
  const hint = `${similar}${worksheet === undefined ? 'map it' : 'fill in its `new_name`'} in ${fix}, or create it in the target account`;
  return { kind: 'failed', issue: issueOf(`unresolved_${kind}`, named, where).with({ field, hint }) };
}

/** Targets that have a name in common, each by what distinguishes it. */
export function quotedNames(matches: readonly NamedTarget[], targets: readonly NamedTarget[]): string {
  return quoted(matches.map((target) => nameOf(target, targets)));
}

/** Finds the exact key, or the only one that differs just in case, spacing or Unicode form, or is the name as printed. `"*"` is not a name. */
function lookUp<T>(map: ReadonlyMap<string, T>, name: string): T | undefined {
  if (name !== '*' && map.has(name)) return map.get(name);
  const folded = [...map].filter(([key]) => key !== '*' && isWrittenAs(name, fold(key)));
  return folded.length === 1 ? folded[0]![1] : undefined;
}
