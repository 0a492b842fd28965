import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { UserError } from '../errors.ts';
import { commandLine, runOf } from '../settings/command-line.ts';
import { commandOf } from '../settings/program.ts';
import type { RunSettings } from '../settings/run-settings.ts';
import { shortPath } from '../files/paths.ts';
import { StateDir, statePath } from '../files/state-dir.ts';
import { planIn } from '../store/stored-plans.ts';
import { purge, verify } from './definitions.ts';

/** The name of a migration as nearly all mappings have it: in a line of its own, without quotes. */
const NAME = /^migration: *([\w-]+)\s*$/m;

/**
 * The state directory of a mapping. With `--state` the mapping file is not read and need not exist. Where its directory is found by the
 * name of the migration alone, it is not checked either: that takes longer than most of what is asked of a state directory.
 */
export async function existingState(options: OfState | OfAccount): Promise<StateDir> {
  const { mapping, sandbox } = options;
  if (options.state !== undefined) return StateDir.existing(resolve(options.state));
  const stats = await stat(mapping).catch(() => undefined);
  if (stats?.isDirectory()) {
    throw new UserError(`${mapping} is a directory, not a mapping file`, {
      hint: 'give the mapping file; to give a state directory, use --state DIR',
    });
  }
  const pathOf = (migration: string, isRehearsal = sandbox): string =>
    statePath({ mapping }, { migration }, isRehearsal === true ? '.sandbox' : '');
  const name = stats?.isFile() ? NAME.exec(await readFile(mapping, 'utf8').catch(() => ''))?.[1] : undefined;
  const named = name === undefined ? undefined : StateDir.find(pathOf(name));
  if (named) return named;
  const { loadMapping } = await import('../mapping/load.ts');
  const { migration } = await loadMapping(mapping);
  const found = StateDir.find(pathOf(migration));
  if (found) return found;
  if (sandbox === undefined) {
    throw new UserError(`no run or dry run has read the account for ${mapping} yet`, {
      hint: `a dry run with access to the service stores it: ${runOf({ mapping, sandbox: false }, '--dry-run')}`,
    });
  }
  const isOther = StateDir.find(pathOf(migration, !sandbox)) !== undefined;
  throw new UserError(
    `nothing has run yet for ${mapping}: there is no state directory ${shortPath(pathOf(migration))}`,
    {
      hint: isOther ? otherHint(options) : `start with: ${commandOf(process.argv, 'run', mapping, ...DRY)}`,
    },
  );
}

type OfState = Pick<RunSettings, 'mapping' | 'state' | 'sandbox'>;
/** For what only runs against the account leave there. */
type OfAccount = Omit<OfState, 'sandbox'> & { readonly sandbox: undefined };

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

/** The names of the options of a command that follows a run. */
export function optionsOf(command: 'verify' | 'purge'): readonly string[] {
  return Object.keys({ verify, purge }[command].options);
}
