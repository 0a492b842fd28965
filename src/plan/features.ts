/**
 * What the records of the input use of the mapping and of the account, for `--pilot`. A million records have few different
 * features, so only the first records with each of them are kept.
 */
import type { JsonObject, JsonValue } from '../json.ts';
import type { Draft, EventType, Issue, Ready, Row } from '../model.ts';
import type { FeatureKind } from '../report/pilot.ts';

export interface Feature {
  readonly kind: FeatureKind;
  readonly name: string;
  /** The first records that have it, or the only one that is the longest, shortest, … */
  readonly candidates: Candidate[];
}

/** A record that may be chosen. */
export interface Candidate {
  /** Its place among all records that were read. */
  readonly order: number;
  /** Numbers of its events in the plan. */
  readonly events: readonly number[];
  readonly features: Set<Feature>;
}

/** A limit for names that nothing checks, such as those of stages in an unknown account. */
export const MOST_FEATURES = 1000;

/** Some candidates turn out to be blocked or in conflict once everything has been read. */
const SPARE = 8;

const NON_LATIN = /[^\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}]/u;

interface Current {
  readonly events: number[];
  readonly marks: Map<string, readonly [FeatureKind, string]>;
  /** By name: a size, of which the highest in the input counts. */
  readonly sizes: Map<string, number>;
}

export class Features {
  readonly limit: number;
  readonly #features = new Map<string, Feature>();
  readonly #highest = new Map<string, { readonly size: number; readonly feature: Feature }>();
  readonly #only: readonly EventType[];
  #order = 0;
  #current: Current = nothing();

  /** For a pilot of at most `limit` records with events of these types. */
  constructor(limit: number, only: readonly EventType[]) {
    this.limit = limit;
    this.#only = only;
  }

  /** Adds a feature to the current record; also the `Trace` of the compiled mapping. */
  readonly mark = (kind: FeatureKind, name: string): void => {
    this.#current.marks.set(`${kind} ${name}`, [kind, name]);
  };

  begin({ issues }: Row): void {
    this.#current = nothing();
    this.#order += 1;
    this.#markWarnings(issues);
  }

  /** An event of the current record that is in the plan. */
  event(draft: Draft, { type, data, parent, issues, omissions }: Ready, event: number): void {
    if (!this.#only.includes(type)) return;
    this.#current.events.push(event);
    this.mark('entry', `${type} (events[${draft.entry}])`);
    const { stage_name: stage, owner_name: owner, stage_id: stageId = stage, owner_id: ownerId = owner } = draft.data;
    const pipeline = draft.stagePipeline;
    if (pipeline !== undefined) this.mark('pipeline', `\`${pipeline}\``);
    if (typeof stageId === 'string')
      this.mark('stage', `\`${stageId}\`${pipeline === undefined ? '' : ` in \`${pipeline}\``}`);
    if (typeof ownerId === 'string') this.mark('owner', `\`${ownerId}\``);
    if (parent) this.mark('parent', `${type} of a ${parent.entity}`);
    this.#markWarnings(issues);
    for (const { field, code } of omissions) this.mark('omission', `${field} (${code})`);
    this.#markFields(type, data);
  }

  /** The current record is complete. */
  end(): void {
    const { events, marks, sizes } = this.#current;
    if (events.length === 0) return;
    const features = new Set<Feature>();
    const candidate: Candidate = { order: this.#order, events, features };
    for (const [key, [kind, name]] of marks) {
      const feature = this.#features.get(key) ?? this.#newFeature(key, kind, name);
      if (feature) features.add(feature);
    }
    // So many of each that there is always another record to choose.
    const enough = this.limit + SPARE;
    for (const feature of features) if (feature.candidates.length < enough) feature.candidates.push(candidate);
    for (const [name, size] of sizes) this.#raise(name, size, candidate);
  }

  /** Every record that may be chosen, in the order of reading. */
  candidates(): Candidate[] {
    const all = [...this.#features.values(), ...[...this.#highest.values()].map(({ feature }) => feature)];
    const unique = new Set(all.flatMap(({ candidates }) => candidates));
    return [...unique].toSorted((a, b) => a.order - b.order);
  }

  #newFeature(key: string, kind: FeatureKind, name: string): Feature | undefined {
    if (this.#features.size >= MOST_FEATURES) return undefined;
    const feature: Feature = { kind, name, candidates: [] };
    this.#features.set(key, feature);
    return feature;
  }

  #raise(name: string, size: number, candidate: Candidate): void {
    const highest = this.#highest.get(name);
    if (highest ? size <= highest.size : this.#highest.size >= MOST_FEATURES) return;
    const feature: Feature = { kind: 'value', name, candidates: [candidate] };
    for (const earlier of highest?.feature.candidates ?? []) earlier.features.delete(highest!.feature);
    candidate.features.add(feature);
    this.#highest.set(name, { size, feature });
  }

  #markWarnings(issues: readonly Issue[]): void {
    for (const { severity, code, field } of issues) {
      if (severity === 'warning') this.mark('warning', field === undefined ? code : `${field} (${code})`);
    }
  }

  #markFields(type: EventType, data: JsonObject, within = ''): void {
    for (const [key, value] of Object.entries(data)) {
      const field = `${within}${key}`;
      if (value === undefined) continue;
      this.mark('field', `${type} \`${field}\``);
      if (within === '' && key.startsWith('custom_')) this.#markFields(type, value as JsonObject, `${key}.`);
      else this.#markValue(`${type} \`${field}\``, key, value);
    }
  }

  #markValue(field: string, key: string, value: JsonValue): void {
    if (typeof value === 'string') {
      if (key === 'stage_id' || key === 'owner_id') return;
      if (NON_LATIN.test(value)) this.mark('value', `non-Latin letters in ${field}`);
      if (value.startsWith('0')) this.mark('value', `0 at the start of ${field}`);
      if (key.endsWith('_id')) return;
      this.#size(`longest ${field}`, value.length);
      this.#size(`shortest ${field}`, -value.length);
    } else if (typeof value === 'number') {
      if (!Number.isInteger(value)) this.mark('value', `decimals in ${field}`);
      this.#size(`highest ${field}`, value);
      this.#size(`lowest ${field}`, -value);
    }
  }

  /** The events of one record may have the same field. */
  #size(name: string, size: number): void {
    const { sizes } = this.#current;
    sizes.set(name, Math.max(size, sizes.get(name) ?? -Infinity));
  }
}

function nothing(): Current {
  return { events: [], marks: new Map(), sizes: new Map() };
}
