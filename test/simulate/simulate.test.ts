// Lost without it: kills, faults and edits together could lose or double something. See README.md.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { BREAKAGES } from './breakages.ts';
import { copyProgram } from './compiled.ts';

const MAIN = join(import.meta.dirname, 'main.ts');

const FOUND = join(import.meta.dirname, 'found');

async function simulate(...args: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit') as Promise<[number | null]>]);
  return { code, output };
}

it('nothing is lost, doubled or made older in histories of these seeds', async () => {
  const { code, output } = await simulate('--seed', '1', '--histories', '15');
  expect(code, output).toBe(0);
  expect(output).toMatch(/^15 histories/);
});

it('histories that failed once go well', async () => {
  const files = readdirSync(FOUND).map((name) => join(FOUND, name));
  const { code, output } = await simulate(...files.flatMap((path) => ['--file', path]));
  expect(code, output).toBe(0);
  expect(output).toContain(`${files.length} histories`);
});

it('a history that is played again is the same', async () => {
  const path = join(FOUND, 'forgotten-history-then-killed.json');
  const { output } = await simulate('--file', path, '--file', path, '--story');
  const lines = output
    .replaceAll(/crm-backfill-simulate-\w+/g, '')
    .trimEnd()
    .split('\n')
    .slice(0, -1);
  expect(lines.length).toBeGreaterThan(10);
  expect(lines.slice(lines.length / 2)).toEqual(lines.slice(0, lines.length / 2));
});

it('a mistake in the program is noticed, and told as a history', async () => {
  const { code, output } = await simulate('--break', 'suppress triggers');
  expect(code, output).toBe(0);
  expect(output).toContain('does not suppress triggers');
});

it('each mistake of the table is made at one place of the present source', async () => {
  for (const { name, and, ...first } of BREAKAGES) {
    for (const { file, text: found } of and ? [first, and] : [first]) {
      const source = await readFile(join(import.meta.dirname, '../../src', file), 'utf8');
      expect(source.split(found).length - 1, name).toBe(1);
    }
  }
  expect(() => copyProgram({ ...BREAKAGES[0]!, text: 'not there' })).toThrow('occurs 0 times');
});
