/** The e-mail addresses and phone numbers of the leads that the account has, as hashes in the plan. */
import type { Halt } from '../../halt.ts';
import { e164Of } from '../../mapping/transforms/phone.ts';
import type { Client } from '../../service/client.ts';
import { PATHS, LIMITS } from '../../contract.ts';
import { idOf, isFields, type Fields } from '../../service/list-page.ts';
import { pagesOf } from '../../service/lists.ts';
import type { FieldHasher } from '../../store/field-hashes.ts';
import { readSetting, storeSetting } from '../../store/setting.ts';
import type { Database } from '../../store/sqlite.ts';
import { PERSON } from '../../kinds/index.ts';
import type { Mapping } from '../../mapping/mapping.ts';
import { numberText } from '../../report/words/numbers.ts';
import type { RunSettings } from '../../settings/run-settings.ts';
import { secondsToSend } from '../../rate.ts';

/** Then they are read again. */
const KEPT_MS = 24 * 60 * 60 * 1000;

/** More leads than this are read only if the user agrees. */
const MOST_UNASKED = 20_000;

/** What was read last, in the plan's `setting` `contacts`. */
interface Reading {
  readonly base_url: string;
  readonly field_key: string;
  /** When it began; milliseconds since 1970. */
  readonly at: number;
  readonly leads: number;
}

interface PeopleJob {
  readonly settings: Pick<RunSettings, 'rate'>;
  readonly halt: Halt;
  readonly monitor: {
    readingContacts?(read: number, total: number | undefined): void;
    trouble?(message: string): void;
  };
  /** The plan that is being written. */
  readonly db: Database;
  readonly mapping: Mapping;
  /** Undefined if the network must not be used. */
  readonly target: { readonly client: Client; readonly baseUrl: string } | undefined;
  readonly hasher: FieldHasher;
  /** Asks whether to go on; throws a `UserError` if not. */
  readonly agree: (found: string, hint: string) => Promise<void>;
}

/**
 * Reads the people in the account into the plan, unless an earlier plan has them, of the last day. Returns how many there are; undefined if
 * no entry looks for them, or if there is no network and they are not stored. Throws a `UserError` if a signal ends it.
 */
export async function accountContacts(job: PeopleJob): Promise<number | undefined> {
  const { db, target, hasher, mapping, halt, monitor } = job;
  const looks = mapping.entries.some(
    ({ type, policies }) => type === `${PERSON}/created` && policies.if_contact_exists !== 'ignore',
  );
  if (!looks) return undefined;
  const stored = readSetting(db, 'contacts');
  const before = stored === undefined ? undefined : (JSON.parse(stored) as Reading);
  const isUsable =
    before?.field_key === hasher.keyId &&
    (!target || (before.base_url === target.baseUrl && Date.now() - before.at < KEPT_MS));
  if (isUsable) return before.leads;
  if (!target) {
    monitor.trouble?.('the leads of the account are not stored yet, so people who are already there are not found');
    return undefined;
  }
  db.exec('delete from contact');
  const reading = { base_url: target.baseUrl, field_key: hasher.keyId, at: Date.now() };
  const leads = await readPages(job, target.client);
  halt.assertNotRequested();
  storeSetting(db, 'contacts', JSON.stringify({ ...reading, leads } satisfies Reading));
  return leads;
}

/** Returns how many leads it has read: all, unless the run is stopping. */
async function readPages(job: PeopleJob, client: Client): Promise<number> {
  const { db, hasher, halt, mapping, settings, monitor, agree } = job;
  let read = 0;
  let isAgreed = false;
  try {
    for await (const { fresh, total } of pagesOf(client, PATHS.leads, {}, { signal: halt.signal })) {
      read += fresh.length;
      const leads = Math.max(read, total ?? 0);
      if (!isAgreed && leads > MOST_UNASKED) {
        const minutes = Math.ceil(secondsToSend(leads / LIMITS.pageSize, settings.rate) / 60);
        await agree(
          `the account has more than ${numberText(MOST_UNASKED)} leads; reading them, to find people who are already ` +
            `there, takes about ${minutes} min`,
          'read them with --yes, or set `if_contact_exists: ignore` to send without looking',
        );
        isAgreed = true;
      }
      db.transaction(() => {
        for (const lead of fresh) if (isFields(lead)) addContact(db, lead, hasher, mapping.region);
      });
      monitor.readingContacts?.(read, total);
      if (halt.requested) break;
    }
  } catch (error) {
    if (!halt.requested) throw error;
  }
  return read;
}

/** People write phone numbers in many ways: they are compared as E.164. */
function addContact(db: Database, lead: Fields, hasher: FieldHasher, region: string | undefined): void {
  const id = idOf(lead);
  if (id === undefined) return;
  const { email, phoneNumber } = lead;
  const phone = typeof phoneNumber === 'string' ? phoneOf(phoneNumber, region) : '';
  db.run(
    'insert or replace into contact (service_id, email, phone_number) values (?, ?, ?)',
    id,
    typeof email === 'string' && email.trim() !== '' ? hasher.normalHashOf('email', email) : null,
    phone !== '' ? hasher.normalHashOf('phone_number', phone) : null,
  );
}

function phoneOf(text: string, region: string | undefined): string {
  return /^\+\d+$/.test(text) || !/\d/.test(text) ? text : (e164Of(text, region) ?? text);
}
