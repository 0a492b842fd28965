/**
 * What a survey has to decide, over a few rows in memory and without SQL: the rules of the contract, written down a second time. It knows of
 * earlier runs only records whose one row is the same as now.
 */
import type { JsonObject } from '../../src/json.ts';
import type { EventType } from '../../src/model.ts';
import type { Policies } from '../../src/mapping/policies.ts';
import { Comments } from './model-comments.ts';
import type { Given, Judged } from './planning.ts';
import type { State } from '../../src/model.ts';

export interface Rules {
  readonly duplicates: Policies['duplicates'];
  readonly if_parent_missing: Policies['if_parent_missing'];
  /** The most parts of a combined comment; undefined: comments go one by one. */
  readonly combine?: number | undefined;
  /** Of all entries, and of updated leads: compared elsewhere. */
  readonly if_changed?: Policies['if_changed'];
  readonly updates?: Policies['if_changed'];
}

/** Names of records (`lead 1`), by how an earlier run ended. */
export type Earlier = ReadonlyMap<string, 'acknowledged' | 'rejected'>;

export interface Choice {
  readonly only?: readonly EventType[] | undefined;
  /** The name of a record. */
  readonly pick?: string | undefined;
}

interface Row {
  /** In the order of reading. */
  readonly n: number;
  readonly type: EventType;
  readonly id: string;
  readonly values: JsonObject;
  readonly isInvalid: boolean;
  readonly isExcluded: boolean;
  readonly priority: number | undefined;
  /** Milliseconds since 1970. */
  readonly at: number | undefined;
}

export interface Event {
  readonly n: number;
  readonly type: EventType;
  readonly id: string;
  readonly name: string;
  parent: string | undefined;
  readonly at: number | undefined;
  readonly own: number | undefined;
  data: JsonObject;
  state: State;
  /** Why an event that was sent before has this state. */
  readonly code?: string | undefined;
  /** The comments that a combined one carries, in their order. */
  readonly parts?: readonly Event[];
  /** It goes without the parent that its row names. */
  isOmitting?: boolean;
  /** False where a row could not be mapped. */
  readonly isMapped: boolean;
}

const RANKS: readonly EventType[] = ['lead/created', 'lead/updated', 'deal/created', 'deal/updated', 'comment/created'];
const OPEN: readonly State[] = ['ready', 'retry'];

const isUpdate = (type: EventType): boolean => type.endsWith('/updated');
const nameOf = (type: EventType, id: string): string => `${type.split('/')[0]!} ${id}`;
const highest = (values: readonly (number | undefined)[]): number | undefined =>
  values.reduce((most, each) => (most === undefined || (each ?? -Infinity) > most ? each : most), undefined);

/** `comments`: what was sent of them, where these are not among the earlier records. */
export function judged(
  given: readonly Given[],
  rules: Rules,
  earlier: Earlier,
  choice: Choice,
  comments = new Comments(),
): { judged: Judged; toSend: readonly Event[] } {
  const rows = given.map(({ type, data, priority, occurredAt, isInvalid = false, isExcluded = false }, n): Row => {
    const at = occurredAt === undefined ? undefined : Date.parse(occurredAt);
    return { n, type, id: data.external_id as string, values: data, isInvalid, isExcluded, priority, at };
  });
  const { first, rest } = withoutDuplicates(rows, rules);
  let events = [...folded(first), ...rest].sort((one, other) => one.n - other.n);
  const isComment = ({ type }: Event): boolean => type === 'comment/created';
  const judgedComments = comments.judged(events.filter(isComment), rules.combine);
  events = [...events.filter((event) => !isComment(event)), ...judgedComments].sort((one, other) => one.n - other.n);
  events = withoutOrphans(events, rules, earlier);
  for (const event of events) {
    const before = earlier.get(event.name);
    if (event.state !== 'ready' || !before) continue;
    if (before === 'acknowledged') event.state = 'acknowledged';
    else if (!event.isOmitting) event.state = 'retry';
  }
  judgeParents(events, rules, earlier);
  choose(events, choice);
  judgeParents(events, rules, earlier);
  const priorities = prioritiesOf(events);
  const present = new Set(events.map(({ name }) => name));
  const gone = [...earlier].filter(([name, end]) => end === 'acknowledged' && !present.has(name)).length;
  const result = {
    events: events.map(({ type, id, state, code, data, isMapped, parts = [], at: time }, at) => ({
      ...{ type, id, state, code: code ?? null, data: isMapped ? data : null, parts: parts.map((part) => part.id) },
      at: isMapped && type !== 'comment/created' ? (time ?? null) : null,
      priority: state !== 'invalid' && state !== 'duplicate' ? priorities[at]! : 0,
    })),
    turns: inOrder(events, priorities),
    gone: gone + comments.gone(events.filter(isComment)),
  };
  return { judged: result, toSend: events.filter((event) => isComment(event) && OPEN.includes(event.state)) };
}

