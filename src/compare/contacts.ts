/**
 * The e-mail addresses and phone numbers of the leads that the account has, as hashes in `contacts.ndjson`: a header, one line
 * per lead, and a line at the end of each page that was read, so that an interrupted reading continues there.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AppendLog } from '../append-log.ts';
import type { FieldHasher } from '../checkpoint/field-hashes.ts';
import { isTorn, readPieces, textLines } from '../checkpoint/read.ts';
import { Float64Column } from '../columns.ts';
import type { Halt } from '../halt.ts';
import type { JsonObject } from '../json.ts';
import { e164Of } from '../mapping/transforms/phone.ts';
import type { Client } from '../service/client.ts';
import { PATHS } from '../service/contract.ts';
import { idOf, isFields, type Fields, type Query } from '../service/list-page.ts';
import { pagesOf } from '../service/lists.ts';
import { DRY_RUN, type StateDir } from '../state-dir.ts';

export const CONTACTS_FILE = 'contacts.ndjson';

/** More leads than this are read only if the user agrees. */
export const MOST_UNASKED = 20_000;

/** The fields by which people are recognised; the names of an event's data. */
export const CONTACT_FIELDS = ['email', 'phone_number'] as const;
export type ContactField = (typeof CONTACT_FIELDS)[number];

type ContactHashes = { readonly [F in ContactField]?: string };

type ContactsLine =
  | { readonly kind: 'contacts'; readonly base_url: string; readonly field_key: string; readonly at: string }
  /** The query of the next page; null if the list has ended. */
  | { readonly kind: 'page'; readonly next: Query | null }
  | (ContactHashes & { readonly kind?: undefined; readonly id: string });

export interface ContactsJob {
  /** Undefined if the network must not be used. */
  readonly target: { readonly client: Client; readonly baseUrl: string } | undefined;
  readonly hasher: FieldHasher;
  /** The country of phone numbers that the account has without a country code. */
  readonly region: string | undefined;
  readonly state: StateDir;
  readonly output: StateDir;
  readonly refresh: boolean;
  readonly halt: Halt;
  /** Asks whether to read an account with more than `MOST_UNASKED` leads; throws a `UserError` if not. */
  readonly agree: (leads: number) => Promise<void>;
  readonly progress: (read: number, total: number | undefined) => void;
}

/** The contacts as stored by an earlier run or dry run, or as read now; undefined if there are none and no network. */
export async function openContacts(job: ContactsJob): Promise<Contacts | undefined> {
  const { target, state, output, refresh } = job;
  const own = output.file(CONTACTS_FILE);
  for (const path of [state.file(CONTACTS_FILE), join(state.file(DRY_RUN), CONTACTS_FILE)]) {
    if (target && refresh) break;
    const stored = await loadContacts(path, job);
    if (stored?.next === null) return stored;
  }
  if (!target) return undefined;
  const begun = await loadContacts(own, job);
  await readContacts({ ...job, target }, own, begun?.next === null ? undefined : begun);
  return loadContacts(own, job);
}

/** Reads the leads page by page; `begun`: what an earlier run has read. Returns early if the run is to stop. */
async function readContacts(
  job: ContactsJob & Required<Pick<ContactsJob, 'target'>>,
  path: string,
  begun: Contacts | undefined,
): Promise<void> {
  const { hasher, region, halt } = job;
  const { client, baseUrl } = job.target!;
  const log = await AppendLog.open(path, { keepBytes: begun?.wholeBytes ?? 0 });
  try {
    const append = (lines: readonly ContactsLine[]): Promise<void> =>
      log.append(lines.map((line) => `${JSON.stringify(line)}\n`).join(''), { durable: false });
    const at = new Date().toISOString();
    if (!begun) await append([{ kind: 'contacts', base_url: baseUrl, field_key: hasher.keyId, at }]);
    let read = begun?.leads ?? 0;
    let agreed = job.refresh;
    const options = { signal: halt.signal, ...(begun?.next && { from: begun.next }) };
    for await (const { fresh, total, next } of pagesOf(client, PATHS.leads, {}, options)) {
      read += fresh.length;
      const leads = Math.max(read, total ?? 0);
      if (!agreed && leads > MOST_UNASKED) {
        await job.agree(leads);
        agreed = true;
      }
      const isEnd = next === undefined || (total !== undefined && read >= total);
      const lines = fresh.filter(isFields).flatMap((lead): ContactsLine[] => {
        const id = idOf(lead);
        return id === undefined ? [] : [{ id, ...hashesOf(lead, hasher, region) }];
      });
      await append([...lines, { kind: 'page', next: isEnd ? null : next }]);
      job.progress(read, total);
      if (isEnd || halt.requested) return;
    }
  } catch (error) {
    // The run is stopping: the next one continues here.
    if (!halt.requested) throw error;
  } finally {
    await log.close();
  }
}

