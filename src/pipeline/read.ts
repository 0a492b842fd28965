import type { CompiledEntry } from '../mapping/mapping.ts';
import type { Invalid, ReadItem, Ready, Row } from '../model.ts';
import type { Source } from '../source/source.ts';
import { prepare } from './prepare.ts';
import type { Resolver } from './resolve.ts';

/** An event and the row it came from. */
export interface Read {
  readonly event: Ready | Invalid;
  readonly row: Row;
}

/** What one reading of a source hands on, item by item, in the order of the file and of the mapping's entries. */
export interface Reader {
  /** Every item, before its events; `events` tells how many came of it. */
  item?(item: ReadItem, events: number): void;
  event(read: Read): void | Promise<void>;
  /** After each batch: a place to wait for what was begun. */
  batch?(): Promise<void>;
  /** Whether to read on. */
  goesOn(): boolean;
}

/**
 * Reads a source once and maps it through these entries. The survey and every pass go through here, so an event's place
 * in the order is the same in all of them.
 */
export async function readThrough(
  source: Source,
  entries: readonly CompiledEntry[],
  resolver: Resolver,
  reader: Reader,
): Promise<void> {
  const events: Read[] = [];
  for await (const batch of source.batches()) {
    for (const item of batch) {
      if (!reader.goesOn()) return;
      events.length = 0;
      if (item.kind === 'row') {
        for (const entry of entries) {
          const mapped = entry.map(item);
          for (const draft of mapped instanceof Promise ? await mapped : mapped) {
            events.push({ event: prepare(draft, resolver), row: item });
          }
        }
      }
      reader.item?.(item, events.length);
      for (const read of events) {
        const waiting = reader.event(read);
        if (waiting) await waiting;
      }
    }
    await reader.batch?.();
  }
}
