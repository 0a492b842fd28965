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
  /** 1 when created, one more with every update: shows an update that was applied twice. */
  readonly revision: number;
  /** As the last event gave it; kept for audit, never used. */
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

/** Companies and activities: whatever the caller sent. */
export interface PlainRecord extends StoredRecord {
  readonly fields: JsonObject;
}

interface RecordOf {
  Lead: LeadRecord;
  Deal: DealRecord;
  Comment: CommentRecord;
  Company: PlainRecord;
  Activity: PlainRecord;
}
export type RecordKind = keyof RecordOf;

/** Everything that was ingested or created, as plain data in the order of external ids, then ids. */
export interface SandboxState {
  readonly leads: readonly LeadRecord[];
  readonly deals: readonly DealRecord[];
  readonly comments: readonly CommentRecord[];
}

/** The part of a state that is the same whenever the same events were sent: for comparing two rehearsals. */
export function withoutTimes(state: SandboxState): Record<keyof SandboxState, object[]> {
  const timeless = <T extends StoredRecord>({ createdAt: _created, updatedAt: _updated, ...record }: T): object =>
    record;
  return {
    leads: state.leads.map(timeless),
    deals: state.deals.map(timeless),
    comments: state.comments.map(timeless),
  };
}

/** An event that was processed successfully; a repeat of its id is answered with the same record. */
export interface ProcessedEvent {
  readonly kind: RecordKind;
  readonly id: string;
}

interface JournalLine {
  readonly kind: RecordKind;
  /** Absent where an event changed nothing: a comment whose external id is known already. */
  readonly record?: RecordOf[RecordKind];
  readonly event?: { readonly id: string; readonly record: string };
}

/** The account's records and the events that made them; with a journal they outlive the sandbox. */
export class Store {
  readonly #records: { readonly [Kind in RecordKind]: Map<string, RecordOf[Kind]> } = {
    Lead: new Map(),
    Deal: new Map(),
    Comment: new Map(),
    Company: new Map(),
    Activity: new Map(),
  };
  /** `Lead\0<external id>` -> service id. */
  readonly #byExternalId = new Map<string, string>();
  readonly #processed = new Map<string, ProcessedEvent>();
  readonly #journal: AppendLog | undefined;

  private constructor(journal: AppendLog | undefined) {
    this.#journal = journal;
  }

  /** Reads the journal and appends to it from then on; a torn last line is cut off. Without a path all stays in memory. */
  static async open(path: string | undefined): Promise<Store> {
    if (path === undefined) return new Store(undefined);
    const { lines, keepBytes } = await readJournal(path);
    const store = new Store(await AppendLog.open(path, { keepBytes }));
    for (const line of lines) store.#take(line);
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

  /** In force at once, and in the journal when the promise resolves. `eventId`: the event that did it. */
  async save<Kind extends RecordKind>(kind: Kind, record: RecordOf[Kind], eventId?: string): Promise<void> {
    await this.#commit({
      kind,
      record,
      ...(eventId === undefined ? {} : { event: { id: eventId, record: record.id } }),
    });
  }

  /** Remembers an event that was processed and changed nothing. */
  async remember(kind: RecordKind, recordId: string, eventId: string): Promise<void> {
    await this.#commit({ kind, event: { id: eventId, record: recordId } });
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

  async #commit(line: JournalLine): Promise<void> {
    this.#take(line);
    await this.#journal?.append(`${JSON.stringify(line)}\n`, { durable: false });
  }

  #take({ kind, record, event }: JournalLine): void {
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
      throw new UserError(`the sandbox's journal ${path} is damaged in line ${lines.length + 1}: ${messageOf(error)}`, {
        hint: 'remove the file to begin the rehearsal with an empty account',
      });
    }
    keepBytes = end + 1;
  }
  return { lines, keepBytes };
}
