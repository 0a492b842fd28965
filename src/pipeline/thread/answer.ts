import type { CompiledEntry } from '../../mapping/mapping.ts';
import type { Place, RawRecord, Row } from '../../model.ts';
import { RecordReader } from '../../source/json-record.ts';
import { shapeOf } from '../../source/json-shape.ts';
import type { Source } from '../../source/source.ts';
import { outlineOf, packOutline, type Outline } from '../outline.ts';
import { eventsOf } from '../read.ts';
import type { Resolver } from '../resolve.ts';
import { Packer, Unpacker, type Packed } from './packed.ts';
import { NOT_HERE } from './tasks.ts';

const NOWHERE: Place = { source: '', file: '', line: 0, record: 0 };

/** Maps the rows of one source as they come in tasks. */
export class TaskMapper {
  readonly #isTable: boolean;
  readonly #entries: readonly CompiledEntry[];
  readonly #resolver: Resolver;
  readonly #reader = new RecordReader();

  constructor(kind: Source['kind'], entries: readonly CompiledEntry[], resolver: Resolver) {
    this.#isTable = kind === 'table';
    this.#entries = entries;
    this.#resolver = resolver;
  }

  /** Rows of whose events more must be told than an outline are left to the main thread. */
  answer(task: Packed): Packed {
    const rows = new Unpacker(task);
    const answer = new Packer();
    while (!rows.isDone) {
      const outlines = this.#outlines(rows);
      answer.number(outlines?.length ?? NOT_HERE);
      for (const outline of outlines ?? []) packOutline(answer, outline);
    }
    return answer.take();
  }

  #outlines(rows: Unpacker): readonly Outline[] | undefined {
    const texts = rows.number();
    if (texts === NOT_HERE) return undefined;
    const raw = this.#raw(rows, texts);
    if (raw === undefined) return undefined;
    const row: Row = { kind: 'row', place: NOWHERE, raw, issues: [] };
    const events = eventsOf(row, this.#entries, this.#resolver);
    if (events instanceof Promise) return undefined;
    const outlines: Outline[] = [];
    for (const event of events) {
      const outline = outlineOf(event);
      if (!outline) return undefined;
      outlines.push(outline);
    }
    return outlines;
  }

  #raw(rows: Unpacker, texts: number): RawRecord | undefined {
    if (this.#isTable) return cells(rows, texts);
    const parsed = this.#reader.read(rows.string(), shapeOf);
    return 'value' in parsed ? parsed.value : undefined;
  }
}

function cells(rows: Unpacker, count: number): readonly string[] {
  const texts: string[] = [];
  for (let index = 0; index < count; index += 1) texts.push(rows.string());
  return texts;
}