/** `first`: rows that may be folded, with the state that duplicates leave them; `rest`: duplicates. */
function withoutDuplicates(all: readonly Row[], rules: Rules) {
  const states = new Map<Row, State>();
  const gone = new Set(all.filter(({ isExcluded }) => isExcluded));
  const rows = all.filter(({ isExcluded }) => !isExcluded);
  const created = all.filter(({ type }) => !isUpdate(type));
  const isRejecting = rules.duplicates === 'reject';
  const competing = created.filter(({ isInvalid, isExcluded }) => !isRejecting || (!isInvalid && !isExcluded));
  for (const row of competing) {
    const same = competing.filter(({ type, id }) => type === row.type && id === row.id);
    const content = ({ values, isInvalid, isExcluded }: Row): string =>
      JSON.stringify([isInvalid, isExcluded, Object.entries(values).sort()]);
    const isConflict = same.some((each) => content(each) !== content(same[0]!) || each.isInvalid || each.isExcluded);
    const chosen = isConflict && rules.duplicates === 'last' ? same.at(-1)! : same[0]!;
    if (isConflict && isRejecting) states.set(row, 'invalid');
    else if (chosen.isExcluded) gone.add(row);
    else if (row !== chosen && !row.isInvalid) states.set(row, 'duplicate');
  }
  const stateOf = (row: Row): State => states.get(row) ?? (row.isInvalid ? 'invalid' : 'ready');
  const isDuplicate = (row: Row): boolean => stateOf(row) === 'duplicate';
  return {
    first: rows.filter((row) => !isDuplicate(row) && !gone.has(row)).map((row) => ({ row, state: stateOf(row) })),
    rest: rows.filter((row) => isDuplicate(row) && !gone.has(row)).map((row) => eventOf([row], 'duplicate')),
  };
}

/** One event of these rows, of which the first is the one that names it. */
function eventOf(rows: readonly Row[], state: State): Event {
  const [{ n, type, id }] = rows as readonly [Row];
  const isMapped = rows.every(({ isInvalid }) => !isInvalid);
  const data = Object.assign({}, ...rows.map(({ values }) => values)) as JsonObject;
  const lead = data.lead_external_id === undefined ? undefined : `lead ${data.lead_external_id as string}`;
  const parent = data.deal_external_id === undefined ? lead : `deal ${data.deal_external_id as string}`;
  return {
    ...{ n, type, id, data, isMapped, name: nameOf(type, id), state: isMapped ? state : 'invalid' },
    parent: isMapped ? parent : undefined,
    at: rows[0]!.at ?? rows.findLast(({ at }) => at !== undefined)?.at,
    own: highest(rows.filter(({ isInvalid }) => !isInvalid).map(({ priority }) => priority)),
  };
}

/** The created row of a record and its updates, in their order, are one event. */
function folded(rows: readonly { readonly row: Row; readonly state: State }[]): Event[] {
  const events: Event[] = [];
  const done = new Set<Row>();
  for (const { row, state } of rows) {
    if (done.has(row)) continue;
    const ofRecord = rows.filter((each) => nameOf(each.row.type, each.row.id) === nameOf(row.type, row.id));
    const updates = ofRecord.filter((each) => isUpdate(each.row.type)).map((each) => each.row);
    const creation = ofRecord.find((each) => !isUpdate(each.row.type));
    const isFirst = creation === undefined || creation.row === row;
    if (isUpdate(row.type) && creation) continue;
    const parts = isUpdate(row.type) ? updates : [row, ...(isFirst ? updates : [])];
    for (const part of parts) done.add(part);
    events.push(eventOf(parts, state));
  }
  return events;
}

function compare(one: number, other: number): number {
  return one === other ? 0 : one < other ? -1 : 1;
}

