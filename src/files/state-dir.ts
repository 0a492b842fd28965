import { opendirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { codeOf, EXIT, messageOf, UserError } from '../errors.ts';
import { isThere, makePrivate } from './private-file.ts';

/** Where a dry run writes, inside the state directory. */
export const DRY_RUN = 'dry-run';

/** The state directory of a mapping: beside the mapping file, unless `--state` names another. */
export function statePath(
  settings: { readonly mapping: string; readonly state?: string | undefined },
  mapping: { readonly migration: string },
  suffix: string,
): string {
  if (settings.state !== undefined) return resolve(settings.state);
  return join(dirname(resolve(settings.mapping)), '.backfill', `${mapping.migration}${suffix}`);
}

/** The state directory of a migration, with mode 0700; its files have mode 0600. */
export class StateDir {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Creates the directory, or closes it to others. Throws a `UserError`. */
  static async create(path: string): Promise<StateDir> {
    return new StateDir(made(path, { inside: false }));
  }

  /** The state directory that a run left; undefined if there is none. Throws a `UserError` if that is not known. */
  static find(path: string): StateDir | undefined {
    if (!isThere(path) || !statSync(path).isDirectory()) return undefined;
    try {
      opendirSync(path).closeSync();
      statSync(join(path, '.'));
    } catch (error) {
      throw new UserError(`cannot use the state directory ${path}: ${messageOf(error)}`, {
        hint: `it belongs to another user (uid ${statSync(path).uid}): run as that user, or change the owner of all of it`,
        cause: error,
      });
    }
    return new StateDir(path);
  }

  /** The state directory that a run left; throws a `UserError` if there is none. */
  static async existing(path: string): Promise<StateDir> {
    const found = StateDir.find(path);
    if (found) return found;
    throw new UserError(`there is no state directory ${path}`, {
      hint: 'run the migration first, or give its state directory with --state DIR',
    });
  }

  file(name: string): string {
    return join(this.path, name);
  }

  /** A directory in this one, which is created if needed. Throws a `UserError`. */
  async directory(name: string): Promise<StateDir> {
    return new StateDir(made(this.file(name), { inside: true }));
  }
}

/** The state directory, or the checkpoint in it, was deleted or moved during a run. */
export class StateRemoved extends UserError {
  constructor(path: string) {
    super(`${path} was removed during the run`, {
      hint:
        'if it was moved, put it back and rerun. If it is lost, rerun with --adopt: the service recognises every event ' +
        'that it has processed, so none is created twice',
      exitCode: EXIT.stopped,
    });
  }
}

/** `run.lock` was removed or replaced while this run held it: another run could begin beside it. */
export class LockRemoved extends UserError {
  constructor(path: string) {
    super(`${path} was removed while this run held it, so another run may use the state directory`, {
      hint: 'check with `status` that no other run is active, then rerun. Never remove the lock: it ends with its process',
      exitCode: EXIT.stopped,
    });
  }
}

function made(path: string, options: { inside: boolean }): string {
  try {
    makePrivate(path, options);
    return path;
  } catch (error) {
    const isFile = codeOf(error) === 'EEXIST' || codeOf(error) === 'ENOTDIR';
    throw new UserError(`cannot create the state directory ${path}: ${messageOf(error)}`, {
      hint: `${isFile ? 'move the file that has this name' : 'check the permissions and the owner'}, or choose another directory with --state DIR`,
      cause: error,
    });
  }
}
