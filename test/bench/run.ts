/**
 * Speed and memory compared with bare libraries: `npm run bench`, or one part, `npm run bench -- survey`. Every figure is
 * the median of five processes (`--rounds N`), started in turn so that conditions are equal; start-up is included. CPU is
 * user and system time of all threads.
 */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { writeBodies, writeInput, type Input } from './data.ts';
import { numberText } from '../../src/report/words/numbers.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const CLI = join(ROOT, 'dist/cli.js');
/** Compiled programs must be in a directory from which packages can be resolved. */
const PROGRAMS = join(ROOT, 'node_modules/.cache/crm-backfill-bench');

interface Taken {
  readonly cpu: number;
  readonly wall: number;
  /** MB. */
  readonly peak: number;
  readonly output: string;
}

interface Contender {
  readonly name: string;
  run(): Promise<Taken>;
}

const given = process.argv.slice(2);
const roundsAt = given.indexOf('--rounds');
const rounds = roundsAt < 0 ? 5 : Number(given.splice(roundsAt, 2)[1]);
const directory = await mkdtemp(join(tmpdir(), 'backfill-bench-'));

const OURS = 'crm-backfill run --dry-run';

const parts: Record<string, () => Promise<void>> = {
  survey,
  json,
  startup,
  memory,
  send,
};

async function survey(): Promise<void> {
  const input = await writeInput(directory, 'csv', 200_000);
  await compare('Survey of 200,000 rows x 12 columns, CSV', [
    program('bare csv-parse', 'csv', input.path),
    backfill(OURS, input),
  ]);
}

async function json(): Promise<void> {
  const lines = await writeInput(directory, 'ndjson', 200_000);
  await compare('Survey of 200,000 records, NDJSON', [
    program('bare JSON.parse by line, readline', 'ndjson', lines.path),
    backfill(OURS, lines),
  ]);
  const table = await writeInput(directory, 'csv', 200_000);
  const array = await writeInput(directory, 'json', 200_000);
  await compare('The same 200,000 records in three formats', [
    backfill('CSV', table),
    backfill('NDJSON', lines),
    backfill('JSON array', array),
  ]);
}

async function startup(): Promise<void> {
  await compare('Start-up', [
    { name: 'node -e 0', run: () => measured(['-e', '0']) },
    { name: 'crm-backfill --help', run: () => measured([CLI, '--help']) },
    backfill('survey of one row', await writeInput(directory, 'csv', 1)),
    backfill('survey of the demo', { path: '', mapping: join(ROOT, 'fixtures/demo/mapping.yaml'), name: 'demo' }),
  ]);
}

async function memory(): Promise<void> {
  const one = await writeInput(directory, 'csv', 1_000_000);
  await compare('Survey of 1,000,000 rows, CSV', [program('bare csv-parse', 'csv', one.path), backfill(OURS, one)]);
  const three = await writeInput(directory, 'csv', 3_000_000);
  await compare('Memory and the number of rows', [backfill('1,000,000', one), backfill('3,000,000', three)]);
}

const EVENTS = 20_000;
const CONCURRENCY = 10;

/** What sending takes (a run minus its survey), compared with a bare loop of requests; each uses a separate sandbox. */
async function send(): Promise<void> {
  const bodies = await writeBodies(directory, EVENTS);
  const input = await writeInput(directory, 'csv', EVENTS);
  const bare: Taken[] = [];
  const ours: Taken[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await withSandbox(async (env) => {
      const url = `${env.BACKFILL_BASE_URL}/webhooks/ingest/${env.BACKFILL_INGEST_TOKEN}`;
      const loop = [join(PROGRAMS, 'programs.mjs'), 'post', bodies, url, String(CONCURRENCY)];
      const posts = await measured(loop, env);
      bare.push({ ...posts, wall: Number(posts.output) });
    });
    await withSandbox(async (env) => {
      const all = await measured(runOf(input, ['--rate', '1000000/1s', '--concurrency', String(CONCURRENCY)]), env);
      const dry = await backfill('', input).run();
      ours.push({ ...all, wall: all.wall - dry.wall, cpu: all.cpu - dry.cpu });
    });
  }
  print(`## Sending ${numberText(EVENTS)} events, ${CONCURRENCY} at a time, to a sandbox in a separate process\n`);
  print('| | events a second | ratio | CPU ms per event | peak MB |\n|---|---|---|---|---|');
  const rate = (taken: readonly Taken[]): number => EVENTS / median(taken.map(({ wall }) => wall));
  for (const [name, taken] of [
    ['bare undici loop, same bodies', bare],
    ['crm-backfill run without its survey, checkpoint flushed', ours],
  ] as const) {
    const cpu = (median(taken.map((each) => each.cpu)) * 1000) / EVENTS;
    const peak = median(taken.map((each) => each.peak));
    const figures = [rate(taken).toFixed(0), (rate(taken) / rate(bare)).toFixed(2), cpu.toFixed(2), peak.toFixed(0)];
    print(`| ${name} | ${figures.join(' | ')} |`);
  }
  print('');
}

