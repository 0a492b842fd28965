import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { FIELD_KEY_FILE } from '../checkpoint/field-hashes.ts';
import { IDS_FILE } from '../checkpoint/ids.ts';
import { CHECKPOINT_FILE } from '../checkpoint/lines.ts';
import { readHeader } from '../checkpoint/read.ts';
import { CONTACTS_FILE } from '../compare/contacts.ts';
import { MATCHES_FILE } from '../compare/matches.ts';
import type { Console } from '../console.ts';
import { cannotWrite } from '../append-log.ts';
import { EXIT, UserError, type ExitCode } from '../errors.ts';
import { ACCOUNT_FILE } from '../connect.ts';
import { parseOptions } from '../options/option.ts';
import { CHANGES_FILE } from '../plan/edits.ts';
import { GONE_FILE } from '../plan/gone.ts';
import { PLAN_FILE } from '../plan/plan-file.ts';
import { WORKSHEET_FILE } from '../survey/worksheet.ts';
import { MigrationStatusReader } from '../report/migration-status.ts';
import { WRITTEN } from '../report/own-files.ts';
import { readSummary } from '../report/stored.ts';
import { MAPPING_FILE } from '../report/stored-mapping.ts';
import { METRICS_FILE, REPORT_FILE, SUMMARY_FILE, SURVEY_FILE } from '../report/summary.ts';
import { isRunLog, RUN_LOG_FILE } from '../run-log.ts';
import { hasLock, Lock, LOCK_FILE } from '../lock.ts';
import { DRY_RUN, writeWhole, type StateDir } from '../state-dir.ts';
import { VERIFY_FILE } from '../verify/differences.ts';
import { confirmer } from './confirm.ts';
import { PURGE } from './definitions.ts';
import type { Argv } from './load.ts';
import { existingState } from './state.ts';
import { counted } from '../numbers.ts';

/** The files that contain field values of records or names of people, and what they contain. */
const PERSONAL: Readonly<Record<string, string>> = {
  [PLAN_FILE]: 'every event with its values; `backfill run MAPPING --dry-run` writes one again',
  'errors.csv': 'messages that quote values',
  'errors.ndjson': 'the same',
  rejects: 'original records',
  'omitted.csv': 'omitted values',
  [WORKSHEET_FILE]: "names of the account's users",
  [WRITTEN]: 'a hash of that file',
  [VERIFY_FILE]: 'values sent and found',
  fixes: 'corrected records; later runs read the exports without them',
  'dry-run': 'the same files, from the last dry run',
  [REPORT_FILE]: 'may quote values; `backfill report` writes it again',
  [CHANGES_FILE]: 'values in the service and in the export',
  [MATCHES_FILE]: 'names of leads of the account',
  [CONTACTS_FILE]: "hashes of the account's contacts; the next run reads them again",
  [ACCOUNT_FILE]: "the users' names",
  [FIELD_KEY_FILE]: 'the key of the hashes in checkpoint.ndjson: without it, no value can be guessed from them',
  'sandbox.ndjson': 'the records of the rehearsal, which cannot continue without them',
};

const KEPT: Readonly<Record<string, string>> = {
  [CHECKPOINT_FILE]: 'external ids and hashes of what was sent; without it a rerun would send everything again',
  [GONE_FILE]: 'external ids and ids in the service',
  [IDS_FILE]: 'external ids and ids in the service',
  [SUMMARY_FILE]: 'counts and control totals, from which the names of owners are deleted',
  [SURVEY_FILE]: 'counts',
  [MAPPING_FILE]: 'the mapping in words, and names of columns',
  [RUN_LOG_FILE]: 'external ids only',
  'rate.ndjson': 'times of requests',
  [METRICS_FILE]: 'counts',
};

/** `backfill purge`: deletes the files that contain personal data from a state directory, and lists what it deletes and keeps. */
export async function purge(argv: Argv, console: Console): Promise<ExitCode> {
  const settings = parseOptions(PURGE, argv);
  const state = await existingState(settings);
  if (!(await isOurs(state))) {
    throw new UserError(`${state.path} is not a state directory: it has no checkpoint, lock or log of this program`, {
      hint: 'nothing was deleted; give the state directory of the migration with --state DIR',
    });
  }
  const lock = await Lock.acquire(state, { takeOver: false, notify: (message) => console.complain(message) });
  try {
    const names = await readdir(state.path);
    const found = names.filter((name) => personal(name) !== undefined);
    if (found.length === 0) {
      console.say(`nothing to delete in ${state.path}`);
      return EXIT.done;
    }
    console.say(`in ${state.path}:`);
    for (const name of found) console.say(`  to delete  ${name}: ${personal(name)}`);
    for (const name of names.filter((each) => KEPT[each])) console.say(`  to keep    ${name}: ${KEPT[name]}`);
    const others = names.filter((name) => personal(name) === undefined && !KEPT[name] && name !== LOCK_FILE);
    for (const name of others) console.say(`  to keep    ${name}: not written by this program`);
    const { invalid, rejected, blocked, pending } = (await new MigrationStatusReader(state).read()).events;
    const failed = invalid + rejected + blocked;
    if (failed > 0) {
      console.complain(
        `warning: ${counted(failed, 'event')} not accepted; the rejects and --fix files are deleted too`,
      );
    }
    if (pending > 0) console.complain(`warning: ${counted(pending, 'event')} not sent yet; the job is not finished`);
    if (!settings.yes && !(await confirmed())) {
      console.say('nothing was deleted');
      return EXIT.nothingSent;
    }
    for (const name of found) {
      await rm(state.file(name), { recursive: true, force: true }).catch((error: unknown) => {
        throw cannotWrite(state.file(name), error);
      });
    }
    await forgetOwners(state.file(SUMMARY_FILE));
    console.say(`deleted ${found.join(', ')}`);
    return EXIT.done;
  } finally {
    await lock.release();
  }
}

/** The control totals keep their figures, but not the names of people. */
async function forgetOwners(path: string): Promise<void> {
  const summary = await readSummary(path);
  if (!summary) return;
  const totals = summary.totals.map((total) => ({ ...total, from_owner: null, owner: null }));
  await writeWhole(path, `${JSON.stringify({ ...summary, totals }, null, 2)}\n`);
}

/** Whether this program has used the directory: files of these names may be anybody's. */
async function isOurs(state: StateDir): Promise<boolean> {
  if (await hasLock(state)) return true;
  if (await readHeader(state.file(CHECKPOINT_FILE)).catch(() => undefined)) return true;
  const logs = [RUN_LOG_FILE, join(DRY_RUN, RUN_LOG_FILE)];
  const found = await Promise.all(logs.map((name) => isRunLog(state.file(name))));
  return found.includes(true);
}

/** What a file contains; an incomplete one left by a crash, or one written beside another, counts as that one. */
function personal(name: string): string | undefined {
  return PERSONAL[name.replace(/\.(?:new|tmp)$/, '').replace(/^references\.\d+\.csv$/, WORKSHEET_FILE)];
}

/** Whether the program writes a file or directory of this name into a state directory. */
export function isStateFile(name: string): boolean {
  return personal(name) !== undefined || KEPT[name] !== undefined;
}

async function confirmed(): Promise<boolean> {
  const ask = confirmer();
  if (ask) return ask('Delete? This cannot be undone.');
  throw new UserError('nothing was deleted: cannot ask for confirmation without a terminal', {
    hint: 'add --yes to delete these files',
  });
}
