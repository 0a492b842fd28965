import type { HeaderLine } from './lines.ts';
import type { LoadedCheckpoint } from './load.ts';
import { UserError } from '../errors.ts';
import type { Mapping } from '../mapping/mapping.ts';
import type { Account } from '../service/account.ts';

/** What a checkpoint is bound to: one migration, into one account of one base URL. */
export function newHeader(mapping: Mapping, baseUrl: string, account: Account): HeaderLine {
  return {
    kind: 'header',
    version: 1,
    migration: mapping.migration,
    base_url: baseUrl,
    account: { pipeline_ids: account.pipelines.map(({ id }) => id), user_ids: account.users.map(({ id }) => id) },
    created_at: new Date().toISOString(),
  };
}

/** Throws a `UserError` unless the checkpoint is new or belongs to this migration, base URL and account. */
export function assertBound(
  checkpoint: Pick<LoadedCheckpoint, 'header' | 'wholeBytes'>,
  path: string,
  mapping: Mapping,
  target: { readonly baseUrl: string; readonly account: Account } | undefined,
): void {
  const { header, wholeBytes } = checkpoint;
  if (!header) {
    if (wholeBytes === 0) return;
    throw new UserError(`${path} has no header line that can be read`, {
      hint: 'restore the file from a backup; without its header nobody can tell which account it belongs to',
    });
  }
  const other = (what: string, theirs: string, ours: string): UserError =>
    new UserError(`the state directory belongs to another ${what}: ${theirs}, not ${ours}`, {
      hint: 'name another directory with --state DIR, or mend what you run against',
    });
  if (header.migration !== mapping.migration) throw other('migration', header.migration, mapping.migration);
  if (!target) return;
  if (header.base_url !== target.baseUrl) throw other('base URL', header.base_url, target.baseUrl);
  const known = header.account.pipeline_ids;
  if (known.length > 0 && !target.account.pipelines.some(({ id }) => known.includes(id))) {
    throw other(
      'account',
      `one with the pipelines ${known.join(', ')}`,
      `the one of this API key, which has none of them`,
    );
  }
}
