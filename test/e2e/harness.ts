/** Runs the built program against a real sandbox over HTTP, in a separate directory. */
import { spawn, type ChildProcess } from 'node:child_process';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { temporaryDirectory } from '../directory.ts';
import type { Summary } from '../../src/report/figures/summary.ts';
import type { Profile } from '../../src/survey/profile/notes.ts';
import type { Sandbox } from '../../src/sandbox/index.ts';
import { StateDir } from '../../src/files/state-dir.ts';
import { readState } from '../../src/store/open.ts';
import type { FaultRule } from '../sandbox/fault-plan.ts';
import { startFaulty, type FaultyOptions, type FaultySandbox } from '../sandbox/faults.ts';
import { CLI, inProcess, type Ended } from '../program.ts';

export { CLI, type Ended };
export const FIXTURES = fileURLToPath(new URL('../../fixtures/', import.meta.url));

/** A temporary directory that is removed after the test; `from`: a folder of fixtures to copy into it. */
export async function workspace(from?: string): Promise<string> {
  const directory = temporaryDirectory();
  if (from) await cp(join(FIXTURES, from), directory, { recursive: true });
  return directory;
}

export async function sandbox(options: FaultyOptions = {}): Promise<FaultySandbox> {
  const running = await startFaulty({ rate: { requests: 100_000, seconds: 1 }, ...options });
  onTestFinished(() => running.close());
  return running;
}

/** The environment in which a run uses this sandbox as the service. */
export function environmentOf(service: Sandbox): Record<string, string> {
  return {
    BACKFILL_BASE_URL: service.baseUrl,
    BACKFILL_API_KEY: service.apiKey.reveal(),
    BACKFILL_INGEST_TOKEN: service.ingestToken.reveal(),
  };
}

/** Where a command runs, and all of its environment. */
export interface Place {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The folder of another copy of the program. */
  readonly dist?: string;
  /** In place of collecting what is printed. */
  readonly stdout?: Writable;
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command in this process. Working directory, environment and command line are those of the process, so it begins when
 * the one before has ended; commands at the same time need `start`, as do variables that Node reads when it starts.
 */
export function backfill(args: readonly string[], place: Place): Promise<Ended> {
  const ended = last.then(() => runIn(place, args));
  last = ended.catch(() => undefined);
  return ended;
}

async function runIn({ cwd, env = {}, dist, stdout }: Place, args: readonly string[]): Promise<Ended> {
  if (Object.keys(env).some((name) => name.startsWith('NODE_')))
    throw new Error('Node reads `NODE_*` at its start only');
  const before = { cwd: process.cwd(), env: { ...process.env }, argv: process.argv };
  try {
    process.chdir(cwd);
    setEnvironment({ PATH: process.env.PATH, HOME: cwd, ...env });
    process.argv = [process.execPath, CLI, ...args];
    return await inProcess(args, { dist, stdout });
  } finally {
    process.chdir(before.cwd);
    setEnvironment(before.env);
    process.argv = before.argv;
  }
}

/** Sets and deletes variables one by one, by which Node notices another `TZ`. */
function setEnvironment(env: Readonly<Record<string, string | undefined>>): void {
  for (const name of Object.keys(process.env)) if (env[name] === undefined) delete process.env[name];
  for (const [name, value] of Object.entries(env)) if (value !== undefined) process.env[name] = value;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended & { readonly signal: NodeJS.Signals | null }>;
  /** What it has printed so far. */
  stderr(): string;
}

/** Starts a command as a process of its own, for tests of signals, kills and commands at the same time. */
export function start(args: readonly string[], { cwd, env = {} }: Place): Running {
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended: Running['ended'] = new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  return { child, ended, stderr: () => stderr };
}

/** As `--json` prints it. */
export type PrintedSummary = Summary & { readonly profile: Profile };

export function summaryOf(ended: Ended): PrintedSummary {
  if (ended.stdout === '') throw new Error(`no summary; exit code ${ended.code}, stderr:\n${ended.stderr}`);
  return JSON.parse(ended.stdout) as PrintedSummary;
}

/** The key is refused from this event on. */
export function refusingFrom(from: number): FaultRule {
  return { kind: 'status', status: 401, when: { requests: { from } } };
}

/** A rate without waiting, for runs against a sandbox without a rate limit. */
export const FAST = ['--rate', '100000/1s'];

/** Rows of the plan in a state directory, or as `checkpoint.…` of its checkpoint. */
export async function rowsIn<Row>(directory: string, sql: string): Promise<Row[]> {
  const db = readState(await StateDir.existing(directory));
  try {
    return db.all<Row>(sql);
  } finally {
    db.close();
  }
}

/** A document of the plan in a state directory. */
export async function documentIn(directory: string, name: string): Promise<unknown> {
  const [row] = await rowsIn<{ content: string }>(directory, `select content from document where name = '${name}'`);
  return row && JSON.parse(row.content);
}

/** Every file below a directory, with its content. */
export async function filesBelow(directory: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) files.set(path, await readFile(path, 'latin1'));
  }
  return files;
}

