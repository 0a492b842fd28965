import { recordJson } from '../json.ts';
import { entityOf } from '../kinds/index.ts';
import type { Corrected, EventType, Invalid, ParentRef, Place, RawRecord, Ready } from '../model.ts';
import type { UnusedCode } from '../report/words/unused.ts';
import type { Source } from '../input/source.ts';
import { EXCLUDED, stateBy } from '../plan/events.ts';
import { Batch } from '../store/batch.ts';
import type { Database } from '../store/sqlite.ts';

/** A record of the input, with its JSON text where the reader has it. */
interface ReadRecord {
  readonly place: Place;
  readonly raw?: RawRecord;
  readonly text?: string;
  readonly corrects?: Corrected;
}

/** What the control totals know about a deal: its group, and its amount (null: none, '': unreadable). */
export interface DealFigures {
  readonly group: number;
  readonly amount: string | null;
}

const EVENT =
  'id, type, entity, external_id, record, entry, occurred_at, data, content, parent_entity, parent_id, own_priority, heading, deal_group, amount';

const STATE = stateBy({ entity: 'read.entity', externalId: 'read.external_id', content: 'read.content' });
const INSERT_EVENTS = `
  insert into event (${EVENT}, state) select ${EVENT}, iif(state = 'ready', ${STATE}, state) from read`;

/** Writes records and events to a new plan, in the order of reading. The judging steps follow when all are there. */
export class PlanWriter {
  readonly db: Database;
  readonly #sources = new Map<string, number>();
  readonly #files = new Map<string, number>();
  readonly #records: Batch;
  readonly #events: Batch;
  #last: { readonly item: ReadRecord; readonly id: number } | undefined;
  /** The file of the last record. */
  #lastFile: { readonly source: string; readonly file: string; readonly id: number } | undefined;

  constructor(db: Database) {
    this.db = db;
    this.#records = new Batch(db, (rows) => `insert into record (id, file, line, number, raw, original) ${rows}`, 6);
    this.#events = new Batch(db, (rows) => `with read (${EVENT}, state) as (${rows}) ${INSERT_EVENTS}`, 16);
  }

  addSource({ name, kind, columns }: Source): void {
    this.#sources.set(name, this.db.add('source', { name, kind, columns: JSON.stringify(columns) }));
  }

  /** The record's number in the plan, under which it is stored the first time it is asked for. */
  record(item: ReadRecord): number {
    const { raw, text } = item;
    return this.#last?.item === item ? this.#last.id : this.#add(item, text ?? (raw ? recordJson(raw) : null));
  }

  /** The same of a record that became no event: its values are not stored. */
  unusedRecord(item: ReadRecord): number {
    return this.#last?.item === item ? this.#last.id : this.#add(item, null);
  }

  #add(item: ReadRecord, json: string | null): number {
    const { place, corrects } = item;
    const id = this.#records.add(this.#file(place), place.line, place.record, json, corrects?.row ?? null);
    this.#last = { item, id };
    if (corrects) {
      const { place: replaced } = corrects;
      this.db.run('insert into replaced values (?, ?, ?)', id, this.#file(replaced), replaced.line);
    }
    return id;
  }

  /** Notes why nothing is sent of a record, or of one of those that it may be (`about`). `why`: beside the words of the code. */
  unused(record: number, code: UnusedCode, about: Partial<ParentRef> = {}, why: string | null = null): void {
    this.db.add('unused', { record, entity: about.entity, external_id: inSql(about.externalId), code, why });
  }

  /** A version of a record that `when` excludes: `duplicates` may choose it all the same (plan/judge/duplicates). */
  excluded(
    { type, index }: { readonly type: EventType; readonly index: number },
    externalId: string,
    record: number,
  ): void {
    const none = Array<null>(9).fill(null);
    this.#events.add(type, entityOf(type), inSql(externalId), record, index, ...none, EXCLUDED);
  }

  /** Adds an event, as it can be sent or as one that is invalid; returns its number in the plan. */
  event(event: Ready | Invalid, record: number, deal?: DealFigures): number {
    const { type, entry, externalId } = event;
    const ready = event.kind === 'ready' ? event : undefined;
    return this.#events.add(
      type,
      entityOf(type),
      inSql(externalId),
      record,
      entry,
      ready?.occurredAt ?? null,
      ready?.content ?? null,
      ready?.sha ?? null,
      event.parent?.entity ?? null,
      inSql(event.parent?.externalId),
      ready?.priority ?? null,
      ready?.heading ?? null,
      deal?.group ?? null,
      deal?.amount ?? null,
      event.kind,
    );
  }

  /** Writes what is left. To be called before the plan is read. */
  flush(): void {
    this.#records.flush();
    this.#events.flush();
  }

  #file({ source, file, letters }: Place): number {
    if (this.#lastFile?.file === file && this.#lastFile.source === source) return this.#lastFile.id;
    const key = `${source}\0${file}`;
    let id = this.#files.get(key);
    if (id === undefined) {
      id = this.db.add('file', { source: this.#sources.get(source)!, path: file, cell: letters?.[0] });
      this.#files.set(key, id);
    }
    this.#lastFile = { source, file, id };
    return id;
  }
}

/** Invalid ids, too, are listed: half of a surrogate pair and a NUL do not fit into a column. */
function inSql(id: string | undefined): string | null {
  return id?.toWellFormed().replaceAll('\0', '') ?? null;
}
