import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { UserError } from '../errors.ts';
import { loadMapping } from '../mapping/load.ts';
import type { RunSettings } from '../settings/run-settings.ts';
import { storedAccount, type StoredAccount } from '../service/account.ts';
import { StateDir, statePath } from '../files/state-dir.ts';
import type { Database } from '../store/sqlite.ts';

/** The state directory of a mapping. With `--state` the mapping file is not read and need not exist. */
export async function existingState(options: Pick<RunSettings, 'mapping' | 'state' | 'sandbox'>): Promise<StateDir> {
  if (options.state !== undefined) return StateDir.existing(resolve(options.state));
  if ((await stat(options.mapping).catch(() => undefined))?.isDirectory()) {
    throw new UserError(`${options.mapping} is a directory, not a mapping file`, {
      hint: 'give the mapping file; to give a state directory, use --state DIR',
    });
  }
  const mapping = await loadMapping(options.mapping, { sources: new Map() });
  return StateDir.existing(statePath({ mapping: options.mapping }, mapping, options.sandbox ? '.sandbox' : ''));
}

/** The account that the survey of a plan read; undefined if it read none. */
export function accountIn(plan: Database): StoredAccount | undefined {
  const found = plan.get<{ content: string }>(`select content from document where name = 'account'`);
  return found && storedAccount.safeParse(JSON.parse(found.content)).data;
}