export async function files(directory: string, contents: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(contents)) await writeFile(join(directory, name), text);
}

/** A mapping of the migration `test`: entries in flow style, by the source that they read. A source `people` reads `people.csv`. */
export function mapping(entries: Readonly<Record<string, string | readonly string[]>>, head = ''): string {
  const sources = Object.keys(entries).map((name) => `  ${name}: { path: ${name}.csv }\n`);
  const events = Object.entries(entries).flatMap(([source, of]) =>
    [of].flat().map((entry) => `  - { source: ${source}, ${entry} }\n`),
  );
  return `version: 1\nmigration: test\n${head}sources:\n${sources.join('')}events:\n${events.join('')}`;
}

/** The body of an event. */
export interface Body {
  readonly id: string;
  readonly type: string;
  readonly suppress_triggers: unknown;
  readonly occurred_at?: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export type Project = Awaited<ReturnType<typeof project>>;

/**
 * A migration in a directory of its own, and a service: these files with `mapping.yaml` among them, or a folder of fixtures.
 * `baseUrl`: of another service, in place of the sandbox.
 */
export async function project(
  contents: Readonly<Record<string, string>> | 'demo',
  { baseUrl, ...options }: FaultyOptions & { readonly baseUrl?: string } = {},
) {
  const service = await sandbox(options);
  const cwd = await workspace(contents === 'demo' ? contents : undefined);
  const write = (more: Readonly<Record<string, string>>): Promise<void> => files(cwd, more);
  if (contents !== 'demo') await write(contents);
  const env: Record<string, string> = {
    ...environmentOf(service),
    ...(baseUrl !== undefined && { BACKFILL_BASE_URL: baseUrl }),
  };
  const read = (name: string): Promise<string> => readFile(join(cwd, name), 'utf8');
  const args = (more: readonly string[]) => ['run', 'mapping.yaml', ...more, ...(more.includes('--rate') ? [] : FAST)];
  const told = (...more: string[]): Promise<Ended> => backfill(args(more), { cwd, env });
  const run = (...more: string[]): Promise<Ended> => told('--json', ...more);
  const ingested = () => service.requests().filter(({ method }) => method === 'POST');
  return {
    ...{ service, cwd, env, write, read, run },
    summary: async (...more: string[]): Promise<PrintedSummary> => summaryOf(await run(...more)),
    /** Of a run that stops after so many events, because its key is refused from then on. */
    stoppedAfter: async (events: number, ...more: string[]): Promise<Summary> => {
      service.setFaults({ rules: [refusingFrom(events + 1)] });
      const stopped = summaryOf(await run(...more));
      service.setFaults({ rules: [] });
      return stopped;
    },
    /** As people read it, without `--json`. */
    told,
    /** The same in a process of its own. */
    start: (...more: string[]): Running => start(args(['--json', ...more]), { cwd, env }),
    /** Another command about the mapping. */
    command: (name: string, ...more: string[]): Promise<Ended> =>
      backfill([name, 'mapping.yaml', ...more], { cwd, env }),
    edit: async (name: string, change: (text: string) => string): Promise<void> =>
      write({ [name]: change(await read(name)) }),
    /** A path in the state directory, and the text of a file there. */
    state: (name = '') => join(cwd, '.backfill', contents === 'demo' ? 'demo' : 'test', name),
    stored: (name: string): Promise<string> => read(`.backfill/${contents === 'demo' ? 'demo' : 'test'}/${name}`),
    posts: (): number => ingested().length,
    /** The events that have arrived, but for the first so many requests. */
    sent: (after = 0): Body[] =>
      ingested()
        .slice(after)
        .map(({ body }) => body as Body),
  };
}
