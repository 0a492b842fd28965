import { readFile } from 'node:fs/promises';
import { AppendLog } from '../append-log.ts';
import { codeOf, messageOf, UserError } from '../errors.ts';
import type { JsonObject } from '../json.ts';

interface StoredRecord {
  /** The service id. */
  readonly id: string;
  /** Null for records made through the REST routes, and for comments ingested without one. */
  readonly externalId: string | null;
  /** ISO 8601 with milliseconds. */
  readonly createdAt: string;
  readonly updatedAt: string;
  /** 1 when created, incremented by every update; reveals an update applied twice. */
  readonly revision: number;
  /** From the last event; stored for audit only. */
  readonly occurredAt: string | null;
}

export interface LeadRecord extends StoredRecord {
  readonly fullName: string | null;
  readonly email: string | null;
  readonly phoneNumber: string | null;
  readonly companyId: string | null;
  readonly customParams: JsonObject;
}

export interface DealRecord extends StoredRecord {
  readonly title: string | null;
  readonly amount: number | null;
  readonly currency: string | null;
  readonly pipelineId: string;
  readonly stageId: string;
  readonly ownerId: string | null;
  readonly primaryContactId: string | null;
  readonly companyIds: readonly string[];
  readonly contactIds: readonly string[];
  readonly customFields: JsonObject;
}

export interface CommentRecord extends StoredRecord {
  readonly content: string;
  readonly authorName: string | null;
  readonly leadId: string | null;
  readonly dealId: string | null;
}

/** Other records, with the fields that the caller sent. */
export interface PlainRecord extends StoredRecord {
  readonly fields: JsonObject;
}

interface RecordOf {
  Lead: LeadRecord;
  Deal: DealRecord;
  Comment: CommentRecord;
  Company: PlainRecord;
  Activity: PlainRecord;
  Quote: PlainRecord;
  Contract: PlainRecord;
  Message: PlainRecord;
}
export type RecordKind = keyof RecordOf;

/** All records as plain data, in the order of external ids, then ids. */
export interface SandboxState {
  readonly leads: readonly LeadRecord[];
  readonly deals: readonly DealRecord[];
  readonly comments: readonly CommentRecord[];
}

/** A state without times, to compare two rehearsals with the same events. */
export function withoutTimes(state: SandboxState): Record<keyof SandboxState, object[]> {
  const timeless = <T extends StoredRecord>({ createdAt: _created, updatedAt: _updated, ...record }: T): object =>
    record;
  return {
    leads: state.leads.map(timeless),
    deals: state.deals.map(timeless),
    comments: state.comments.map(timeless),
  };
}

/** An event that was processed successfully. A repeat of its id is answered with the same record. */
export interface ProcessedEvent {
  readonly kind: RecordKind;
  readonly id: string;
}

interface JournalLine {
  readonly kind: RecordKind;
  /** Absent if an event changed nothing: a comment with a known external id. */
  readonly record?: RecordOf[RecordKind];
  readonly event?: { readonly id: string; readonly record: string };
}

/** The records of the account and the events processed; persistent with a journal. */
export class Store {
  readonly #records: { readonly [Kind in RecordKind]: Map<string, RecordOf[Kind]> } = {
    Lead: new Map(),
    Deal: new Map(),
    Comment: new Map(),
    Company: new Map(),
    Activity: new Map(),
    Quote: new Map(),
    Contract: new Map(),
    Message: new Map(),
  };
  /** `Lead\0<external id>` -> service id. */
  readonly #byExternalId = new Map<string, string>();
  readonly #processed = new Map<string, ProcessedEvent>();
  readonly #journal: AppendLog | undefined;

  private constructor(journal: AppendLog | undefined) {
    this.#journal = journal;
  }

  /**
   * Restores the journal at `path` and appends to it; an incomplete last line is removed. Without a path, nothing is
   * persisted.
   */
  static async open(path: string | undefined): Promise<Store> {
    if (path === undefined) return new Store(undefined);
    const { lines, keepBytes } = await readJournal(path);
    const store = new Store(await AppendLog.open(path, { keepBytes }));
    for (const line of lines) store.#apply(line);
    return store;
  }

  get<Kind extends RecordKind>(kind: Kind, id: string): RecordOf[Kind] | undefined {
    return this.#records[kind].get(id);
  }

  find<Kind extends RecordKind>(kind: Kind, externalId: string): RecordOf[Kind] | undefined {
    const id = this.#byExternalId.get(`${kind}\0${externalId}`);
    return id === undefined ? undefined : this.get(kind, id);
  }

  /** In the order of creation. */
  all<Kind extends RecordKind>(kind: Kind): RecordOf[Kind][] {
    return [...this.#records[kind].values()];
  }

  processed(eventId: string): ProcessedEvent | undefined {
    return this.#processed.get(eventId);
  }

  /** Takes effect immediately, and is in the journal when the promise resolves. `eventId`: the event that caused it. */
  async save<Kind extends RecordKind>(kind: Kind, record: RecordOf[Kind], eventId?: string): Promise<void> {
    await this.#write({
      kind,
      record,
      ...(eventId === undefined ? {} : { event: { id: eventId, record: record.id } }),
    });
  }

  /** Records an event that was processed but changed nothing. */
  async remember(kind: RecordKind, recordId: string, eventId: string): Promise<void> {
    await this.#write({ kind, event: { id: eventId, record: recordId } });
  }

  state(): SandboxState {
    return {
      leads: this.all('Lead').sort(byExternalId),
      deals: this.all('Deal').sort(byExternalId),
      comments: this.all('Comment').sort(byExternalId),
    };
  }

  async close(): Promise<void> {
    await this.#journal?.close();
  }

  async #write(line: JournalLine): Promise<void> {
    this.#apply(line);
    await this.#journal?.append(`${JSON.stringify(line)}\n`, { durable: false });
  }

  #apply({ kind, record, event }: JournalLine): void {
    if (record) {
      (this.#records[kind] as Map<string, RecordOf[RecordKind]>).set(record.id, record);
      if (record.externalId !== null) this.#byExternalId.set(`${kind}\0${record.externalId}`, record.id);
    }
    if (event) this.#processed.set(event.id, { kind, id: event.record });
  }
}

function byExternalId(a: StoredRecord, b: StoredRecord): number {
  const [left, right] = [`${a.externalId ?? ''}\0${a.id}`, `${b.externalId ?? ''}\0${b.id}`];
  return left < right ? -1 : left > right ? 1 : 0;
}

async function readJournal(path: string): Promise<{ lines: JournalLine[]; keepBytes: number }> {
  const bytes = await readFile(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return Buffer.alloc(0);
    throw new UserError(`cannot read the sandbox's journal ${path}: ${messageOf(error)}`, { cause: error });
  });
  const lines: JournalLine[] = [];
  let keepBytes = 0;
  for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, keepBytes)) {
    try {
      lines.push(JSON.parse(bytes.toString('utf8', keepBytes, end)) as JournalLine);
    } catch (error) {
      throw new UserError(`the sandbox's journal ${path} is damaged at line ${lines.length + 1}: ${messageOf(error)}`, {
        hint: 'delete the file to start the rehearsal with an empty account',
      });
    }
    keepBytes = end + 1;
  }
  return { lines, keepBytes };
}
