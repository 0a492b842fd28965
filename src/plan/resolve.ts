import type { NameMap, References } from '../mapping/mapping.ts';
import type { Issue } from '../model.ts';
import { nearest } from '../problem.ts';
import type { Account } from '../service/account.ts';

/** What a name from the old CRM resolves to in the target account. `omit`: the mapping says to omit the field. */
export type Resolution =
  | { readonly kind: 'resolved'; readonly id: string }
  | { readonly kind: 'omit' }
  | { readonly kind: 'unknown_account' }
  | { readonly kind: 'failed'; readonly issue: Issue };

interface Named {
  readonly id: string;
  readonly names: readonly string[];
}

interface StagePlace extends Named {
  readonly pipeline: Named;
}

const OMIT: Resolution = { kind: 'omit' };

/**
 * Turns names of stages and owners into ids of the target account. Names are matched exactly first, then ignoring case,
 * spacing and Unicode form if that match is unique; an id of the account resolves to itself. The mapping's `references`
 * take precedence; their `"*"` applies to names that neither they nor the account have.
 */
export class Resolver {
  readonly #account: Account | undefined;
  readonly #references: References;
  readonly #pipelines: readonly Named[];
  readonly #stages: readonly StagePlace[];
  readonly #owners: readonly Named[];
  readonly #seen = new Map<string, Resolution>();

