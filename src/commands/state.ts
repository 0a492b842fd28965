import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { UserError } from '../errors.ts';
import { loadMapping } from '../mapping/load.ts';
import type { RunSettings } from '../settings.ts';
import { StateDir, statePath } from '../state-dir.ts';

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
