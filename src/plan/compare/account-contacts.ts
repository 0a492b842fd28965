import { PERSON } from '../../kinds/index.ts';
import { MOST_UNASKED, readContacts, type ContactsJob } from './contacts.ts';
import type { Halt } from '../../halt.ts';
import type { Mapping } from '../../mapping/mapping.ts';
import { numberText } from '../../terminal/numbers.ts';
import { LIMITS } from '../../contract.ts';
import type { RunSettings } from '../../settings/run-settings.ts';
import type { FieldHasher } from '../../store/field-hashes.ts';
import type { Database } from '../../store/sqlite.ts';
import { secondsToSend } from '../../rate.ts';

/**
 * Reads the people in the account into the plan. Returns how many there are; undefined if no entry looks for them, or if there is no
 * network and they are not stored.
 */
export async function accountContacts(run: {
  readonly settings: Pick<RunSettings, 'refresh' | 'rate'>;
  readonly halt: Halt;
  readonly monitor: {
    readingContacts?(read: number, total: number | undefined): void;
    trouble?(message: string): void;
  };
  readonly db: Database;
  readonly mapping: Mapping;
  readonly target: ContactsJob['target'];
  readonly hasher: FieldHasher;
  /** Asks whether to go on; throws a `UserError` if not. */
  readonly agree: (found: string, hint: string) => Promise<void>;
}): Promise<number | undefined> {
  const { settings, halt, monitor, target, db, hasher } = run;
  const { entries, region } = run.mapping;
  const looks = entries.some(
    ({ type, policies }) => type === `${PERSON}/created` && policies.if_contact_exists !== 'ignore',
  );
  if (!looks) return undefined;
  const contacts = await readContacts({
    db,
    target,
    hasher,
    region,
    refresh: settings.refresh,
    halt,
    agree: (leads) => {
      const minutes = Math.ceil(secondsToSend(leads / LIMITS.pageSize, settings.rate) / 60);
      return run.agree(
        `the account has more than ${numberText(MOST_UNASKED)} leads; reading them, to find people who are there ` +
          `already, takes about ${minutes} min`,
        'read them with --refresh, or set `if_contact_exists: ignore` to send without looking',
      );
    },
    progress: (read, total) => monitor.readingContacts?.(read, total),
  });
  if (contacts === undefined) {
    monitor.trouble?.('the leads of the account are not stored yet, so people who are there already are not found');
  }
  return contacts;
}
