import { UserError } from '../errors.ts';
import type { Account } from '../service/account.ts';
import type { StateDir } from '../files/state-dir.ts';
import { CHECKPOINT, CHECKPOINT_FILE } from './checkpoint-schema.ts';
import { FieldHasher } from './field-hashes.ts';
import { readSetting, storeSetting } from './setting.ts';
import { Database } from './sqlite.ts';

/** Opens the checkpoint of a state directory, or creates it. Throws a `UserError`; damage is found by `checkWhole`. */
export function openCheckpoint(state: StateDir): Database {
  const db = Database.open(state.file(CHECKPOINT_FILE), CHECKPOINT);
  db.exec('pragma checkpoint.journal_mode = wal; pragma checkpoint.synchronous = full');
  return db;
}

interface Binding {
  readonly name: string;
  readonly base_url: string;
  readonly pipeline_ids: string;
  /** ISO 8601: before the first event was sent. */
  readonly created_at: string;
}

/** The account to which the attached checkpoint belongs; undefined if nothing was sent. */
export function bindingOf(db: Database): Binding | undefined {
  return db.get<Binding>('select name, base_url, pipeline_ids, created_at from checkpoint.migration');
}

/** The same of the checkpoint in a state directory, which another process may be writing. */
export function storedBinding(state: StateDir): Binding | undefined {
  return Database.ask(state.file(CHECKPOINT_FILE), CHECKPOINT, bindingOf);
}

/** Throws a `UserError` unless the checkpoint is new or belongs to this migration, base URL and account. */
export function assertBound(
  db: Database,
  migration: string,
  target: { readonly baseUrl: string; readonly account: Account } | undefined,
): void {
  const binding = bindingOf(db);
  if (!binding) return;
  const other = (what: string, theirs: string, ours: string): UserError =>
    new UserError(`the state directory belongs to another ${what}: ${theirs}, not ${ours}`, {
      hint: `use another state directory with --state DIR, or check that this is the right ${what}`,
    });
  if (binding.name !== migration) throw other('migration', binding.name, migration);
  if (!target) return;
  if (binding.base_url !== target.baseUrl) throw other('base URL', binding.base_url, target.baseUrl);
  const known = JSON.parse(binding.pipeline_ids) as string[];
  if (known.length > 0 && !target.account.pipelines.some(({ id }) => known.includes(id))) {
    throw other(
      'account',
      `one with the pipelines ${known.join(', ')}`,
      'the account of this API key, which has none of them',
    );
  }
}

/** Why a run sends nothing, since when, when it goes on, and when it gives up (ISO 8601), if that is known. */
export interface RunWait {
  readonly reason: string;
  readonly since: string;
  /** What came last instead of an answer. */
  readonly because: string | null;
  readonly next_at: string | null;
  readonly gives_up_at: string | null;
}

/** Says in the last run of the checkpoint what it waits for; undefined once it sends again or has ended. */
export function noteWait(db: Database, wait: RunWait | undefined): void {
  db.run(
    'update checkpoint.run set waits = ? where id = (select max(id) from checkpoint.run)',
    wait ? JSON.stringify(wait) : null,
  );
}

/** The reason why the run that holds the lock waits. A row of a killed run does not count. */
export function readWait(db: Database): RunWait | undefined {
  const row = db.get<{ waits: string | null }>(`
    select waits from checkpoint.run
    where id = (select max(id) from checkpoint.run) and at >= (select at from checkpoint.holder)`);
  return row?.waits ? (JSON.parse(row.waits) as RunWait) : undefined;
}

/** Events of the last run whose last request got no definite answer, other than those that it gave up. */
export function countUnanswered(db: Database): number {
  return db.get<{ count: number }>(`
    select count(distinct entity || ' ' || external_id) as count from checkpoint.request
    where status = 'open' and settled_at is null and run = (select max(id) from checkpoint.run)`)!.count;
}

/** The key of the checkpoint's hashes; undefined if nothing was sent, and after `purge`. */
export function fieldKeyOf(db: Database): string | undefined {
  return readSetting(db, FIELD_KEY, 'checkpoint');
}

const FIELD_KEY = 'field_key';

/**
 * Hashes fields with the key of the checkpoint, or else with that of the last dry run, or else with a new one, which a run
 * stores in the checkpoint and a dry run in its plan.
 */
export function openFieldHasher(db: Database, options: { readonly dryRun: boolean }): FieldHasher {
  const stored = fieldKeyOf(db) ?? readSetting(db, FIELD_KEY, 'plan');
  const hasher = stored === undefined ? FieldHasher.random() : new FieldHasher(stored);
  const of = options.dryRun ? 'plan' : 'checkpoint';
  if (readSetting(db, FIELD_KEY, of) === undefined) storeSetting(db, FIELD_KEY, hasher.key, of);
  return hasher;
}
