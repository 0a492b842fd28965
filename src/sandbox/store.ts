import { appendFileSync, closeSync, ftruncateSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { codeOf, messageOf, UserError } from '../errors.ts';
import { openPrivate } from '../files/private-file.ts';

/** A record of any kind: what all have, and its own fields. */
export interface AnyRecord {
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
  readonly [field: string]: unknown;
}

/** All records as plain data, in the order of external ids, then ids. */
export type SandboxState = Readonly<Record<'leads' | 'deals' | 'comments', readonly AnyRecord[]>>;

interface JournalLine {
  readonly kind: string;
  /** Absent if an event changed nothing: a comment with a known external id. */
  readonly record?: AnyRecord;
  /** The event that was processed, and the record that its repeats are answered with. */
  readonly event?: { readonly id: string; readonly record: string };
}

/** The records of the account and the events processed; persistent with a journal. */
export class Store {
  readonly #records = new Map<string, Map<string, AnyRecord>>();
  /** `Lead\0<external id>` -> service id. */
  readonly #byExternalId = new Map<string, string>();
  readonly #processed = new Map<string, { readonly kind: string; readonly id: string }>();
  #journal: number | undefined;

  /** Restores the journal at `path` and appends to it; an incomplete last line is removed. Without a path, nothing is kept. */
  static async open(path: string | undefined): Promise<Store> {
    const store = new Store();
    if (path === undefined) return store;
    const keepBytes = await readJournal(path, (line) => store.#apply(line));
    store.#journal = openPrivate(path);
    ftruncateSync(store.#journal, keepBytes);
    return store;
  }

  get(kind: string, id: string): AnyRecord | undefined {
    return this.#records.get(kind)?.get(id);
  }

  find(kind: string, externalId: string): AnyRecord | undefined {
    return this.get(kind, this.#byExternalId.get(`${kind}\0${externalId}`) ?? '');
  }

  /** In the order of creation. */
  all(kind: string): AnyRecord[] {
    return [...(this.#records.get(kind)?.values() ?? [])];
  }

  /** The record that the event with this id wrote, if it was processed successfully. */
  processed(eventId: string): { readonly kind: string; readonly id: string } | undefined {
    return this.#processed.get(eventId);
  }

  /** When this returns, the journal has the record. */
  write(line: JournalLine): void {
    if (this.#journal !== undefined) appendFileSync(this.#journal, `${JSON.stringify(line)}\n`);
    this.#apply(line);
  }

  state(): SandboxState {
    const sorted = (kind: string) => this.all(kind).sort(byExternalId);
    return { leads: sorted('Lead'), deals: sorted('Deal'), comments: sorted('Comment') };
  }

  close(): void {
    if (this.#journal !== undefined) closeSync(this.#journal);
    this.#journal = undefined;
  }

  #apply({ kind, record, event }: JournalLine): void {
    if (record) {
      if (!this.#records.has(kind)) this.#records.set(kind, new Map());
      this.#records.get(kind)!.set(record.id, record);
      if (record.externalId !== null) this.#byExternalId.set(`${kind}\0${record.externalId}`, record.id);
    }
    if (event) this.#processed.set(event.id, { kind, id: event.record });
  }
}

function byExternalId(a: AnyRecord, b: AnyRecord): number {
  const [left, right] = [`${a.externalId ?? ''}\0${a.id}`, `${b.externalId ?? ''}\0${b.id}`];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Returns the bytes of the complete lines. */
async function readJournal(path: string, take: (line: JournalLine) => void): Promise<number> {
  const bytes = await readFile(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return Buffer.alloc(0);
    throw new UserError(`cannot read the sandbox's journal ${path}: ${messageOf(error)}`, { cause: error });
  });
  let keepBytes = 0;
  for (let line = 1, end = 0; (end = bytes.indexOf(0x0a, keepBytes)) >= 0; line += 1, keepBytes = end + 1) {
    try {
      take(JSON.parse(bytes.toString('utf8', keepBytes, end)) as JournalLine);
    } catch (error) {
      throw new UserError(`the sandbox's journal ${path} is damaged at line ${line}: ${messageOf(error)}`, {
        hint: 'delete the file to start the rehearsal with an empty account',
      });
    }
  }
  return keepBytes;
}
