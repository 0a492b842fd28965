import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { UserError } from '../errors.ts';
import { loadMapping } from '../mapping/load.ts';
import { commandLine, commandOf, runOf } from '../settings/command-line.ts';
import type { RunSettings } from '../settings/run-settings.ts';
import { shortPath } from '../files/paths.ts';
import { StateDir, statePath } from '../files/state-dir.ts';
import { planIn } from '../store/stored-plans.ts';

/** The state directory of a mapping. With `--state` the mapping file is not read and need not exist. */
export async function existingState(options: OfState): Promise<StateDir> {
  if (options.state !== undefined) return StateDir.existing(resolve(options.state));
  if ((await stat(options.mapping).catch(() => undefined))?.isDirectory()) {
    throw new UserError(`${options.mapping} is a directory, not a mapping file`, {
      hint: 'give the mapping file; to give a state directory, use --state DIR',
    });
  }
  const mapping = await loadMapping(options.mapping, { sources: new Map() });
  const pathOf = (isRehearsal: boolean): string =>
    statePath({ mapping: options.mapping }, mapping, isRehearsal ? '.sandbox' : '');
  const path = pathOf(options.sandbox);
  const found = StateDir.find(path);
  if (found) return found;
  const isOther = StateDir.find(pathOf(!options.sandbox)) !== undefined;
  throw new UserError(`nothing has run yet for ${options.mapping}: there is no state directory ${shortPath(path)}`, {
    hint: isOther ? otherHint(options) : `start with: ${commandOf(process.argv, 'run', options.mapping, ...DRY)}`,
  });
}

type OfState = Pick<RunSettings, 'mapping' | 'state' | 'sandbox'>;

/** It works without credentials. */
const DRY = ['--dry-run', '--sandbox'];

/** The same command about the rehearsals, or about the account. */
function otherHint({ sandbox }: { readonly sandbox: boolean }): string {
  if (sandbox)
    return `no rehearsal has run, only the account was used: ${commandLine(process.argv, { without: ['--sandbox'] })}`;
  return `only rehearsals have run, in the sandbox: ${commandLine(process.argv, { and: ['--sandbox'] })}`;
}

/** What to do where there is nothing of the last run, or with `dryRun` of the last dry run. */
export function otherPlanHint(state: StateDir, settings: OfState & { readonly dryRun: boolean }): string {
  const { dryRun } = settings;
  if (!planIn(state, !dryRun)) return `create one, which sends nothing: ${runOf(settings, '--dry-run')}`;
  const [other, change] = dryRun ? ['run', { without: ['--dry-run'] }] : ['dry run', { and: ['--dry-run'] }];
  return `there is one of the last ${other}: ${commandLine(process.argv, change)}`;
}
