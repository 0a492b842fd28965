import type { CompiledEntry } from '../../mapping/mapping.ts';
import type { EventType, Invalid, ReadItem, Ready, Row } from '../../model.ts';
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

type Events = readonly (Ready | Invalid)[];

/** Items that were read, and their events where the main thread mapped them. */
interface Batch {
  readonly items: readonly ReadItem[];
  readonly events: readonly Events[] | undefined;
}

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
  // A plain mapping answers at once.
  const mapHere = (item: ReadItem): Events =>
    item.kind === 'row' ? (eventsOf(item, entries, resolver) as Events) : [];
  const waiting: Batch[] = [];

  const handOn = async ({ items, events }: Batch, answer: Packed | undefined): Promise<void> => {
    const outlines = answer && new Unpacker(answer);
    for (const [index, item] of items.entries()) {
      if (!reader.goesOn()) return;
      const count = outlines?.number() ?? NOT_HERE;
      if (count === NOT_HERE) {
        const mapped = events?.[index] ?? mapHere(item);
        reader.item?.(item, mapped.length);
        for (const event of mapped) reader.event({ event, row: item as Row });
        continue;
      }
      reader.item?.(item, count);
      for (let nth = 0; nth < count; nth += 1) {
        reader.outline(unpackOutline(outlines!, types), item as Row, () => mapHere(item)[nth] as Ready);
      }
    }
    await reader.batch?.();
  };

  for await (const items of source.batches()) {
    if (thread.takes(source, items)) waiting.push({ items, events: undefined });
    else if (waiting.length > 0) waiting.push({ items, events: items.map(mapHere) });
    else await handOn({ items, events: undefined }, undefined);
    await settle(MOST_WAITING);
    if (!reader.goesOn()) return;
  }
  await settle(0);

  /** Hands on what has come, and waits while more than `most` batches wait. */
  async function settle(most: number): Promise<void> {
    for (let first = waiting[0]; first; first = waiting[0]) {
      const answer = first.events ? undefined : waiting.length > most ? await thread.nextAnswer() : thread.answer();
      if (!first.events && !answer && !thread.isLost) return;
      waiting.shift();
      await handOn(first, answer);
    }
  }
}