/** Of a lead as the service shows it. People write phone numbers in many ways: they are compared as E.164. */
function hashesOf(lead: Fields, hasher: FieldHasher, region: string | undefined): ContactHashes {
  const { email, phoneNumber } = lead;
  const phone = typeof phoneNumber === 'string' ? phoneOf(phoneNumber, region) : '';
  return {
    ...(typeof email === 'string' && email.trim() !== '' && { email: hasher.hashOf('email', email) }),
    ...(phone !== '' && { phone_number: hasher.hashOf('phone_number', phone) }),
  };
}

function phoneOf(text: string, region: string | undefined): string {
  return /^\+\d+$/.test(text) || !/\d/.test(text) ? text : (e164Of(text, region) ?? text);
}

/**
 * What was read. Of each value only a hash of 48 bits is in memory, 8 bytes, by which the survey finds the few leads of the
 * input whose matches are then looked up in the file.
 */
export class Contacts {
  readonly path: string;
  /** When the reading began, ISO 8601. */
  readonly at: string;
  readonly leads: number;
  /** As in the last line. */
  readonly next: Query | null | undefined;
  readonly wholeBytes: number;
  readonly #hasher: FieldHasher;
  /** Ascending. */
  readonly #hashes: Float64Array;

  constructor(
    read: Pick<Contacts, 'path' | 'at' | 'leads' | 'next' | 'wholeBytes'>,
    hasher: FieldHasher,
    hashes: Float64Array,
  ) {
    this.path = read.path;
    this.at = read.at;
    this.leads = read.leads;
    this.next = read.next;
    this.wholeBytes = read.wholeBytes;
    this.#hasher = hasher;
    this.#hashes = hashes;
  }

  /** The hashes of those contact fields of a lead's data that a lead of the account has too. */
  shared(data: JsonObject): ContactHashes | undefined {
    if (this.#hashes.length === 0) return undefined;
    let shared: { [F in ContactField]?: string } | undefined;
    for (const field of CONTACT_FIELDS) {
      const value = data[field];
      if (value === undefined) continue;
      const hash = this.#hasher.hashOf(field, value);
      if (this.#has(numberOf(hash))) (shared ??= {})[field] = hash;
    }
    return shared;
  }

  /** The leads of the account, with their service ids. */
  async *all(): AsyncGenerator<ContactHashes & { readonly id: string }, void, undefined> {
    for await (const line of linesOf(this.path)) if (line.kind === undefined) yield line;
  }

  #has(hash: number): boolean {
    let [low, high] = [0, this.#hashes.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#hashes[middle]! < hash) low = middle + 1;
      else high = middle;
    }
    return this.#hashes[low] === hash;
  }
}

function numberOf(hash: string): number {
  return Number.parseInt(hash, 16);
}

/** Undefined if there is no such file, or if it is of another service or another key. */
async function loadContacts(path: string, { target, hasher }: ContactsJob): Promise<Contacts | undefined> {
  if (!(await stat(path).catch(() => undefined))) return undefined;
  const hashes = new Float64Column();
  let header: Extract<ContactsLine, { kind: 'contacts' }> | undefined;
  let [values, leads, bytes, wholeBytes] = [0, 0, 0, 0];
  let next: Query | null | undefined;
  for await (const line of linesOf(path, (length) => (bytes += length))) {
    if (line.kind === 'contacts') header = line;
    else if (line.kind === 'page') [next, wholeBytes] = [line.next, bytes];
    else {
      leads += 1;
      for (const field of CONTACT_FIELDS) {
        const hash = line[field];
        if (hash === undefined) continue;
        hashes.set(values, numberOf(hash));
        values += 1;
      }
    }
  }
  if (header?.field_key !== hasher.keyId || (target && header.base_url !== target.baseUrl)) return undefined;
  if (next === undefined) return undefined;
  const sorted = Float64Array.from({ length: values }, (_, index) => hashes.get(index)).sort();
  return new Contacts({ path, at: header.at, leads, next, wholeBytes }, hasher, sorted);
}

/** Without a last line that is cut off. `passed` is called with the bytes of each line, before it is yielded. */
async function* linesOf(
  path: string,
  passed: (bytes: number) => void = () => undefined,
): AsyncGenerator<ContactsLine, void, undefined> {
  for await (const piece of readPieces(path)) {
    if (isTorn(piece)) return;
    for (const text of textLines(piece)) {
      passed(Buffer.byteLength(text) + 1);
      yield JSON.parse(text) as ContactsLine;
    }
  }
}
