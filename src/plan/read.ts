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

const NO_EVENTS: readonly (Ready | Invalid)[] = [];

/**
 * Reads a source once and maps it through these entries. The survey and every pass go through here (or, with a thread that
 * helps, `readWithThread`), so an event's place in the order is the same in all of them.
 */
export async function readThrough(
  source: Source,
  entries: readonly CompiledEntry[],
  resolver: Resolver,
  reader: Reader,
): Promise<void> {
  for await (const batch of source.batches()) {
    for (const item of batch) {
      if (!reader.goesOn()) return;
      const mapped = item.kind === 'row' ? eventsOf(item, entries, resolver) : NO_EVENTS;
      const events = mapped instanceof Promise ? await mapped : mapped;
      reader.item?.(item, events.length);
      for (const event of events) {
        const waiting = reader.event({ event, row: item as Row });
        if (waiting) await waiting;
      }
    }
    await reader.batch?.();
  }
}

/** The events of a row, in the order of the entries; a promise only where an expression evaluates in one. */
export function eventsOf(
  row: Row,
  entries: readonly CompiledEntry[],
  resolver: Resolver,
): readonly (Ready | Invalid)[] | Promise<readonly (Ready | Invalid)[]> {
  const events: (Ready | Invalid)[] = [];
  for (let index = 0; index < entries.length; index += 1) {
    const drafts = entries[index]!.map(row);
    if (drafts instanceof Promise) return laterEventsOf(row, entries, resolver);
    for (const draft of drafts) events.push(prepare(draft, resolver));
  }
  return events;
}

async function laterEventsOf(
  row: Row,
  entries: readonly CompiledEntry[],
  resolver: Resolver,
): Promise<readonly (Ready | Invalid)[]> {
  const events: (Ready | Invalid)[] = [];
  for (const entry of entries) for (const draft of await entry.map(row)) events.push(prepare(draft, resolver));
  return events;
}
