/** What is known of one record of the service, and what the present input wants of it. Pure. */
import type { Bases } from '../compare/three-way.ts';
import type { JsonValue } from '../json.ts';

/** A request about the record that was sent, or a reading of it, and that was not refused. */
export interface KnownRequest {
  readonly n: number;
  readonly id: string;
  readonly origin: 'input' | 'second' | 'change' | 'read';
  /** Acknowledged; otherwise nobody knows whether it was applied. */
  readonly isApplied: boolean;
  /** The hash of each value that it set; undefined where the hashes are of another key. */
  readonly fields: Readonly<Record<string, string>> | undefined;
}

/** An event of the present input about the record, in the order of the input, the created one first. */
export interface WantedEvent {
  readonly id: number;
  readonly eventId: string;
  readonly isCreated: boolean;
  /** An earlier run settled it. */
  readonly isSettled: boolean;
  readonly fields: ReadonlyMap<string, JsonValue>;
}

/** A field that may not have the value that the input wants once all events have been sent. */
export interface Difference {
  readonly field: string;
  readonly value: JsonValue;
  /** The event that wants it. */
  readonly by: number;
  /** It may have that value: a request whose answer was lost has set it, or something else since. */
  readonly isUncertain: boolean;
}

export interface Comparison {
  /** By event that is still to be sent: the fields that later events have set, or will not set again. */
  readonly superseded: ReadonlyMap<number, ReadonlySet<string>>;
  /**
   * By event that may have arrived: the fields that it went out without, or that a later request has set. To send them again
   * would prove nothing. A created event goes out whole all the same.
   */
  readonly overtaken: ReadonlyMap<number, ReadonlySet<string>>;
  readonly differences: readonly Difference[];
  /** The last request, where it is open and still wanted: to be sent again, first. */
  readonly resend: KnownRequest | undefined;
  /** What the service may show without anybody having edited it. */
  readonly basesOf: (field: string) => Bases;
}

/** Compares what is known of a record with what the input wants of it. `requests` in the order of sending. */
export function compareRecord(
  requests: readonly KnownRequest[],
  events: readonly WantedEvent[],
  hashOf: (field: string, value: JsonValue) => string,
): Comparison {
  const basesOf = basesIn(requests);
  const openIds = new Map(requests.filter(({ isApplied }) => !isApplied).map((request) => [request.id, request]));
  const isToCome = new Set(events.filter(({ isSettled }) => !isSettled).map(({ eventId }) => eventId));
  const superseded = new Map<number, Set<string>>();
  const overtaken = new Map<number, Set<string>>();
  /** Fields of later events that are set already, or that will not be sent again. */
  const setLater = new Set<string>();
  for (const event of events.toReversed()) {
    const fields = [...event.fields.keys()];
    const dropped = fields.filter((field) => setLater.has(field));
    if (event.isSettled) for (const field of fields) setLater.add(field);
    else if (!event.isCreated && dropped.length > 0) superseded.set(event.id, new Set(dropped));
    const open = openIds.get(event.eventId);
    if (event.isSettled || !open) continue;
    // What goes out again by itself is decided when it has been answered.
    const others = requests.filter(({ n, id }) => n > open.n && !isToCome.has(id));
    const passed = fields.filter((field) => {
      const isAbsent = open.fields !== undefined && open.fields[field] === undefined;
      return !dropped.includes(field) && (isAbsent || others.some((other) => other.fields?.[field] !== undefined));
    });
    if (passed.length > 0) overtaken.set(event.id, new Set(passed));
    for (const field of passed) setLater.add(field);
  }
  const differences: Difference[] = [];
  for (const [field, { value, event }] of winners(events)) {
    if (!event.isSettled && !overtaken.get(event.id)?.has(field)) continue;
    const hash = hashOf(field, value);
    const { known, open } = basesOf(field);
    if (known === hash && open.every((other) => other === hash)) continue;
    // A created event that goes out again is what its children wait for: no doubt may hold it back.
    const isUncertain =
      (event.isSettled || !event.isCreated) && open.length > 0 && (known === hash || open.includes(hash));
    differences.push({ field, value, by: event.id, isUncertain });
  }
  return { superseded, overtaken, differences, resend: stillWanted(requests.at(-1), events, hashOf), basesOf };
}

function basesIn(requests: readonly KnownRequest[]): (field: string) => Bases {
  const bases = new Map<string, Bases>();
  let unknown: Bases = { known: undefined, open: [] };
  for (const { isApplied, fields } of requests) {
    if (fields === undefined) {
      // Nobody can tell what it set.
      unknown = { known: null, open: [] };
      bases.clear();
      continue;
    }
    for (const [field, hash] of Object.entries(fields)) {
      const { known, open } = bases.get(field) ?? unknown;
      bases.set(field, isApplied ? { known: hash, open: [] } : { known, open: [...open, hash] });
    }
  }
  return (field) => bases.get(field) ?? unknown;
}

/** The event that sets each field last, and to what. */
function winners(events: readonly WantedEvent[]): Map<string, { value: JsonValue; event: WantedEvent }> {
  const last = new Map<string, { value: JsonValue; event: WantedEvent }>();
  for (const event of events) for (const [field, value] of event.fields) last.set(field, { value, event });
  return last;
}

/** A request of our own that is open and the last about its record: `deduplicated` then says that it had arrived. */
function stillWanted(
  last: KnownRequest | undefined,
  events: readonly WantedEvent[],
  hashOf: (field: string, value: JsonValue) => string,
): KnownRequest | undefined {
  if (last?.origin !== 'change' || last.isApplied || !last.fields) return undefined;
  const wanted = winners(events);
  const isWanted = Object.entries(last.fields).every(([field, hash]) => {
    const found = wanted.get(field);
    return found !== undefined && found.event.isSettled && hashOf(field, found.value) === hash;
  });
  return isWanted ? last : undefined;
}
