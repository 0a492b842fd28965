/**
 * `npm run simulate -- --seed N --histories M`: plays random histories; README.md in this directory says how. With `--break all`
 * or `--break NAME`, plays them with a broken program, which must be noticed.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { BREAKAGES, type Breakage } from './breakages.ts';
import { compileSimulator, copyProgram } from './compiled.ts';

/** Histories that failed once. */
const FOUND = readdirSync(join(import.meta.dirname, 'found')).map((name) => join(import.meta.dirname, 'found', name));

/** Within how many each breakage is to be noticed. */
const MOST_HISTORIES = '2000';

const { values } = parseArgs({
  options: {
    /** Of the first history; the next ones follow. `random`: another one each time. */
    seed: { type: 'string', default: '1' },
    histories: { type: 'string', default: '100' },
    /** Stop after so many seconds, with each breakage. */
    seconds: { type: 'string' },
    /** Print every history, not only those that fail. */
    story: { type: 'boolean', default: false },
    /** Histories in files, as a failure prints them, instead of random ones. */
    file: { type: 'string', multiple: true },
    /** `all`, or words of the name of a breakage. */
    break: { type: 'string' },
  },
});

const seed = values.seed === 'random' ? String(Math.floor(Math.random() * 1e9)) : values.seed;
const worker = compileSimulator();
const seconds = values.seconds === undefined ? [] : ['--seconds', values.seconds];
if (values.break === undefined) {
  const story = values.story ? ['--story'] : [];
  const file = (values.file ?? []).flatMap((path) => ['--file', path]);
  const args = ['--root', copyProgram(), '--histories', values.histories, ...seconds, ...story, ...file];
  process.exitCode = start([...args, '--seed', seed], 'inherit').status ?? 1;
} else {
  const chosen = BREAKAGES.filter(({ name }) => values.break === 'all' || name.includes(values.break!));
  const unnoticed = chosen.filter((breakage) => !isNoticed(breakage));
  say(`${chosen.length - unnoticed.length} of ${chosen.length} breakages noticed (seeds from ${seed})`);
  process.exitCode = chosen.length > 0 && unnoticed.length === 0 ? 0 : 1;
}

function isNoticed(breakage: Breakage): boolean {
  const { name } = breakage;
  const root = ['--root', copyProgram(breakage), '--quick'];
  const kept = start([...root, ...FOUND.flatMap((path) => ['--file', path])], 'pipe');
  const again = /^history (\d+) fails:/m.exec(kept.stdout)?.[1];
  if (again !== undefined) {
    say(`${name}: noticed by ${basename(FOUND[Number(again) - 1]!)}`);
    return true;
  }
  const { stdout, status } = start([...root, '--histories', MOST_HISTORIES, '--seed', seed, ...seconds], 'pipe');
  const [, number, violation] = /^history (\d+) fails:\n(.*)$/m.exec(stdout) ?? [];
  const found = status === 1 && number !== undefined;
  const after = found ? `noticed by history ${Number(number) - Number(seed) + 1}` : 'NOT NOTICED';
  say(`${name}: ${after} (of ${MOST_HISTORIES} at most)${found ? `\n    ${violation!.trim()}` : ''}`);
  return found;
}

function start(
  args: readonly string[],
  stdout: 'inherit' | 'pipe',
): { readonly stdout: string; readonly status: number | null } {
  // Most of what a run allocates is garbage at once.
  return spawnSync(process.execPath, ['--max-semi-space-size=64', worker, ...args], {
    stdio: ['ignore', stdout, 'inherit'],
    encoding: 'utf8',
  });
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
