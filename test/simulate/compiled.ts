/** The simulator and broken copies of the program as plain JavaScript, below `node_modules`, so that packages are found. */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import type { Breakage, Edit } from './breakages.ts';

const ROOT = join(import.meta.dirname, '../..');
const CACHE = join(ROOT, 'node_modules/.cache/simulate');

/** The program as `npm run build` leaves it. */
const PROGRAM = join(ROOT, 'dist');

/** Few rows are read at once, so that the few rows of a history are more than a page. */
const SMALL_PAGES: readonly Edit[] = [
  { file: 'plan/events.ts', text: 'const PAGE = 5_000;', replacement: 'const PAGE = 2;' },
  { file: 'plan/order/turns.ts', text: 'const PAGE = 500;', replacement: 'const PAGE = 2;' },
  { file: 'plan/older.ts', text: 'limit 1000`,', replacement: 'limit 1`,' },
];

/**
 * Returns the path of the compiled worker. It runs as plain JavaScript, because a loader of TypeScript would look at every import
 * that the program makes in each run.
 */
export function compileSimulator(): string {
  const target = join(CACHE, 'simulator');
  mkdirSync(target, { recursive: true });
  const names = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  for (const name of names) {
    writeFileSync(join(target, asScript(name)), compile(readFileSync(join(import.meta.dirname, name), 'utf8')));
  }
  writeFileSync(join(target, 'package.json'), '{ "type": "module" }');
  return join(target, 'worker.js');
}

/** Returns the directory of a copy of the program with small pages, and with this mistake. Throws if its text is not found once in its file. */
export function copyProgram(breakage?: Breakage): string {
  const copy = join(CACHE, breakage ? 'broken' : 'program');
  rmSync(copy, { recursive: true, force: true });
  cpSync(PROGRAM, join(copy, 'dist'), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(copy, 'package.json'));
  const sources = new Map<string, string>();
  for (const { file, text, replacement } of [
    ...SMALL_PAGES,
    ...(breakage ? [breakage] : []),
    ...(breakage?.and ? [breakage.and] : []),
  ]) {
    const source = sources.get(file) ?? readFileSync(join(ROOT, 'src', file), 'utf8');
    const found = source.split(text).length - 1;
    if (found !== 1) throw new Error(`"${breakage?.name}": its text occurs ${found} times in src/${file}: ${text}`);
    sources.set(
      file,
      source.replace(text, () => replacement),
    );
  }
  for (const [file, source] of sources) writeFileSync(join(copy, 'dist', asScript(file)), compile(source));
  return join(copy, 'dist');
}

function asScript(name: string): string {
  return name.replace(/\.ts$/, '.js');
}

/** One module, without its types. */
function compile(source: string): string {
  const compilerOptions: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.ESNext,
    verbatimModuleSyntax: true,
    rewriteRelativeImportExtensions: true,
  };
  return ts.transpileModule(source, { compilerOptions }).outputText;
}
