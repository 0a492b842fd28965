// Lost without it: the peculiarities of files that other programs write: one folder each.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { UserError } from '../../src/errors.ts';
import { openSource } from '../../src/input/open.ts';
import type { SourceSpec } from '../../src/input/source.ts';
import { workIn } from './reading.ts';
import { locationText, type Problem } from '../../src/problem.ts';

const CASES = join(import.meta.dirname, '../../fixtures/input');

/** Everything that a source reports, as text. */
async function dump(folder: string): Promise<string> {
  const spec = JSON.parse(readFileSync(join(folder, 'source.json'), 'utf8')) as SourceSpec;
  workIn(folder);
  const lines: string[] = [];
  try {
    const source = await openSource({ ...spec, name: 'it', path: join(folder, spec.path) });
    lines.push(source.description);
    if (source.kind === 'table') lines.push(`columns: ${JSON.stringify(source.columns)}`);
    if (source.duplicateColumns.size > 0) lines.push(`duplicates: ${JSON.stringify([...source.duplicateColumns])}`);
    for await (const batch of source.batches()) {
      for (const item of batch) {
        const issues = item.kind === 'row' ? item.issues : [item.issue];
        const { file, line, record } = item.place;
        lines.push(`${item.kind} ${record} at ${file}:${line} ${JSON.stringify(item.raw)}`, ...issues.map(issueText));
      }
    }
    lines.push(...source.notices().map(({ code, message, at }) => `notice ${code}: ${locationText(at!)}: ${message}`));
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    lines.push(`error: ${error.message}`, `hint: ${error.hint}`);
  }
  return `${lines.join('\n')}\n`;
}

function issueText({ severity, kind, code, message, hint }: Problem): string {
  return `  ${severity} ${kind} ${code}: ${message}${hint === undefined ? '' : ` (${hint})`}`;
}

describe('a fixture folder is read as its expected.txt says', () => {
  const names = readdirSync(CASES, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  test.each(names.map(({ name }) => name))('%s', async (name) => {
    await expect(await dump(join(CASES, name))).toMatchFileSnapshot(join(CASES, name, 'expected.txt'));
  });
});
