/** Runs the built program as a child process against a real sandbox over HTTP, in a separate directory. */
import { spawn, type ChildProcess } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { Summary } from '../../src/report/summary.ts';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/index.ts';
import { StateDir } from '../../src/state-dir.ts';
import { readState } from '../../src/store/open.ts';

export const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
export const FIXTURES = fileURLToPath(new URL('../../fixtures/', import.meta.url));

/** A temporary directory that is removed after the test; `from`: a folder of fixtures to copy into it. */
export async function workspace(from?: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'backfill-test-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  if (from) await cp(join(FIXTURES, from), directory, { recursive: true });
  return directory;
}

export async function sandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const running = await startSandbox({ rate: { requests: 100_000, seconds: 1 }, ...options });
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

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** What it has printed so far. */
  stderr(): string;
}

export function start(args: readonly string[], options: { cwd: string; env?: Record<string, string> }): Running {
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd: options.cwd,
    env: { PATH: process.env.PATH, HOME: options.cwd, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  return { child, ended, stderr: () => stderr };
}

export function backfill(
  args: readonly string[],
  options: { cwd: string; env?: Record<string, string> },
): Promise<Ended> {
  return start(args, options).ended;
}

export function summaryOf(ended: Ended): Summary {
  if (ended.stdout === '') throw new Error(`no summary; exit code ${ended.code}, stderr:\n${ended.stderr}`);
  return JSON.parse(ended.stdout) as Summary;
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

/** A migration in a directory of its own: these files, `mapping.yaml` among them, and a service. */
export async function project(contents: Readonly<Record<string, string>>) {
  const service = await sandbox();
  const cwd = await workspace();
  await files(cwd, contents);
  const env = environmentOf(service);
  const run = (...more: string[]): Promise<Ended> =>
    backfill(['run', 'mapping.yaml', '--json', ...FAST, ...more], { cwd, env });
  const posts = (): number => service.requests().filter(({ method }) => method === 'POST').length;
  return { service, cwd, env, run, posts };
}