async function withSandbox(act: (env: NodeJS.ProcessEnv) => Promise<void>): Promise<void> {
  // It keeps everything that it receives in memory.
  const args = ['--max-old-space-size=6000', CLI, 'sandbox', '--rate', '1000000/1s', '--port', '0'];
  const sandbox = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const env: NodeJS.ProcessEnv = {};
  for await (const line of createInterface({ input: sandbox.stdout })) {
    const [name = '', value] = line.split('=');
    env[name] = value;
    if (name === 'BACKFILL_INGEST_TOKEN') break;
  }
  try {
    await act(env);
  } finally {
    sandbox.kill('SIGTERM');
    await once(sandbox, 'exit');
  }
}

let runs = 0;

/** Every run gets a separate state directory. */
function runOf(input: Input, options: readonly string[]): string[] {
  runs += 1;
  return [CLI, 'run', input.mapping, '--state', join(directory, `state-${runs}`), '--json', '--quiet', ...options];
}

function backfill(name: string, input: Input): Contender {
  return { name, run: () => measured(runOf(input, ['--dry-run', '--offline'])) };
}

function program(name: string, ...args: string[]): Contender {
  return { name, run: () => measured([join(PROGRAMS, 'programs.mjs'), ...args]) };
}

async function measured(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Taken> {
  const meter = join(directory, 'meter.json');
  const child = spawn(process.execPath, ['--import', pathToFileURL(join(PROGRAMS, 'meter.mjs')).href, ...args], {
    env: { ...process.env, ...env, METER: meter },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  child.stderr.on('data', (chunk) => (errors += String(chunk)));
  const [code] = (await once(child, 'close')) as [number | null];
  // 1: a run that met problems with single records.
  if (code !== 0 && !(code === 1 && args[0] === CLI))
    throw new Error(`${args.join(' ')} ended with ${code}: ${errors}`);
  return { ...(JSON.parse(await readFile(meter, 'utf8')) as Omit<Taken, 'output'>), output };
}

/** Runs all of them in turn; prints the medians and their ratio to the first. */
async function compare(title: string, contenders: readonly Contender[]): Promise<void> {
  const taken = new Map<Contender, Taken[]>(contenders.map((contender) => [contender, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [contender, results] of taken) results.push(await contender.run());
  }
  const medians = [...taken].map(([{ name }, results]) => ({
    name,
    cpu: median(results.map(({ cpu }) => cpu)),
    wall: median(results.map(({ wall }) => wall)),
    peak: median(results.map(({ peak }) => peak)),
  }));
  const first = medians[0]!;
  print(`## ${title}\n`);
  print('| | CPU s | ratio | wall s | ratio | peak MB |\n|---|---|---|---|---|---|');
  for (const { name, cpu, wall, peak } of medians) {
    const ratios = [(cpu / first.cpu).toFixed(2), (wall / first.wall).toFixed(2)];
    print(`| ${name} | ${cpu.toFixed(2)} | ${ratios[0]} | ${wall.toFixed(2)} | ${ratios[1]} | ${peak.toFixed(0)} |`);
  }
  print('');
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Measured programs are plain JavaScript, so that compiling does not count. */
async function compilePrograms(): Promise<void> {
  await mkdir(PROGRAMS, { recursive: true });
  for (const name of ['meter', 'programs']) {
    const source = await readFile(join(import.meta.dirname, `${name}.ts`), 'utf8');
    const compilerOptions = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext };
    const { outputText } = ts.transpileModule(source, { compilerOptions });
    await writeFile(join(PROGRAMS, `${name}.mjs`), outputText);
  }
}

try {
  await compilePrograms();
  const unknown = given.filter((name) => !parts[name]);
  if (unknown.length > 0)
    throw new Error(`unknown part ${unknown.join(', ')}; parts: ${Object.keys(parts).join(', ')}`);
  print(`Node ${process.version}, medians of ${rounds}\n`);
  for (const [name, part] of Object.entries(parts)) if (given.length === 0 || given.includes(name)) await part();
} finally {
  await rm(directory, { recursive: true, force: true });
}
