import type { Ledger } from '../checkpoint/ledger.ts';
import type { Ready } from '../model.ts';
import type { EventTable } from './event-table.ts';

/** How many updates of a record may have left no line, and the others' places still be found. */
const MOST_GAPS = 32;

/** The updates of one record. */
interface Updates {
  readonly table: EventTable;
  /** How many the input has so far. */
  seen: number;
  /** Acknowledged ones whose place was found. */
  found: number;
  /** Places by event id: after a rejection two updates may have had the same. */
  readonly taken: Map<string, number>;
  /** Where an update turned out to have the place of an equal one further on: the place that is left to that one. */
  readonly left: Map<number, number>;
  readonly waiting: { readonly ordinal: number; readonly place: number }[];
}

/**
 * The places (`n`) of updates where lines of the checkpoint cannot be read. How many were acknowledged, from which new
 * ones are counted, is not known then; and an update under another `n` than before would be applied twice. But the lines
 * that are left, of requests or of answers, have ids, and these tell places: an update keeps the one by which it is
 * known, and those that left no line fill the gaps in their order.
 */
export class DamagedPlaces {
  readonly #ledger: Ledger;
  readonly #idOf: (event: Ready, n: number) => string;
  readonly #records = new Map<number, Updates>();

  constructor(ledger: Ledger, idOf: (event: Ready, n: number) => string) {
    this.#ledger = ledger;
    this.#idOf = idOf;
  }

  /** The next update of the table. `contents`: it as it may have gone out; none where its id proves nothing. */
  see(contents: readonly Ready[], about: { table: EventTable; key: number; isAcknowledged: boolean }): void {
    const { table, key, isAcknowledged } = about;
    const updates = this.#updatesOf(key, table);
    const place = updates.left.get(updates.seen) ?? updates.seen;
    updates.left.delete(updates.seen);
    const acknowledged = this.#ledger.acknowledgedUpdates(key);
    const unanswered = this.#ledger.unansweredUpdates(table.type, key);
    const reach = acknowledged + unanswered.length + updates.seen + MOST_GAPS;
    const find = (events: readonly Ready[], isKnown: (id: string) => boolean): number | undefined => {
      for (let away = 0; away <= reach; away += 1) {
        for (const n of away === 0 ? [place] : [place + away, place - away]) {
          const id = n < 0 ? undefined : events.map((event) => this.#idOf(event, n)).find(isKnown);
          if (id === undefined || updates.taken.has(id)) continue;
          updates.taken.set(id, n);
          return n;
        }
      }
      return undefined;
    };
    let n: number | undefined;
    if (updates.found < acknowledged) {
      // One that is not acknowledged yet may prove to be, without its parent.
      n = find(isAcknowledged ? contents : contents.slice(1), (id) => this.#ledger.isAcknowledged(key, id));
      if (n !== undefined) updates.found += 1;
    }
    if (!isAcknowledged) {
      if (unanswered.length > 0) n ??= find(contents, (id) => unanswered.includes(id));
      if (n === undefined) updates.waiting.push({ ordinal: table.size, place });
      else table.n.set(table.size, n);
    }
    if (n !== undefined && n !== place) leave(updates, n, place);
    updates.seen += 1;
  }

  /** When all were seen. Acknowledged ones that the input no longer has count as the first. */
  settle(): void {
    for (const [key, { table, found, taken, waiting }] of this.#records) {
      if (waiting.length === 0) continue;
      const places = new Set(taken.values());
      let n = -1;
      const next = (): number => {
        do n += 1;
        while (places.has(n));
        return n;
      };
      for (let gone = this.#ledger.acknowledgedUpdates(key) - found; gone > 0; gone -= 1) next();
      waiting.sort((one, other) => one.place - other.place);
      for (const { ordinal } of waiting) if (table.state(ordinal) !== 'acknowledged') table.n.set(ordinal, next());
    }
  }

  #updatesOf(key: number, table: EventTable): Updates {
    let updates = this.#records.get(key);
    if (!updates) {
      updates = { table, seen: 0, found: 0, taken: new Map(), left: new Map(), waiting: [] };
      this.#records.set(key, updates);
    }
    return updates;
  }
}

/** The update that would have had the place `n` gets the one that is left for it. */
function leave({ left, seen }: Updates, n: number, place: number): void {
  const other = [...left].find(([, free]) => free === n)?.[0] ?? n;
  if (other > seen) left.set(other, place);
}
