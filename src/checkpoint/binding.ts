import { UserError } from '../errors.ts';
import type { Account } from '../service/account.ts';
import type { HeaderLine } from './lines.ts';
import type { LoadedCheckpoint } from './load.ts';

/** The header that binds a new checkpoint to one migration into one account of one base URL. */
export function newHeader(migration: string, baseUrl: string, account: Account): HeaderLine {
  return {
    kind: 'header',
    version: 1,
    migration,
    base_url: baseUrl,
    account: { pipeline_ids: account.pipelines.map(({ id }) => id), user_ids: account.users.map(({ id }) => id) },
    created_at: new Date().toISOString(),
  };
}

/** Throws a `UserError` unless the checkpoint is new or belongs to this migration, base URL and account. */
export function assertBound(
  { header, wholeBytes }: Pick<LoadedCheckpoint, 'header' | 'wholeBytes'>,
  path: string,
  migration: string,
  target: { readonly baseUrl: string; readonly account: Account } | undefined,
): void {
  if (!header) {
    if (wholeBytes === 0) return;
    throw new UserError(`${path} has no header line`, {
      hint: 'restore the file from a backup: the header says which account the checkpoint belongs to',
    });
  }
  const other = (what: string, theirs: string, ours: string): UserError =>
    new UserError(`the state directory belongs to another ${what}: ${theirs}, not ${ours}`, {
      hint: `use another state directory with --state DIR, or check that this is the right ${what}`,
    });
  if (header.migration !== migration) throw other('migration', header.migration, migration);
  if (!target) return;
  if (header.base_url !== target.baseUrl) throw other('base URL', header.base_url, target.baseUrl);
  const known = header.account.pipeline_ids;
  if (known.length > 0 && !target.account.pipelines.some(({ id }) => known.includes(id))) {
    throw other(
      'account',
      `one with the pipelines ${known.join(', ')}`,
      'the account of this API key, which has none of them',
    );
  }
}
