import { UserError } from '../errors.ts';
import type { Account } from '../service/account.ts';
import type { Database } from '../store/sqlite.ts';

/** The migration and the account that a checkpoint belongs to. */
export interface Binding {
  readonly name: string;
  readonly base_url: string;
  /** JSON */
  readonly pipeline_ids: string;
}

/** Undefined if nothing has been sent yet. */
export function bindingOf(db: Database): Binding | undefined {
  return db.get<Binding>('select name, base_url, pipeline_ids from checkpoint.migration');
}

/** Throws a `UserError` if the checkpoint belongs to another migration, base URL or account. */
export function assertSameAccount(
  db: Database,
  target: { readonly baseUrl: string; readonly account: Account },
  migration?: string,
): void {
  const binding = bindingOf(db);
  if (!binding) return;
  const other = (what: string, theirs: string, ours: string): UserError =>
    new UserError(`the state directory belongs to another ${what}: ${theirs}, not ${ours}`, {
      hint: `use another state directory with --state DIR, or check that this is the right ${what}`,
    });
  if (migration !== undefined && binding.name !== migration) throw other('migration', binding.name, migration);
  if (binding.base_url !== target.baseUrl) throw other('base URL', binding.base_url, target.baseUrl);
  const known = JSON.parse(binding.pipeline_ids) as string[];
  if (known.length === 0 || target.account.pipelines.some(({ id }) => known.includes(id))) return;
  const theirs = `one with the pipelines ${known.join(', ')}`;
  throw other('account', theirs, 'the account of this API key, which has none of them');
}
