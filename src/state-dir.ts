import { mkdir, readFile, rename, stat, unlink, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { createServer, type Server } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { cannotWrite } from './append-log.ts';
import { codeOf, EXIT, messageOf, UserError } from './errors.ts';

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

  static async create(path: string): Promise<StateDir> {
    try {
      await mkdir(path, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw new UserError(`cannot create the state directory ${path}: ${messageOf(error)}`, {
        hint: 'check the permissions, or choose another directory with --state DIR',
        cause: error,
      });
    }
    return new StateDir(path);
  }

  /** The state directory that a run left; throws a `UserError` if there is none. */
  static async existing(path: string): Promise<StateDir> {
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory()) return new StateDir(path);
    throw new UserError(`there is no state directory ${path}`, {
      hint: 'run the migration first, or give its state directory with --state DIR',
    });
  }

  file(name: string): string {
    return join(this.path, name);
  }
}

/** Replaces a file atomically: readers see either the old content or the new. Throws a `UserError`. */
export async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${path}.tmp`;
  try {
    await writeFile(temporary, content, { mode: 0o600 });
    await rename(temporary, path);
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

/** The process that holds a lock, and since when. */
export interface LockHolder {
  readonly host: string;
  readonly pid: number;
  readonly at: string;
}

/**
 * Ensures that one run at a time uses a state directory. On Linux the lock is an abstract socket, which the kernel frees as
 * soon as its holder dies; elsewhere it is the process in `lock.json`. That file also names a holder on another machine,
 * whose lock is taken over only with `--take-over`.
 */
export class Lock {
  readonly #path: string;
  readonly #server: Server | undefined;

  private constructor(path: string, server: Server | undefined) {
    this.#path = path;
    this.#server = server;
  }

  static async acquire(state: StateDir, options: { takeOver: boolean }): Promise<Lock> {
    const path = state.file('lock.json');
    const holder = await readHolder(path);
    if (holder && holder.host !== hostname() && !options.takeOver) {
      throw inUse(`${holder.host} (since ${holder.at})`, 'if that run has ended, take over its lock with --take-over');
    }
    const server = process.platform === 'linux' ? await listen(await socketName(state.path)) : undefined;
    if (process.platform === 'linux' ? !server : holder?.host === hostname() && isAlive(holder.pid)) {
      throw inUse(
        holder ? `process ${holder.pid} (since ${holder.at})` : 'another run',
        'wait until it ends, or stop it',
      );
    }
    const mine: LockHolder = { host: hostname(), pid: process.pid, at: new Date().toISOString() };
    await writeWhole(path, `${JSON.stringify(mine)}\n`);
    return new Lock(path, server);
  }

  async release(): Promise<void> {
    await unlink(this.#path).catch(() => undefined);
    await new Promise<void>((resolve) => (this.#server ? this.#server.close(() => resolve()) : resolve()));
  }
}

/** The run that currently holds the lock, if any. Does not acquire it, so that a run can start at the same time. */
export async function lockHolder(state: StateDir): Promise<LockHolder | undefined> {
  const holder = await readHolder(state.file('lock.json'));
  if (process.platform !== 'linux') {
    return holder && (holder.host !== hostname() || isAlive(holder.pid)) ? holder : undefined;
  }
  const name = `@${(await socketName(state.path)).slice(1)}`;
  const sockets = await readFile('/proc/net/unix', 'utf8').catch(() => '');
  return sockets.includes(name) || holder?.host !== hostname() ? holder : undefined;
}

function inUse(by: string, hint: string): UserError {
  return new UserError(`the state directory is in use by ${by}`, { hint, exitCode: EXIT.stopped });
}

async function readHolder(path: string): Promise<LockHolder | undefined> {
  try {
    const holder = JSON.parse(await readFile(path, 'utf8')) as Partial<LockHolder>;
    if (typeof holder.host !== 'string' || typeof holder.pid !== 'number') return undefined;
    return { host: holder.host, pid: holder.pid, at: String(holder.at) };
  } catch {
    return undefined;
  }
}

/** Derived from the inode: a directory has one name, whichever path leads to it. */
async function socketName(path: string): Promise<string> {
  const { dev, ino } = await stat(path, { bigint: true });
  return `\0crm-backfill-${createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 32)}`;
}

function listen(name: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error) => (codeOf(error) === 'EADDRINUSE' ? resolve(undefined) : reject(error)));
    server.listen(name, () => {
      server.unref();
      resolve(server);
    });
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}