  /** `account` is undefined if the account is unknown (`--offline` without a stored account). */
  constructor(account: Account | undefined, references: References) {
    this.#account = account;
    this.#references = references;
    const pipelines = (account?.pipelines ?? []).filter(({ type }) => type === 'DEAL');
    this.#pipelines = pipelines.map(({ id, name }) => ({ id, names: [name] }));
    this.#stages = pipelines.flatMap((pipeline) =>
      pipeline.stages.map((stage) => ({
        id: stage.id,
        names: [stage.name],
        pipeline: { id: pipeline.id, names: [pipeline.name] },
      })),
    );
    this.#owners = (account?.users ?? []).map(({ id, names, email }) => ({
      id,
      names: email === undefined ? names : [...names, email],
    }));
  }

  /** `oldPipeline`: the old CRM's name of the pipeline in which the stage is looked up, if the mapping gives one. */
  stage(name: string, oldPipeline: string | undefined): Resolution {
    return this.#once(`stage\0${oldPipeline ?? ''}\0${name}`, () => this.#stage(name, oldPipeline));
  }

  owner(name: string): Resolution {
    return this.#once(`owner\0${name}`, () =>
      this.#throughMap('owner_name', name, [this.#references.owners], this.#owners, 'users'),
    );
  }

  /** Whether a UUID that the mapping gives directly exists in the account; true if the account is unknown. */
  knows(field: 'stage_id' | 'owner_id', id: string): boolean {
    if (!this.#account) return true;
    return withId<Named>(field === 'stage_id' ? this.#stages : this.#owners, id) !== undefined;
  }

  /** The names in the account; undefined if it has no such stage. */
  stageNames(id: string): { readonly stage: string; readonly pipeline: string } | undefined {
    const found = withId(this.#stages, id);
    return found && { stage: found.names[0]!, pipeline: found.pipeline.names[0]! };
  }

  /** The name in the account, or else the e-mail address; undefined if it has no such user, or only the id. */
  ownerName(id: string): string | undefined {
    return withId(this.#owners, id)?.names[0];
  }

  #once(key: string, resolve: () => Resolution): Resolution {
    let resolution = this.#seen.get(key);
    if (!resolution) {
      resolution = this.#account ? resolve() : { kind: 'unknown_account' };
      this.#seen.set(key, resolution);
    }
    return resolution;
  }

  #stage(name: string, oldPipeline: string | undefined): Resolution {
    const maps = [this.#references.stages];
    let stages = this.#stages;
    let where = 'stages of the deal pipelines';
    if (oldPipeline !== undefined) {
      const within = lookUp(this.#references.stagesByPipeline, oldPipeline);
      if (within) maps.unshift(within);
      const pipelines = this.#references.pipelines;
      const pipeline = this.#throughMap('stage_pipeline', oldPipeline, [pipelines], this.#pipelines, 'deal pipelines');
      if (pipeline.kind === 'failed') return pipeline;
      if (pipeline.kind === 'resolved') {
        stages = stages.filter((stage) => stage.pipeline.id === pipeline.id);
        where = `stages of pipeline \`${stages[0]?.pipeline.names[0] ?? oldPipeline}\``;
      }
    }
    return this.#throughMap('stage_name', name, maps, stages, where);
  }

  #throughMap(
    field: 'stage_name' | 'owner_name' | 'stage_pipeline',
    name: string,
    maps: readonly NameMap[],
    targets: readonly Named[],
    where: string,
  ): Resolution {
    for (const map of maps) {
      const mapped = lookUp(map, name);
      if (mapped === null) return OMIT;
      if (mapped !== undefined) return find(field, mapped, targets, where, name);
    }
    const direct = find(field, name, targets, where, name);
    if (direct.kind === 'resolved' || direct.kind !== 'failed' || direct.issue.code.startsWith('ambiguous'))
      return direct;
    const fallback = maps.map((map) => map.get('*')).find((value) => value !== undefined);
    if (fallback === undefined) return direct;
    return fallback === null ? OMIT : find(field, fallback, targets, where, name);
  }
}

function withId<T extends Named>(items: readonly T[], id: string): T | undefined {
  const wanted = id.toLowerCase();
  return items.find((item) => item.id.toLowerCase() === wanted);
}

const WORDS = {
  stage_name: { noun: 'stage', code: 'stage', fix: 'references.stages' },
  owner_name: { noun: 'owner', code: 'owner', fix: 'references.owners' },
  stage_pipeline: { noun: 'pipeline', code: 'pipeline', fix: 'references.pipelines' },
} as const;

function find(
  field: keyof typeof WORDS,
  wanted: string,
  targets: readonly Named[],
  where: string,
  original: string,
): Resolution {
  const { noun, code, fix } = WORDS[field];
  const mapped = wanted === original ? '' : ` (\`${original}\` in the export)`;
  const matches = [
    targets.filter(({ id }) => id.toLowerCase() === wanted.toLowerCase()),
    targets.filter(({ names }) => names.includes(wanted)),
    targets.filter(({ names }) => names.some((name) => fold(name) === fold(wanted))),
  ].find((found) => found.length > 0);
  if (matches?.length === 1) return { kind: 'resolved', id: matches[0]!.id };
  const failed = (state: string, message: string, hint: string): Resolution => ({
    kind: 'failed',
    issue: { severity: 'error', kind: 'resolve', code: `${state}_${code}`, field, message, hint },
  });
  if (matches) {
    const ids = matches.map((match) => `${match.id}${'pipeline' in match ? ` (${pipelineName(match)})` : ''}`);
    const narrow = field === 'stage_name' ? 'give the entry a `stage_pipeline`, or ' : '';
    return failed(
      'ambiguous',
      `${noun} \`${wanted}\`${mapped} matches ${matches.length} ${where}`,
      `${narrow}choose one by its id in \`${fix}\`: ${ids.join(', ')}`,
    );
  }
  const near = nearest(
    wanted,
    targets.flatMap(({ names }) => names),
  );
  const hint = near.length > 0 ? `similar: ${near.map((name) => `\`${name}\``).join(', ')}; ` : '';
  return failed(
    'unresolved',
    `${noun} \`${wanted}\`${mapped} not found among the ${where}`,
    `${hint}map it in \`${fix}\`, or create it in the target account`,
  );
}

function pipelineName(match: Named): string {
  return (match as StagePlace).pipeline.names[0] ?? '';
}

/** Finds the exact key, or the only one that differs just in case, spacing or Unicode form. `"*"` is not a name. */
function lookUp<T>(map: ReadonlyMap<string, T>, name: string): T | undefined {
  if (name !== '*' && map.has(name)) return map.get(name);
  const wanted = fold(name);
  const folded = [...map].filter(([key]) => key !== '*' && fold(key) === wanted);
  return folded.length === 1 ? folded[0]![1] : undefined;
}

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();
}
