/** The survey of a run: a new plan, with what the checkpoint, the account and the people in it say about the input. */
import { basename } from 'node:path';
import type { Run } from './begin.ts';
import { storedAccountOf, type Target } from './connect.ts';
import { EXIT, UserError } from '../errors.ts';
import { doubtRecords, isOlder } from '../plan/older.ts';
import { storeDocument } from '../report/files/documents.ts';
import { assertBound, openFieldHasher } from '../store/checkpoint.ts';
import type { FieldHasher } from '../store/field-hashes.ts';
import { copyCheckpoint } from '../store/open.ts';
import { PLAN_FILE } from '../store/plan-schema.ts';
import { findDamage } from '../store/sqlite.ts';
import { optionsToResume } from '../settings/command-line.ts';
import { storedMapping } from './stored-mapping.ts';
import { beginPlan, discardPlan } from '../survey/plan-file.ts';
import { surveyInput, type Survey } from '../survey/survey.ts';
import { openNamesOf } from '../survey/worksheet-file.ts';
import { accountContacts } from '../plan/account/people.ts';

/** What a run sends from. */
export interface Surveyed {
  readonly survey: Survey;
  readonly hasher: FieldHasher;
}

/** Throws a `UserError` (exit 2) as `surveyInput` does, and if the state belongs to another account. */
export async function surveyed(run: Run, target: Target | undefined): Promise<Surveyed> {
  const { settings, mapping, state, output, halt, monitor, log, warn } = run;
  const db = beginPlan(state, output);
  run.atEnd(() => discardPlan(db, output));
  assertBound(db, mapping.migration, target);
  const isBehind = isOlder(db, state.file(PLAN_FILE));
  if (isBehind) {
    log.write('older_checkpoint');
    // What is damaged may look older, too.
    if (!settings.dryRun && !settings.adopt)
      throw findDamage() ?? new UserError(OLDER, { hint: OLDER_HINT, exitCode: EXIT.stopped });
    warn(OLDER);
  }
  const hasher = openFieldHasher(db, settings);
  if (isBehind || settings.adopt) {
    // The plan of a dry run is that of a run with --adopt, too, but the checkpoint stays as it is.
    if (settings.dryRun) copyCheckpoint(db, state);
    doubtRecords(db);
  }
  const account = target?.account ?? storedAccountOf(state);
  if (account && !target) monitor.connected?.(account, undefined);
  // For `--offline` and the sandbox.
  if (target) storeDocument(db, 'account', target.account);
  const agree = (found: string, hint: string): Promise<void> => confirm(run, found, hint);
  const contacts = await accountContacts({ settings, halt, monitor, db, mapping, target, hasher, agree });
  const survey = await surveyInput({ ...run, db, hasher, account, contacts, client: target?.client, agree });
  run.atEnd(() => survey.db.close());
  storeDocument(survey.db, 'mapping', await storedMapping(mapping, survey));
  storeDocument(survey.db, 'survey', {
    mapping: basename(mapping.file),
    migration: mapping.migration,
    base_url: target?.baseUrl ?? null,
    at: new Date().toISOString(),
    rate: target?.rate ?? settings.rate,
    allowed: target?.allowed,
    options: optionsToResume(process.argv),
    names: openNamesOf(survey.worksheet),
  });
  if (!halt.requested) monitor.surveyed?.(survey);
  return { survey, hasher };
}

const OLDER = 'checkpoint.db is older than plan.db beside it: an old copy was restored, or its -wal was deleted';
const OLDER_HINT =
  'restore the newest copy of the whole state directory, or continue with --adopt, which reads the records back from the service';

/** Asks whether to go on. Throws a `UserError` (exit 2) unless the user agrees, or has with --yes. */
async function confirm(run: Run, found: string, hint: string): Promise<void> {
  if (run.settings.yes || (await isAgreed(run, `${found}. Continue?`))) return;
  throw new UserError(found, { hint });
}

/** Whether the user answers yes. Throws a `UserError` with the exit code of a signal that comes instead of an answer. */
export async function isAgreed({ monitor, halt }: Run, question: string): Promise<boolean> {
  const isYes = (await monitor.confirm?.(question, halt.signal)) === true;
  halt.assertNotRequested();
  return isYes;
}
