// Lost without it: the path in src/README.md could name files that no row passes.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { files, start, workspace } from '../e2e/harness.ts';
import { ROOT } from './root.ts';
import { readPage } from './sections.ts';

const MAPPING = `version: 1
migration: one
sources: { contacts: { path: contacts.csv } }
events:
  - type: lead/created
    source: contacts
    data: { external_id: id, full_name: name, email: email, phone_number: { from: phone, apply: [phone] } }
`;

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly functionName: string;
      readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
    }[];
  }[];
}

/** The files of `src` of which a function runs when one row is sent, without those of the sandbox: `input/csv/csv`. */
async function executed(): Promise<ReadonlySet<string>> {
  const cwd = await workspace();
  await files(cwd, {
    'mapping.yaml': MAPPING,
    'contacts.csv': 'id,name,email,phone\n7,Ada,ada@example.org,+39066982\n',
  });
  const measured = join(cwd, 'coverage');
  const run = start(['run', 'mapping.yaml', '--sandbox'], { cwd, env: { NODE_V8_COVERAGE: measured } });
  expect((await run.ended).code).toBe(0);
  const dist = pathToFileURL(join(ROOT, 'dist/')).href;
  const found = new Set<string>();
  for (const name of await readdir(measured)) {
    const { result } = JSON.parse(await readFile(join(measured, name), 'utf8')) as Coverage;
    for (const { url, functions } of result) {
      if (!url.startsWith(dist) || url.startsWith(`${dist}sandbox/`)) continue;
      // The module itself is a function that begins at its first character.
      const ran = functions.some(({ functionName, ranges: [whole] }) => {
        return functionName !== '' && whole!.startOffset > 0 && whole!.count > 0;
      });
      if (ran) found.add(url.slice(dist.length).replace(/\.js$/, ''));
    }
  }
  return found;
}

it('the path of a record names files that a run of one row executes, and how many those are', async () => {
  const page = readPage('src/README.md');
  const table = /\n\| step \| files \|\n([^]*?)\n\n/.exec(page)![1]!;
  const named = [...table.matchAll(/`([\w-]+\/[\w/-]+)`/g)].map(([, name]) => name!);
  const ran = await executed();
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter((name) => !ran.has(name))).toEqual([]);
  // Which timers come in a short run differs.
  const said = Number(/A run of one row executes about (\d+) files/.exec(page)?.[1]);
  expect(Math.abs(said - ran.size)).toBeLessThanOrEqual(4);
});
