/**
 * The program in this process: its compiled code, with the network, the clock and the death of the process in our hands.
 * Nothing else of it is replaced.
 */
import fs, { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { Agent } from 'undici';
import type * as purging from '../../src/commands/purge.ts';
import type { Console } from '../../src/report/print/console.ts';
import type * as credentials from '../../src/settings/credentials.ts';
import type * as errors from '../../src/errors.ts';
import type * as halt from '../../src/halt.ts';
import type * as redact from '../../src/redact.ts';
import type { Summary } from '../../src/report/figures/summary.ts';
import type * as run from '../../src/run/run.ts';
import type * as settings from '../../src/settings/run-settings.ts';
import type * as checkpointSchema from '../../src/store/checkpoint-schema.ts';
import type { RecordStory } from '../../src/report/figures/story.ts';
import type * as story from '../../src/report/figures/story.ts';
import type { Status } from '../../src/report/figures/status.ts';
import type * as planFigures from '../../src/report/figures/plan-figures.ts';
import type * as status from '../../src/report/figures/status.ts';
import type { NamedRecord } from '../../src/settings/run-settings.ts';
import type { StateDir } from '../../src/files/state-dir.ts';
import type * as openState from '../../src/store/open.ts';
import type * as planSchema from '../../src/store/plan-schema.ts';
import type { Verification } from '../../src/report/figures/verification.ts';
import type * as verification from '../../src/commands/verify.ts';
import type { Exchange } from '../../src/service/exchange.ts';
import { Network, NO_FAULTS, type RequestOptions, type Weather } from './network.ts';
import { KEY, TOKEN, type Service } from './service.ts';
import { driveUntil } from './time.ts';

/** How a run is ended from outside, at the nth point where that can make a difference. */
export interface Ending {
  readonly kind: 'kill' | 'signal' | 'two signals' | 'disk full';
  /** Points are counted from the beginning of the run, from when it begins to send, or are only those at which a request arrives or has been processed. */
  readonly phase: 'survey' | 'sending' | 'requests';
  readonly at: number;
}

export interface RunSpec {
  /** Of the command line, as `runSettings` takes them. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly weather: Weather;
  readonly ending: Ending | undefined;
}

export type RunResult =
  | { readonly kind: 'ended'; readonly summary: Summary; readonly troubles: readonly string[] }
  /** A `UserError`: the run was not possible. */
  | { readonly kind: 'refused'; readonly message: string; readonly exitCode: number }
  | { readonly kind: 'killed' };

/** Thrown at every point after the process was killed. */
class Killed extends Error {
  override readonly name = 'Killed';
}

import type { Database } from '../../src/store/sqlite.ts';
type DatabaseClass = typeof Database;

export class Program {
  readonly #modules: Modules;
  /** The run that is going on. */
  #life: Life | undefined;
  /** Errors that nobody handled: in a process of its own, the program would have crashed. */
  #unhandled: unknown[] = [];

  private constructor(modules: Modules) {
    this.#modules = modules;
  }

  /** Loads the compiled program from a directory; only one per process. */
  static async load(root: string): Promise<Program> {
    const program = new Program(await modulesOf(root));
    program.#watchDatabase(program.#modules.Database);
    program.#watchFiles();
    process.on('unhandledRejection', (error) => {
      // What a killed process waits for ends with it.
      if (!(error instanceof Killed)) program.#unhandled.push(error);
    });
    Agent.prototype.dispatch = function dispatch(options, handler) {
      program.#life!.network.dispatch(options as RequestOptions, handler as Exchange);
      return true;
    };
    return program;
  }

  /** One run of the mapping file in `cwd`. Throws what is a bug of the program. */
  async run(service: Service, cwd: string, spec: RunSpec, random: () => number): Promise<RunResult> {
    const result = await this.#run(service, cwd, spec, random);
    const [error] = this.#unhandled.splice(0);
    if (error !== undefined && result.kind !== 'killed') throw new Error('nobody handled an error', { cause: error });
    return result;
  }

  async #run(service: Service, cwd: string, spec: RunSpec, random: () => number): Promise<RunResult> {
    const { runSettings, Redactor, runMigration, UserError } = this.#modules;
    const { life, halt } = this.#begin(service, cwd, spec, random);
    const troubles: string[] = [];
    const work = runMigration({
      settings: runSettings({ mapping: join(cwd, 'mapping.yaml'), yes: true, ...spec.options }),
      credentials: this.#credentials(),
      stateSuffix: '',
      halt,
      redactor: new Redactor(),
      monitor: { trouble: (message) => troubles.push(message) },
    });
    try {
      const { summary } = await driveUntil(work);
      if (life.isDead) return { kind: 'killed' };
      if (summary.exit.reason === 'bug') throw new Error(`the program reports a bug: ${halt.reason?.message}`);
      return { kind: 'ended', summary, troubles };
    } catch (error) {
      if (life.isDead) return { kind: 'killed' };
      if (error instanceof UserError) return { kind: 'refused', message: error.message, exitCode: error.exitCode };
      throw error;
    } finally {
      life.bury();
      this.#life = undefined;
    }
  }

  /** Reads all records back. Undefined if nothing was sent. */
  async verify(service: Service, cwd: string, random: () => number): Promise<Verification | undefined> {
    const { runSettings, verifyMigration, UserError } = this.#modules;
    const { life } = this.#begin(service, cwd, { weather: NO_FAULTS, ending: undefined }, random);
    const settings = { ...runSettings({ mapping: join(cwd, 'mapping.yaml') }), sample: 'all' } as const;
    try {
      return await driveUntil(verifyMigration({ settings, credentials: this.#credentials() }));
    } catch (error) {
      if (error instanceof UserError && error.message.startsWith('there is nothing to verify')) return undefined;
      throw error;
    } finally {
      life.bury();
      this.#life = undefined;
    }
  }

  async purge(cwd: string): Promise<void> {
    const silent = { say: () => undefined, complain: () => undefined } as unknown as Console;
    try {
      await driveUntil(this.#modules.purge({ mapping: join(cwd, 'mapping.yaml'), yes: true }, silent));
    } catch (error) {
      // All that the first run has left may be an empty directory.
      if (!(error instanceof this.#modules.UserError) || !error.message.includes('is not a state directory'))
        throw error;
    }
  }

  #begin(service: Service, cwd: string, spec: Pick<RunSpec, 'weather' | 'ending'>, random: () => number) {
    const { Halt, UserError, EXIT } = this.#modules;
    const halt = new Halt();
    const fullError = (path: string): Error =>
      new UserError(`cannot use ${path}: the disk is full`, { exitCode: EXIT.nothingSent });
    const life = new Life(join(cwd, '.backfill'), spec.ending, halt, fullError);
    life.network = new Network(service, spec.weather, random, () => life.request());
    this.#life = life;
    return { life, halt };
  }

  #credentials() {
    return this.#modules.credentials(undefined, {
      BACKFILL_BASE_URL: 'https://service.test',
      BACKFILL_API_KEY: KEY,
      BACKFILL_INGEST_TOKEN: TOKEN,
    });
  }

  /** What `status` and `explain` say now; undefined if there is no plan. */
  told(cwd: string): { readonly status: Status; readonly stories: readonly RecordStory[] } | undefined {
    const { PlanFigures, readState, readStatus, storyOf } = this.#modules;
    const output = { file: (name: string) => join(cwd, '.backfill/simulated', name) } as StateDir;
    if (!existsSync(output.file('plan.db'))) return undefined;
    const db = readState(output);
    try {
      const records = db.all<NamedRecord>(
        'select distinct entity, external_id as externalId from event where external_id is not null',
      );
      const plan = { output, isDryRun: false, at: new Date() };
      return {
        status: readStatus(new PlanFigures(db), { path: cwd, holder: undefined, now: new Date() }),
        stories: records.map((record) => storyOf(db, plan, record)),
      };
    } finally {
      db.close();
    }
  }

  /** What another process sees in a database of a state directory; undefined if there is none. */
  read<Found>(path: string, schema: 'plan' | 'checkpoint', query: (db: Database) => Found): Found | undefined {
    const { Database, PLAN, CHECKPOINT } = this.#modules;
    const db = Database.read(path, schema === 'plan' ? PLAN : CHECKPOINT);
    if (!db) return undefined;
    try {
      return query(db);
    } finally {
      db.close();
    }
  }

  #watchDatabase({ prototype }: DatabaseClass): void {
    const point = (db: Database, sql: string): void => this.#life?.statement(db, sql);
    const committed = (): void => this.#life?.point();
    /* eslint-disable-next-line @typescript-eslint/unbound-method -- each is called with `this` below */
    const { run, insert, get, all, exec } = prototype;
    Object.assign(prototype, {
      run(this: Database, sql: string, ...values: never[]) {
        point(this, sql);
        return run.call(this, sql, ...values);
      },
      insert(this: Database, sql: string, ...values: never[]) {
        point(this, sql);
        return insert.call(this, sql, ...values);
      },
      get(this: Database, sql: string, ...values: never[]) {
        point(this, '');
        return get.call(this, sql, ...values);
      },
      all(this: Database, sql: string, ...values: never[]) {
        point(this, '');
        return all.call(this, sql, ...values);
      },
      exec(this: Database, sql: string) {
        point(this, sql);
        exec.call(this, sql);
        if (sql === 'commit') committed();
      },
    });
  }

  /** Files are read and written at once, not by other threads: their order would differ from time to time. */
  #watchFiles(): void {
    const { renameSync, promises } = fs;
    Object.assign(fs, {
      renameSync: (from: string, to: string) => {
        this.#life?.point();
        renameSync(from, to);
      },
      createReadStream: (path: string) =>
        Readable.from(
          (function* () {
            yield fs.readFileSync(path);
          })(),
        ),
    });
    const names = ['lstat', 'mkdir', 'readdir', 'readFile', 'realpath', 'rename', 'rm', 'stat', 'unlink', 'writeFile'];
    for (const name of names) {
      Object.assign(promises, {
        [name]: async (...given: unknown[]) =>
          (fs as unknown as Record<string, (...given: unknown[]) => unknown>)[`${name}Sync`]!(...given),
      });
    }
    Object.assign(promises, {
      open: async (path: string, flags: number) => {
        const file = fs.openSync(path, flags);
        return {
          stat: async () => fs.fstatSync(file),
          readFile: async () => fs.readFileSync(file),
          read: async (buffer: Buffer, offset: number, length: number, at: number) => ({
            buffer,
            bytesRead: fs.readSync(file, buffer, offset, length, at),
          }),
          close: async () => fs.closeSync(file),
        };
      },
    });
    syncBuiltinESMExports();
  }
}

/** The process of one run. */
class Life {
  network!: Network;
  isDead = false;
  readonly #state: string;
  readonly #ending: Ending | undefined;
  readonly #halt: InstanceType<Modules['Halt']>;
  #isSending = false;
  #points = 0;
  #isBuried = false;
  /** Nothing can be committed any more. */
  #isFull = false;

  readonly #fullError: (path: string) => Error;

  constructor(
    state: string,
    ending: Ending | undefined,
    halt: InstanceType<Modules['Halt']>,
    fullError: (path: string) => Error,
  ) {
    this.#state = state;
    this.#ending = ending;
    this.#halt = halt;
    this.#fullError = fullError;
  }

  /** A statement that is about to be executed, or a commit that was; without text if it only reads. */
  statement(db: Database, sql: string): void {
    if (this.#isBuried) return;
    if (sql.includes('insert into checkpoint.run ')) this.#isSending = true;
    if (this.isDead) throw new Killed();
    if (sql === '') return;
    this.point();
    if (this.#isFull && sql === 'commit') throw this.#fullError(db.path);
  }

  /** A request arrives, or has been processed. */
  request(): void {
    if (this.#isSending) this.point(true);
  }

  point(isRequest = false): void {
    if (this.#isBuried) return;
    if (this.isDead) throw new Killed();
    const ending = this.#ending;
    if (!ending || (ending.phase !== 'survey' && !this.#isSending)) return;
    if (ending.phase === 'requests' && !isRequest) return;
    this.#points += 1;
    if (this.#points !== ending.at) return;
    if (ending.kind === 'disk full') {
      this.#isFull = true;
      return;
    }
    if (ending.kind === 'kill') this.#kill();
    this.#halt.request({ code: 'interrupted', message: 'interrupted', exitCode: 130 });
    if (ending.kind === 'two signals') this.#halt.abort();
  }

  /** What was committed is in the files, and what was not is gone: they are kept as they are at this moment. */
  #kill(): never {
    if (existsSync(this.#state)) cpSync(this.#state, this.#kept, { recursive: true });
    this.isDead = true;
    this.network.cut();
    this.#halt.request({ code: 'killed', message: 'killed', exitCode: 130 });
    this.#halt.abort();
    throw new Killed();
  }

  /** What the dying process still did is undone. */
  bury(): void {
    this.#isBuried = true;
    this.network.end();
    if (!this.isDead) return;
    rmSync(this.#state, { recursive: true, force: true });
    if (existsSync(this.#kept)) renameSync(this.#kept, this.#state);
  }

  get #kept(): string {
    return `${this.#state}.kept`;
  }
}

interface Modules
  extends
    Pick<typeof run, 'runMigration'>,
    Pick<typeof verification, 'verifyMigration'>,
    Pick<typeof story, 'storyOf'>,
    Pick<typeof status, 'readStatus'>,
    Pick<typeof planFigures, 'PlanFigures'>,
    Pick<typeof openState, 'readState'>,
    Pick<typeof settings, 'runSettings'>,
    Pick<typeof credentials, 'credentials'>,
    Pick<typeof halt, 'Halt'>,
    Pick<typeof redact, 'Redactor'>,
    Pick<typeof errors, 'UserError' | 'EXIT'>,
    Pick<typeof planSchema, 'PLAN'>,
    Pick<typeof checkpointSchema, 'CHECKPOINT'> {
  readonly Database: DatabaseClass;
  readonly purge: typeof purging.handler;
}

/** Those that the program loads when it needs them, which would happen in real time. */
const LOADED_LATER = [
  'service/client',
  'service/limiter',
  'service/directory',
  'send/send',
  'input/csv/csv',
  'commands/verify',
];

const USED = [
  'run/run',
  'settings/run-settings',
  'settings/credentials',
  'halt',
  'redact',
  'errors',
  'store/sqlite',
  'store/plan-schema',
  'store/checkpoint-schema',
  'store/open',
  'report/figures/status',
  'report/figures/plan-figures',
  'report/figures/story',
];

async function modulesOf(root: string): Promise<Modules> {
  const load = (name: string) => import(pathToFileURL(join(root, `${name}.js`)).href) as Promise<object>;
  const found = await Promise.all([...USED, ...LOADED_LATER].map(load));
  // Other commands have a handler, too.
  const { handler: purge } = (await load('commands/purge')) as typeof purging;
  return Object.assign({}, ...found, { purge }) as Modules;
}