/** `omit`: deals go without a parent that nobody has; `skip`: such deals are no events. */
function withoutOrphans(events: Event[], { if_parent_missing: policy }: Rules, earlier: Earlier): Event[] {
  const names = new Set(events.map(({ name }) => name));
  const isOrphan = ({ parent, isMapped, type }: Event): boolean =>
    type.startsWith('deal/') &&
    isMapped &&
    parent !== undefined &&
    !names.has(parent) &&
    earlier.get(parent) !== 'acknowledged';
  if (policy === 'omit') {
    for (const event of events.filter(isOrphan)) {
      [event.parent, event.isOmitting] = [undefined, true];
      const { lead_external_id: _, ...data } = event.data;
      event.data = data;
    }
  }
  if (policy !== 'skip') return events;
  return events.filter((event) => !isOrphan(event) || earlier.get(event.name) === 'acknowledged');
}

/** A child follows what became of its parent. */
function judgeParents(events: readonly Event[], { if_parent_missing: policy }: Rules, earlier: Earlier): void {
  for (const event of [...events].sort((one, other) => RANKS.indexOf(one.type) - RANKS.indexOf(other.type))) {
    if (event.parent === undefined || !OPEN.includes(event.state)) continue;
    if (earlier.get(event.parent) === 'acknowledged') continue;
    const parents = events.filter(({ name, state }) => name === event.parent && state !== 'duplicate');
    const states = parents.map(({ state }) => state);
    if (states.length === 0) {
      if (policy !== 'send' || event.type === 'comment/created') event.state = 'blocked';
    } else if (states.every((state) => state === 'invalid' || state === 'blocked')) event.state = 'blocked';
    else if (states.some((state) => state === 'held' || state === 'waiting')) event.state = 'waiting';
  }
}

function choose(events: readonly Event[], { only, pick }: Choice): void {
  if (only !== undefined) {
    for (const event of events) if (!only.includes(event.type) && OPEN.includes(event.state)) event.state = 'held';
  }
  if (pick === undefined) return;
  const chosen = new Set([pick]);
  for (let size = 0; size < chosen.size;) {
    size = chosen.size;
    for (const { name, parent } of events) if (parent !== undefined && chosen.has(parent)) chosen.add(name);
  }
  for (let size = 0; size < chosen.size;) {
    size = chosen.size;
    for (const { name, parent } of events) if (parent !== undefined && chosen.has(name)) chosen.add(parent);
  }
  for (const event of events) if (!chosen.has(event.name) && OPEN.includes(event.state)) event.state = 'held';
}

/** Of each event. */
function prioritiesOf(events: readonly Event[]): number[] {
  const counted = events.filter(({ state }) => state !== 'invalid' && state !== 'duplicate');
  const isComment = ({ type }: Event): boolean => type === 'comment/created';
  const hangOn = (name: string): Event[] => counted.filter(({ parent }) => parent === name);
  /** What is set by a record or by what hangs on it. */
  const setBy = (name: string): number | undefined => {
    const own = counted.filter((event) => event.name === name && !isComment(event)).map((event) => event.own);
    return highest([...own, ...hangOn(name).map((child) => (isComment(child) ? child.own : setBy(child.name)))]);
  };
  const of = (name: string | undefined): number => {
    const record = counted.filter((event) => event.name === name && !isComment(event));
    if (name === undefined || record.length === 0) return 0;
    const own = highest(record.map((event) => event.own)) ?? of(record[0]!.parent);
    return Math.max(own, setBy(name) ?? -Infinity);
  };
  return events.map((event) => {
    if (!isComment(event)) return of(event.name);
    const all = event.parent === undefined ? [] : hangOn(event.parent).filter(isComment);
    const isSetByAll = all.length > 0 && all.every(({ own }) => own !== undefined);
    return isSetByAll ? highest(all.map(({ own }) => own))! : of(event.parent);
  });
}

/** By priority, type, then never tried before rejected; comments of one parent by time, and spread over all. */
function inOrder(events: readonly Event[], priorities: readonly number[]): string[] {
  const share = (event: Event): number => {
    if (event.type !== 'comment/created') return 0;
    const all = events
      .filter(({ type, parent, state }) => type === event.type && parent === event.parent && state === event.state)
      .sort((one, other) => compare(one.at ?? Infinity, other.at ?? Infinity) || one.n - other.n);
    return (all.indexOf(event) + 0.5) / all.length;
  };
  const keys = events.flatMap((event, at) => {
    if (!OPEN.includes(event.state)) return [];
    const key = [-priorities[at]!, RANKS.indexOf(event.type), OPEN.indexOf(event.state), share(event), event.n];
    return [{ event, key }];
  });
  keys.sort((one, other) => one.key.map((each, at) => compare(each, other.key[at]!)).find((order) => order !== 0) ?? 0);
  return keys.map(({ event: { type, id } }) => `${type} ${id}`);
}
