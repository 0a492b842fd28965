import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../src/', import.meta.url));

/** A file imports from its own layer's folder and from layers above it in this list; never from one below. */
const LAYERS: readonly (readonly string[])[] = [
  [
    'model.ts',
    'errors.ts',
    'problem.ts',
    'redact.ts',
    'redis-url.ts',
    'json.ts',
    'clock.ts',
    'version.ts',
    'cells.ts',
    'csv.ts',
    'halt.ts',
    'service/contract.ts',
  ],
  ['identity.ts', 'columns.ts', 'append-log.ts', 'source/source.ts', 'service/account.ts'],
  ['options/'],
  ['settings.ts', 'credentials.ts', 'console.ts', 'state-dir.ts', 'run-log.ts'],
  ['service/', 'source/', 'mapping/', 'checkpoint/', 'report/'],
  ['connect.ts', 'plan/', 'send/', 'run.ts', 'summarise.ts', 'init/', 'verify/'],
  ['sandbox/'],
  ['commands/'],
  ['main.ts', 'cli.ts', 'demo.ts', 'index.ts'],
];

function layerOf(file: string): number {
  const exact = LAYERS.findIndex((layer) => layer.includes(file));
  return exact >= 0 ? exact : LAYERS.findIndex((layer) => layer.includes(`${file.split('/')[0]}/`));
}

async function imports(): Promise<[from: string, to: string][]> {
  const files = (await readdir(SRC, { recursive: true })).filter((file) => file.endsWith('.ts'));
  const found: [string, string][] = [];
  for (const file of files) {
    const text = await readFile(join(SRC, file), 'utf8');
    for (const [, target] of text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)) {
      found.push([file, relative(SRC, join(SRC, dirname(file), target!))]);
    }
  }
  return found;
}

it('knows the layer of every source file', async () => {
  const files = (await readdir(SRC, { recursive: true })).filter((file) => file.endsWith('.ts'));
  expect(files.length).toBeGreaterThan(30);
  expect(files.filter((file) => layerOf(file) < 0)).toEqual([]);
});

it('lets data flow one way: no import reaches down', async () => {
  const all = await imports();
  expect(all.length).toBeGreaterThan(100);
  const wrong = all.filter(([from, to]) => layerOf(from) < layerOf(to)).map(([from, to]) => `${from} -> ${to}`);
  expect(wrong).toEqual([]);
});

it('keeps the sandbox out of everything but its commands and the library face', async () => {
  const users = (await imports()).filter(([from, to]) => to.startsWith('sandbox/') && !from.startsWith('sandbox/'));
  expect(users.every(([from]) => from.startsWith('commands/') || from === 'index.ts')).toBe(true);
});
