/** What goes to the mapping thread and what comes back, as both ends read it. */
import type { MessagePort } from 'node:worker_threads';
import type { JsonObject } from '../../json.ts';
import type { CompiledEntry } from '../../mapping/mapping.ts';
import type { Place, ReadItem, Row } from '../../model.ts';
import type { Account } from '../../service/account.ts';
import { RecordForms } from '../../source/json-forms.ts';
import type { Source } from '../../source/source.ts';
import { outlineOf, packOutline, type Outline } from '../outline.ts';
import { eventsOf } from '../read.ts';
import type { Resolver } from '../resolve.ts';
import { Packer, Unpacker, type Packed } from './packed.ts';

/** What the thread begins with: enough to compile the mapping as the main thread did. */
export interface ThreadJob {
  readonly mapping: { readonly file: string; readonly sha256: string };
  readonly sources: readonly Pick<Source, 'name' | 'kind' | 'columns' | 'duplicateColumns'>[];
  readonly account: Account | undefined;
  readonly port: MessagePort;
  /** One element: 0 until the thread can take tasks, then one more with every answer. */
  readonly signal: Int32Array;
}

/** A batch of one source. */
export interface Task extends Packed {
  readonly source: string;
}

/** In place of a number of events: the main thread is to map this row. */
export const NOT_HERE = -1;

/** Characters; many records of megabytes would make a text that is longer than a text may be. */
const MOST_TEXT = 16 * 1024 * 1024;

export function packRows(source: string, items: readonly ReadItem[]): Task {
  const packer = new Packer();
  for (const item of items) {
    if (item.kind === 'unreadable' || packer.length > MOST_TEXT) packer.number(NOT_HERE);
    else if (Array.isArray(item.raw)) {
      const cells = item.raw as readonly string[];
      packer.number(cells.length);
      packer.strings(cells);
    } else if (item.text === undefined) packer.number(NOT_HERE);
    else {
      packer.number(1);
      packer.string(item.text);
    }
  }
  return { source, ...packer.take() };
}

const NOWHERE: Place = { source: '', file: '', line: 0, record: 0 };

/** Maps the rows of a task. Those of whose events more must be told than an outline are left to the main thread. */
export function answerTask(
  task: Task,
  isTable: boolean,
  entries: readonly CompiledEntry[],
  resolver: Resolver,
): Packed {
  const rows = new Unpacker(task);
  const answer = new Packer();
  while (!rows.isDone) {
    const outlines = outlinesOf(unpackRow(rows, isTable), entries, resolver);
    answer.number(outlines?.length ?? NOT_HERE);
    for (const outline of outlines ?? []) packOutline(answer, outline);
  }
  return answer.take();
}

const forms = new RecordForms();
function readRecord(text: string): JsonObject {
  const known = forms.read(text);
  if (known) return known.value;
  const value = JSON.parse(text) as JsonObject;
  forms.learn(text);
  return value;
}

function unpackRow(rows: Unpacker, isTable: boolean): Row | undefined {
  const texts = rows.number();
  if (texts === NOT_HERE) return undefined;
  if (!isTable) return { kind: 'row', place: NOWHERE, raw: readRecord(rows.string()), issues: [] };
  const cells: string[] = [];
  for (let index = 0; index < texts; index += 1) cells.push(rows.string());
  return { kind: 'row', place: NOWHERE, raw: cells, issues: [] };
}

function outlinesOf(
  row: Row | undefined,
  entries: readonly CompiledEntry[],
  resolver: Resolver,
): readonly Outline[] | undefined {
  const events = row && eventsOf(row, entries, resolver);
  if (events === undefined || events instanceof Promise) return undefined;
  const outlines: Outline[] = [];
  for (const event of events) {
    const outline = outlineOf(event);
    if (!outline) return undefined;
    outlines.push(outline);
  }
  return outlines;
}
