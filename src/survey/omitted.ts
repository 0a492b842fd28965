import { CUSTOM_FIELDS } from '../store/field-hashes.ts';
import type { EventType, Invalid, Ready } from '../model.ts';
import type { ExcessOmission, OmittedCounts } from '../report/omitted.ts';
import type { Tolerance } from '../settings.ts';
import { SENT_AS } from '../plan/changes.ts';

/** A percentage of fewer values than these says nothing about the mapping. */
const FEWEST = 10;

/** Values that decide about an event, but are not part of it. */
const NOT_SENT: readonly string[] = ['', 'each', 'stage_pipeline'];

/** The values of one field in the events of one type. */
interface FieldTally {
  /** Events that go out with a value. */
  sent: number;
  /** Values left out, by the code of the reason: all of them, and those whose event then has no value of the field. */
  omitted: Map<string, number> | undefined;
  lost: Map<string, number> | undefined;
}

type Tallies = Map<string, FieldTally>;

/** The fields of one type; custom fields by their own names. */
interface TypeTallies {
  readonly fields: Tallies;
  readonly custom: Tallies;
  /** `custom_params` or `custom_fields`, once an event has it. */
  customName: string;
}

/** Counts, for every field, the values that events have and those that are left out of them. */
export class OmittedValues {
  readonly #types = new Map<EventType, TypeTallies>();

  /** Takes every event of the survey; it is called per record, so it only counts. */
  add(event: Ready | Invalid): void {
    const tallies = this.#talliesOf(event.type);
    if (event.kind === 'ready') countSent(event, tallies);
    if (event.omissions.length > 0) countOmissions(event, tallies);
  }

  /** Fields of which nothing was left out are absent. */
  counts(): OmittedCounts {
    const counts: { -readonly [T in EventType]?: Record<string, Readonly<Record<string, number>>> } = {};
    for (const { type, field, tally } of this.#all()) {
      if (tally.omitted) (counts[type] ??= {})[field] = Object.fromEntries(tally.omitted);
    }
    return counts;
  }

  /** The fields of which more values would be left out than `allowed`. */
  excess(allowed: Tolerance): ExcessOmission[] {
    const excess: ExcessOmission[] = [];
    for (const { type, field, tally } of this.#all()) {
      const reasons = [...(tally.lost ?? [])].sort((a, b) => b[1] - a[1]);
      const omitted = reasons.reduce((sum, [, count]) => sum + count, 0);
      const sent = tally.sent + (this.#types.get(type)?.fields.get(SENT_AS[field] ?? '')?.sent ?? 0);
      const of = omitted + sent;
      const isExcess =
        'count' in allowed ? omitted > allowed.count : omitted >= FEWEST && omitted * 100 > of * allowed.percent;
      if (isExcess) excess.push({ type, field, omitted, of, code: reasons[0]![0], count: reasons[0]![1] });
    }
    return excess.sort((a, b) => b.omitted - a.omitted);
  }

  #talliesOf(type: EventType): TypeTallies {
    let tallies = this.#types.get(type);
    if (!tallies) this.#types.set(type, (tallies = { fields: new Map(), custom: new Map(), customName: '' }));
    return tallies;
  }

  *#all(): Generator<{ readonly type: EventType; readonly field: string; readonly tally: FieldTally }> {
    for (const [type, { fields, custom, customName }] of this.#types) {
      for (const [field, tally] of fields) yield { type, field, tally };
      for (const [key, tally] of custom) yield { type, field: `${customName}.${key}`, tally };
    }
  }
}

function countSent({ data, occurredAt }: Ready, tallies: TypeTallies): void {
  if (occurredAt !== undefined) tallyOf(tallies.fields, 'occurred_at').sent += 1;
  for (const key in data) {
    if (!CUSTOM_FIELDS.includes(key)) tallyOf(tallies.fields, key).sent += 1;
    else {
      tallies.customName = key;
      for (const inner in data[key] as object) tallyOf(tallies.custom, inner).sent += 1;
    }
  }
}

function countOmissions(event: Ready | Invalid, tallies: TypeTallies): void {
  const lost = new Set<string>();
  for (const { field, code } of event.omissions) {
    const dot = field.indexOf('.');
    const within = dot < 0 ? undefined : field.slice(0, dot);
    const key = field.slice(dot + 1);
    if (within !== undefined) tallies.customName = within;
    const tally = tallyOf(within === undefined ? tallies.fields : tallies.custom, key);
    tally.omitted = plusOne(tally.omitted, code);
    if (event.kind !== 'ready' || lost.has(field) || NOT_SENT.includes(field)) continue;
    const holder = within === undefined ? event.data : ((event.data[within] ?? {}) as object);
    if (Object.hasOwn(holder, SENT_AS[key] ?? key) || (key === 'occurred_at' && event.occurredAt !== undefined))
      continue;
    lost.add(field);
    tally.lost = plusOne(tally.lost, code);
  }
}

function tallyOf(tallies: Tallies, key: string): FieldTally {
  let tally = tallies.get(key);
  if (!tally) tallies.set(key, (tally = { sent: 0, omitted: undefined, lost: undefined }));
  return tally;
}

function plusOne(counts: Map<string, number> | undefined, code: string): Map<string, number> {
  return (counts ?? new Map<string, number>()).set(code, (counts?.get(code) ?? 0) + 1);
}
