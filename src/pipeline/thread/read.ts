import type { CompiledEntry } from '../../mapping/mapping.ts';
import type { EventType, Invalid, Issue, Place, RawRecord, ReadItem, Ready, Row, Unread } from '../../model.ts';
import type { Source } from '../../source/source.ts';
import { unpackOutline, type Outline } from '../outline.ts';
import { eventsOf, type Read, type Reader } from '../read.ts';
import type { Resolver } from '../resolve.ts';
import { Unpacker, type Packed } from './packed.ts';
import { NOT_HERE } from './tasks.ts';
import type { MappingThread } from './thread.ts';

/** A reader that needs no more than the outline of an event about which there is nothing to tell. */
export interface OutlineReader extends Reader {
  event(read: Read): void;
  /** `whole` maps the row again. */
  outline(outline: Outline, row: Row, whole: () => Ready): void;
}

type Item = ReadItem | Unread;
type Events = readonly (Ready | Invalid)[];

/** An item and its events, where the main thread mapped it. */
interface Mapped {
  readonly item: ReadItem;
  readonly events: Events;
}

/** What was read together: mapped here, or given to the thread. */
type Batch = { readonly mapped: readonly Mapped[] } | { readonly given: readonly Item[] };

/** Batches that wait for the thread's answer to an earlier one: it is slow until V8 has compiled its code. */
const MOST_WAITING = 32;

/** As `readThrough`, with a second thread that maps most of the rows. Events are handed on in the same order. */
export async function readWithThread(
  source: Source,
  entries: readonly CompiledEntry[],
  resolver: Resolver,
  reader: OutlineReader,
  thread: MappingThread,
): Promise<void> {
  const types: EventType[] = [];
  for (const { index, type } of entries) types[index] = type;
  const waiting: Batch[] = [];
  let failure: { readonly error: unknown } | undefined;

  for await (const batch of batches()) {
    waiting.push(batch);
    await settle(MOST_WAITING);
    if (!reader.goesOn()) return;
  }
  await settle(0);
  if (failure) throw failure.error;

  /** What makes a file unreadable is told after what was read before it: that may be at fault, too. */
  async function* batches(): AsyncGenerator<Batch> {
    try {
      for await (const items of source.unread()) {
        yield thread.takes(source, items) ? { given: items } : { mapped: items.map(mapHere) };
      }
    } catch (error) {
      failure = { error };
    }
  }

  /** Hands on what has come, and waits while more than `most` batches wait. */
  async function settle(most: number): Promise<void> {
    for (let first = waiting[0]; first; first = waiting[0]) {
      if ('mapped' in first) {
        waiting.shift();
        for (const mapped of first.mapped) handOn(mapped);
      } else {
        const answer = waiting.length > most ? await thread.nextAnswer() : thread.answer();
        if (!answer && !thread.isLost) return;
        waiting.shift();
        handOnAnswered(first.given, answer);
      }
      await reader.batch?.();
    }
  }

  function handOnAnswered(items: readonly Item[], answer: Packed | undefined): void {
    const outlines = answer && new Unpacker(answer);
    for (const item of items) {
      if (!reader.goesOn()) return;
      const count = outlines?.number() ?? NOT_HERE;
      if (count === NOT_HERE) handOn(mapHere(item));
      else {
        const row = item.kind === 'unread' ? new RowElsewhere(item) : (item as Row);
        reader.item?.(row, count);
        for (let nth = 0; nth < count; nth += 1) {
          reader.outline(unpackOutline(outlines!, types), row, mappedAgain(row, nth, entries, resolver));
        }
      }
    }
  }

  function handOn({ item, events }: Mapped): void {
    if (!reader.goesOn()) return;
    reader.item?.(item, events.length);
    for (const event of events) reader.event({ event, row: item as Row });
  }

  function mapHere(item: Item): Mapped {
    const known = item.kind === 'unread' ? item.read() : item;
    return { item: known, events: known.kind === 'row' ? mapped(known, entries, resolver) : [] };
  }
}

/** A plain mapping answers at once. */
function mapped(row: Row, entries: readonly CompiledEntry[], resolver: Resolver): Events {
  return eventsOf(row, entries, resolver) as Events;
}

/** Some of these are kept beyond the survey, and so must not hold on to what only the survey needs. */
function mappedAgain(row: Row, nth: number, entries: readonly CompiledEntry[], resolver: Resolver): () => Ready {
  return () => mapped(row, entries, resolver)[nth] as Ready;
}

const NO_ISSUES: readonly Issue[] = [];

/** A row that the thread has read; here it is read when somebody asks what is in it. */
class RowElsewhere implements Row {
  readonly kind = 'row';
  readonly place: Place;
  readonly issues = NO_ISSUES;
  readonly #unread: Unread;
  #raw: RawRecord | undefined;

  constructor(unread: Unread) {
    this.place = unread.place;
    this.#unread = unread;
  }

  get raw(): RawRecord {
    return (this.#raw ??= (this.#unread.read() as Row).raw);
  }
}
