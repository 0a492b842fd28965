// Lost without it: folders could import each other in a circle.
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../src/', import.meta.url));

/** What every folder may use; they import each other and the root, and no other folder. */
const ROOMS = ['kinds', 'files', 'settings', 'report/words'];
/** The chain that a record passes through: a folder imports from itself and from folders before it. */
const CHAIN = [
  'core',
  'service',
  'store',
  'input',
  'mapping',
  'report/files',
  'plan',
  'survey',
  'send',
  'report/figures',
  'report/print',
];
/** The workings of a command: these may import from the whole chain, but neither from each other nor from commands. */
const ASIDE = ['init', 'sandbox'];
/** Files in `src/` that combine the folders. All other files in `src/` may be imported by every folder. */
const TOP = ['demo.ts', 'main.ts', 'cli.ts'];

interface Import {
  readonly from: string;
  readonly to: string;
}

async function sourceFiles(): Promise<string[]> {
  return (await readdir(SRC, { recursive: true })).filter((file) => file.endsWith('.ts'));
}

async function allImports(): Promise<Import[]> {
  const found: Import[] = [];
  for (const from of await sourceFiles()) {
    const text = await readFile(join(SRC, from), 'utf8');
    for (const [, target] of text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)) {
      found.push({ from, to: relative(SRC, join(SRC, dirname(from), target!)) });
    }
  }
  expect(found.length).toBeGreaterThan(100);
  return found;
}

/** The folder of a file, rooms inside it included; undefined for the files of `src/` itself. */
function folderOf(file: string): string | undefined {
  const own = [...ASIDE, ...ROOMS, ...CHAIN].find((folder) => file.startsWith(`${folder}/`));
  return own ?? (file.includes('/') ? file.split('/')[0] : undefined);
}

/** What combines the folders: the program's door, the commands, and the chain of a run. */
function isTop(file: string): boolean {
  return TOP.includes(file) || ['commands', 'run'].includes(folderOf(file) ?? '');
}

/** Whether an import follows the direction of the chain. */
function isAllowed({ from, to }: Import): boolean {
  const [mine, theirs] = [folderOf(from), folderOf(to)];
  if (mine === theirs) return mine !== undefined || isTop(from) || !isTop(to);
  if (isTop(from)) return true;
  if (['run/connect.ts', 'run/run.ts'].includes(to) && ASIDE.includes(mine!)) return true;
  if (theirs === undefined) return !isTop(to);
  if (ROOMS.includes(theirs)) return !/^settings\/(?:checks|option|table)\.ts$/.test(to);
  if (mine === undefined || ROOMS.includes(mine)) return false;
  const place = CHAIN.indexOf(theirs);
  return place >= 0 && (ASIDE.includes(mine) || place < CHAIN.indexOf(mine));
}

it('knows every folder', async () => {
  const folders = new Set((await sourceFiles()).flatMap((file) => folderOf(file) ?? []));
  expect([...folders].sort()).toEqual([...ROOMS, ...CHAIN, ...ASIDE, 'commands', 'run'].sort());
});

it('has imports only within a folder or from folders before it', async () => {
  const wrong = (await allImports()).filter((each) => !isAllowed(each));
  expect(wrong.map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
});

it('has at most 18 folders, and at most 20 files in each and in each room inside it', async () => {
  const folders = new Set((await sourceFiles()).filter((file) => file.includes('/')).map((file) => file.split('/')[0]));
  expect(folders.size).toBeLessThanOrEqual(18);
  const counts = new Map<string, number>();
  for (const file of await sourceFiles()) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  expect(counts.size).toBeGreaterThan(10);
  expect([...counts].filter(([, count]) => count > 20)).toEqual([]);
});

it('has no two folders that import each other', async () => {
  const pairs = new Set<string>();
  for (const { from, to } of await allImports()) {
    const [mine, theirs] = [folderOf(from), folderOf(to)];
    if (mine !== undefined && theirs !== undefined && mine !== theirs) pairs.add(`${mine} ${theirs}`);
  }
  expect(pairs.size).toBeGreaterThan(10);
  expect([...pairs].filter((pair) => pairs.has(pair.split(' ').reverse().join(' ')))).toEqual([]);
});

it('has no files that import each other, however many are between them', async () => {
  const targets = new Map<string, string[]>();
  for (const { from, to } of await allImports()) targets.set(from, [...(targets.get(from) ?? []), to]);
  const circles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
    if (done.has(file)) return;
    done.add(file);
    for (const target of targets.get(file) ?? []) visit(target, [...path, file]);
  };
  for (const file of targets.keys()) visit(file, []);
  expect(circles).toEqual([]);
});

it('keeps the sandbox out of everything except its commands', async () => {
  const users = (await allImports()).filter(
    ({ from, to }) => folderOf(to) === 'sandbox' && folderOf(from) !== 'sandbox',
  );
  expect(users.filter(({ from }) => !isTop(from))).toEqual([]);
});

it('declares every type name once', async () => {
  const declarations = new Map<string, Set<string>>();
  for (const file of await sourceFiles()) {
    const text = await readFile(join(SRC, file), 'utf8');
    // A top-level declaration starts its line; the names of `import type { … }` do not follow the keyword directly.
    const declared = text.matchAll(
      /^(?:export )?(?:default )?(?:declare )?(?:abstract )?(?:const )?(?:interface|type|class|enum) ([\w$]+)/gm,
    );
    for (const [, name] of declared) declarations.set(name!, (declarations.get(name!) ?? new Set()).add(file));
  }
  expect(declarations.size).toBeGreaterThan(100);
  const repeated = [...declarations].filter(([, where]) => where.size > 1);
  expect(repeated.map(([name, where]) => `${name}: ${[...where].sort().join(', ')}`)).toEqual([]);
});
