/** What goes to the mapping thread. */
import type { MessagePort } from 'node:worker_threads';
import { canonicalJson, type JsonObject } from '../../json.ts';
import type { References } from '../../mapping/mapping.ts';
import type { MappingSpec } from '../../mapping/spec.ts';
import type { ReadItem, Unread } from '../../model.ts';
import type { Account } from '../../service/account.ts';
import type { Source } from '../../source/source.ts';
import { Packer, type Packed } from './packed.ts';

/** What the thread begins with. */
export interface Beginning {
  /** Brings the job, then the tasks, and takes the answers. */
  readonly port: MessagePort;
  /** One element: 0 until the thread can take tasks, then one more with every answer. */
  readonly signal: Int32Array;
}

/** Enough to compile the mapping as the main thread does. */
export interface ThreadJob {
  /** As `packSpec` gives it. */
  readonly spec: string;
  readonly references: References;
  readonly sources: readonly Pick<Source, 'name' | 'kind' | 'columns' | 'duplicateColumns'>[];
  readonly account: Account | undefined;
}

/** As JSON: a constant with all its digits (`NumberText`) would be none any more as a copied object. */
export function packSpec(spec: MappingSpec): string {
  return canonicalJson(spec as unknown as JsonObject);
}

/** A batch of one source. */
export interface Task extends Packed {
  readonly source: string;
}

/** In place of a number of events: the main thread is to map this row. */
export const NOT_HERE = -1;

/** Characters; many records of megabytes would make a text that is longer than a text may be. */
const MOST_TEXT = 16 * 1024 * 1024;

export function packRows(source: string, items: readonly (ReadItem | Unread)[]): Task {
  const packer = new Packer();
  for (const item of items) {
    if (packer.length > MOST_TEXT) packer.number(NOT_HERE);
    else if (item.kind === 'unread') {
      packer.number(1);
      packer.string(item.text);
    } else if (item.kind === 'row' && Array.isArray(item.raw)) {
      const cells = item.raw as readonly string[];
      packer.number(cells.length);
      packer.strings(cells);
    } else packer.number(NOT_HERE);
  }
  return { source, ...packer.take() };
}
