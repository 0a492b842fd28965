import { createHash, randomUUID } from 'node:crypto';
import { link, lutimes, readFile, readlink, stat, unlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { systemClock, type Clock } from './clock.ts';
import { codeOf, EXIT, UserError } from './errors.ts';
import { STOPPED, type Halt } from './halt.ts';
import { openRegular } from './private-file.ts';
import { StateRemoved, writeWhole, type StateDir } from './state-dir.ts';

export const LOCK_FILE = 'lock.json';

/** The process that holds a lock, and since when. */
export interface LockHolder {
  readonly host: string;
  readonly pid: number;
  readonly at: string;
}

/** The content of `lock.json`. */
interface LockFile extends LockHolder {
  /** Random. Without it, the lock is from a version that does not refresh it. */
  readonly id: string | undefined;
  /** `socketSpace` of the holder: where its socket can be seen. */
  readonly space: string | undefined;
  /** When it was refreshed, as the file system says: only compared with itself. */
  readonly refreshedAt: number;
}

export interface LockOptions {
  /** Take the lock at once from a holder that cannot be seen from here. */
  readonly takeOver: boolean;
  /** Requested when another run has taken the lock; while waiting for a lock, a request ends the wait. */
  readonly halt?: Halt;
  /** Called with a message if the lock has to be watched first. */
  readonly notify?: ((message: string) => void) | undefined;
  readonly clock?: Clock;
}

const REFRESH_MS = 5_000;
/** A lock that is not refreshed for this long is free. */
const ABANDONED_MS = 30_000;
/** Longer than a holder needs to notice that its lock was taken. */
const SETTLE_MS = REFRESH_MS + 1_000;
const LOOK_MS = 1_000;

/**
 * Ensures that one run at a time uses a state directory, also between machines and containers that share it. `lock.json`
 * names the holder by a random id, and the holder refreshes its modification time. Whether a holder still lives is decided
 *
 * - on Linux, for a holder in the same network namespace: by an abstract socket, which the kernel frees when it dies;
 * - elsewhere, for a process of this host that no longer exists: at once;
 * - for any other holder (another machine, another container, even under the same host name and process id): by watching
 *   whether the lock is refreshed. No clocks are compared.
 */
export class Lock {
  readonly #path: string;
  readonly #id = randomUUID();
  readonly #server: Server | undefined;
  readonly #space: string | undefined;
  readonly #options: LockOptions;
  readonly #clock: Clock;
  #stopRefreshing: () => void = () => undefined;
  #confirmedAt = -Infinity;

  private constructor(path: string, server: Server | undefined, space: string | undefined, options: LockOptions) {
    this.#path = path;
    this.#server = server;
    this.#space = space;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** Throws a `UserError` (exit 3) if another run holds the lock. */
  static async acquire(state: StateDir, options: LockOptions): Promise<Lock> {
    const path = state.file(LOCK_FILE);
    const server = process.platform === 'linux' ? await listen(await socketName(state.path)) : undefined;
    if (process.platform === 'linux' && !server) throw inUse(await readLock(path));
    const lock = new Lock(path, server, server && (await socketSpace(state.path)), options);
    try {
      await lock.#take();
    } catch (error) {
      await lock.#closeSocket();
      throw error;
    }
    lock.#confirmedAt = lock.#clock.uptime();
    lock.#stopRefreshing = lock.#clock.every(REFRESH_MS, () => void lock.#refresh().catch(() => undefined));
    return lock;
  }

  /**
   * Throws a `UserError` (exit 3) if another run has taken the lock, which happens when this machine or process was
   * suspended. To be awaited before each request that two runs must not both send.
   */
  async confirm(): Promise<void> {
    if (this.#clock.uptime() - this.#confirmedAt > 2 * REFRESH_MS) await this.#refresh();
  }

  async release(): Promise<void> {
    this.#stopRefreshing();
    const current = await readLock(this.#path).catch(() => undefined);
    if (isOf(current, this.#id)) await unlink(this.#path).catch(() => undefined);
    await this.#closeSocket();
  }

  async #take(): Promise<void> {
    for (;;) {
      const other = await readLock(this.#path);
      if (other === 'damaged') return this.#write();
      if (other === undefined) {
        if (await this.#create()) return;
        continue;
      }
      if (this.#isDead(other)) return this.#write();
      if (!this.#options.takeOver && (await this.#watch(other)) === 'released') continue;
      await this.#write();
      // Of several that take it at the same time, the last one has it.
      await this.#clock.sleep(SETTLE_MS, this.#options.halt?.signal);
      const now = await readLock(this.#path);
      if (!isOf(now, this.#id)) throw inUse(now);
      return;
    }
  }

  #isDead(other: LockFile): boolean {
    if (this.#space !== undefined) return other.space === this.#space;
    return process.platform !== 'linux' && other.host === hostname() && !isAlive(other.pid);
  }

  /** Whether the holder released its lock or left it. Throws if it is alive. */
  async #watch(other: LockFile): Promise<'released' | 'abandoned'> {
    const { halt, notify } = this.#options;
    if (other.id === undefined) throw inUse(other, 'if that run has ended, take over its lock with --take-over');
    notify?.(
      `the state directory is locked by ${shown(other)}; if that run does not refresh its lock within ` +
        `${ABANDONED_MS / 1000} seconds, this run takes it over`,
    );
    const began = this.#clock.monotonic();
    while (this.#clock.monotonic() - began < ABANDONED_MS) {
      await this.#clock.sleep(LOOK_MS, halt?.signal);
      if (halt?.reason) throw new UserError(halt.reason.message, { exitCode: halt.reason.exitCode });
      const now = await readLock(this.#path);
      if (now === undefined) return 'released';
      if (now === 'damaged' || now.id !== other.id || now.refreshedAt !== other.refreshedAt) throw inUse(now);
    }
    return 'abandoned';
  }

  #write(): Promise<void> {
    return writeWhole(this.#path, this.#content());
  }

  /** Atomic: false if there is a lock already. */
  async #create(): Promise<boolean> {
    const temporary = `${this.#path}.${this.#id}`;
    try {
      await writeFile(temporary, this.#content(), { mode: 0o600, flag: 'wx' });
      await link(temporary, this.#path);
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      // Not every file system has links.
      await this.#write();
      return true;
    } finally {
      await unlink(temporary).catch(() => undefined);
    }
  }

  #content(): string {
    const mine = { host: hostname(), pid: process.pid, at: new Date().toISOString(), id: this.#id, space: this.#space };
    return `${JSON.stringify(mine)}\n`;
  }

  async #refresh(): Promise<void> {
    const at = this.#clock.uptime();
    const now = await readLock(this.#path);
    if (!isOf(now, this.#id)) {
      this.#stopRefreshing();
      const directory = dirname(this.#path);
      const isRemoved = now === undefined && !(await stat(directory).catch(() => undefined));
      const lost = isRemoved ? new StateRemoved(directory) : takenBy(now);
      const { message, hint, exitCode } = lost;
      const code = isRemoved ? STOPPED.stateRemoved : STOPPED.lockLost;
      this.#options.halt?.request({ code, message, hint, exitCode });
      throw lost;
    }
    const date = new Date();
    await lutimes(this.#path, date, date);
    this.#confirmedAt = at;
  }

  async #closeSocket(): Promise<void> {
    await new Promise<void>((resolve) => (this.#server ? this.#server.close(() => resolve()) : resolve()));
  }
}

/** The run that currently holds the lock, if any. Does not acquire it, so that a run can start at the same time. */
export async function lockHolder(state: StateDir): Promise<LockHolder | undefined> {
  const lock = await readLock(state.file(LOCK_FILE));
  if (lock === undefined || lock === 'damaged') return undefined;
  const { host, pid, at } = lock;
  return (await isHeld(lock, state)) ? { host, pid, at } : undefined;
}

/** For display: here the refreshing is judged by the clock of this machine. */
async function isHeld(lock: LockFile, state: StateDir): Promise<boolean> {
  const space = process.platform === 'linux' ? await socketSpace(state.path) : undefined;
  if (space !== undefined && lock.space === space) {
    const name = `@${(await socketName(state.path)).slice(1)}`;
    return (await readFile('/proc/net/unix', 'utf8').catch(() => '')).includes(name);
  }
  if (process.platform !== 'linux' && lock.host === hostname() && !isAlive(lock.pid)) return false;
  return lock.id === undefined || Date.now() - lock.refreshedAt < ABANDONED_MS;
}

type FoundLock = LockFile | 'damaged' | undefined;

function isOf(lock: FoundLock, id: string): boolean {
  return lock !== undefined && lock !== 'damaged' && lock.id === id;
}

function inUse(lock: FoundLock, hint = 'wait until it ends, or stop it'): UserError {
  const by = lock === undefined || lock === 'damaged' ? 'another run' : shown(lock);
  return new UserError(`the state directory is in use by ${by}`, { hint, exitCode: EXIT.stopped });
}

function shown({ host, pid, at }: LockHolder): string {
  return `process ${pid}${host === hostname() ? '' : ` on ${host}`} (since ${at})`;
}

function takenBy(lock: FoundLock): UserError {
  const message =
    lock === undefined || lock === 'damaged'
      ? 'the lock of this run was removed from the state directory'
      : `the state directory was taken over by ${shown(lock)}, because this run did not refresh its lock`;
  const hint = 'nothing that was acknowledged is lost; rerun when no other run uses the state directory';
  return new UserError(message, { hint, exitCode: EXIT.stopped });
}

/** Whether this program has locked the directory, now or before a kill. */
export async function hasLock(state: StateDir): Promise<boolean> {
  return typeof (await readLock(state.file(LOCK_FILE)).catch(() => undefined)) === 'object';
}

/** Throws if the file exists but cannot be read now. */
async function readLock(path: string): Promise<FoundLock> {
  try {
    const file = await openRegular(path);
    const [{ mtimeMs }, text] = await Promise.all([file.stat(), file.readFile('utf8')]).finally(() => file.close());
    const lock = JSON.parse(text) as Partial<Record<keyof LockFile, unknown>> | null;
    const { host, pid, at, id, space } = lock ?? {};
    if (typeof host !== 'string' || typeof pid !== 'number') return 'damaged';
    return { host, pid, at: String(at), id: textOf(id), space: textOf(space), refreshedAt: mtimeMs };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    if (error instanceof SyntaxError) return 'damaged';
    throw error;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Derived from the inode: a directory has one name, whichever path leads to it. */
async function socketName(path: string): Promise<string> {
  const { dev, ino } = await stat(path, { bigint: true });
  return `\0crm-backfill-${createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 32)}`;
}

/**
 * Identifies where the socket of a state directory can be seen: this boot, this network namespace, and its name.
 * Undefined if the system does not say.
 */
async function socketSpace(path: string): Promise<string | undefined> {
  try {
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
    const parts = [boot.trim(), await readlink('/proc/self/ns/net'), await socketName(path)];
    return createHash('sha256').update(parts.join(' ')).digest('hex').slice(0, 32);
  } catch {
    return undefined;
  }
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
