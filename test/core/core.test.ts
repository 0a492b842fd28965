// Lost without it: a field could be wrong without being reported.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';
import * as known from '../../src/core/known.ts';
import * as nextStep from '../../src/core/next.ts';
import { playHistory, type Core } from './history.ts';
import { MISTAKES, type Mistake } from './mistakes.ts';

/** Within which each mistake is noticed. `npm run soak` plays a million. */
const HISTORIES = 20_000;

/** The seed of the first history that fails, and why; undefined if none does. */
function firstFailure(core: Core, histories: number): string | undefined {
  for (let seed = 1; seed <= histories; seed += 1) {
    const violations = playHistory(core, seed);
    if (violations.length > 0) return `history ${seed}: ${violations.join('; ')}`;
  }
  return undefined;
}

test('no field is wrong without being reported, in 10,000 histories of a record', () => {
  expect(firstFailure({ ...known, ...nextStep }, 10_000)).toBeUndefined();
});

test.each(MISTAKES)('the histories notice the mistake: $name', async (mistake) => {
  const core = await coreWith(mistake);
  expect(firstFailure(core, HISTORIES)).toBeDefined();
});

/** The core with a mistake in it. */
async function coreWith({ file, right, wrong }: Mistake): Promise<Core> {
  const directory = mkdtempSync(join(tmpdir(), 'core-'));
  try {
    for (const name of ['known', 'next'] as const) {
      let text = readFileSync(new URL(`../../src/core/${name}.ts`, import.meta.url), 'utf8');
      if (name === file) {
        expect(text.split(right), `the text of the mistake stands once in ${name}.ts`).toHaveLength(2);
        text = text.replace(right, () => wrong);
      }
      const { outputText } = ts.transpileModule(text.replaceAll('./known.ts', './known.mjs'), {
        compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023, verbatimModuleSyntax: true },
      });
      writeFileSync(join(directory, `${name}.mjs`), outputText);
    }
    const load = (name: string): Promise<object> =>
      import(/* @vite-ignore */ pathToFileURL(join(directory, `${name}.mjs`)).href) as Promise<object>;
    return { ...(await load('known')), ...(await load('next')) } as Core;
  } finally {
    rmSync(directory, { recursive: true });
  }
}
