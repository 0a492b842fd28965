/** People who are in the account already: leads of the input that share an e-mail address or phone number with one there. */
import { rm } from 'node:fs/promises';
import { AppendLog } from '../append-log.ts';
import { settledLines } from '../checkpoint/read.ts';
import { csvLine } from '../csv.ts';
import { entityOf, type Place, type Ready } from '../model.ts';
import type { Client } from '../service/client.ts';
import { CONTACT_FIELDS, type ContactField, type Contacts } from './contacts.ts';
import { readBack } from './read-back.ts';

export const MATCHES_FILE = 'matches.csv';

const MATCH_COLUMNS = ['external_id', 'source', 'file', 'line', 'service_id', 'matched', 'name_in_service'];

/** A lead of the input, and the leads of the account that may be the same person. */
export interface Match {
  readonly externalId: string;
  readonly place: Place;
  /** That of the lead in the plan. */
  readonly ordinal: number;
  /** The fields that are the same, by service id. */
  readonly found: ReadonlyMap<string, readonly ContactField[]>;
}

interface PossibleMatch {
  readonly externalId: string;
  readonly place: Place;
  readonly ordinal: number;
  readonly found: Map<string, ContactField[]>;
}

/** Gathers the leads of the input that may be in the account already, and finds out which are. */
export class ContactMatches {
  readonly #contacts: Contacts;
  readonly #candidates: PossibleMatch[] = [];
  /** Candidates by field and hash. */
  readonly #byValue = new Map<string, PossibleMatch[]>();

  constructor(contacts: Contacts) {
    this.#contacts = contacts;
  }

  /** Takes a lead of the input. */
  add({ data, externalId, place }: Ready, ordinal: number): void {
    const shared = this.#contacts.shared(data);
    if (!shared) return;
    const candidate: PossibleMatch = { externalId: externalId!, place, ordinal, found: new Map() };
    this.#candidates.push(candidate);
    for (const field of CONTACT_FIELDS) {
      if (shared[field] === undefined) continue;
      const value = `${field} ${shared[field]}`;
      const others = this.#byValue.get(value);
      if (others) others.push(candidate);
      else this.#byValue.set(value, [candidate]);
    }
  }

  /**
   * The matches with leads that this migration did not make. It made those whose service ids are in the checkpoint, and those
   * that match a lead which was acknowledged without a service id (skipped, or replayed). `counts`: whether the lead with
   * this ordinal is one that is sent, or was.
   */
  async resolve(checkpoint: string, counts: (ordinal: number) => boolean): Promise<readonly Match[]> {
    if (this.#candidates.length === 0) return [];
    for await (const lead of this.#contacts.all()) {
      for (const field of CONTACT_FIELDS) {
        if (lead[field] === undefined) continue;
        for (const { found } of this.#byValue.get(`${field} ${lead[field]}`) ?? []) {
          found.set(lead.id, [...(found.get(lead.id) ?? []), field]);
        }
      }
    }
    const made = await this.#madeHere(checkpoint);
    for (const { found } of this.#candidates) for (const id of found.keys()) if (made.has(id)) found.delete(id);
    return this.#candidates.filter(({ found, ordinal }) => found.size > 0 && counts(ordinal));
  }

  async #madeHere(checkpoint: string): Promise<ReadonlySet<string>> {
    const made = new Set<string>();
    /** Acknowledged leads of the input, and whether their service ids are known. */
    const known = new Map<string, boolean>();
    const ids = new Set(this.#candidates.map(({ externalId }) => externalId));
    for await (const { type, status, external_id: id, entity_id: serviceId } of settledLines(checkpoint)) {
      if (status !== 'acknowledged' || entityOf(type) !== 'lead' || id === null) continue;
      if (serviceId) made.add(serviceId);
      if (ids.has(id)) known.set(id, known.get(id) === true || Boolean(serviceId));
    }
    for (const { externalId, found } of this.#candidates) {
      if (known.get(externalId) === false) for (const id of found.keys()) made.add(id);
    }
    return made;
  }
}

/** Writes `matches.csv`. `client`: reads the names that the matching leads have in the service; without it they stay empty. */
export async function writeMatches(
  path: string,
  matches: readonly Match[],
  service: { readonly client: Client; readonly leads: number; readonly concurrency: number } | undefined,
): Promise<void> {
  if (matches.length === 0) return rm(path, { force: true });
  const names = new Map<string, string>();
  if (service) {
    const ids = new Set(matches.flatMap(({ found }) => [...found.keys()]));
    const options = { atLeast: service.leads, concurrency: service.concurrency };
    for await (const { serviceId, record } of readBack(service.client, 'lead', ids, options)) {
      names.set(serviceId, typeof record?.fullName === 'string' ? record.fullName : '');
    }
  }
  const log = await AppendLog.open(path, { keepBytes: 0 });
  try {
    await log.append(csvLine(MATCH_COLUMNS), { durable: false });
    for (const { externalId, place, found } of matches) {
      const lines = [...found].map(([id, fields]) =>
        csvLine([externalId, place.source, place.file, place.line, id, fields.join(' '), names.get(id)]),
      );
      await log.append(lines.join(''), { durable: false });
    }
  } finally {
    await log.close();
  }
}
