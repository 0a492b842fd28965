/** Labelled exports in nine languages, shaped like those of real CRMs: nothing may be wrong or missing in silence. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startMapping } from '../../src/commands/init/index.ts';
import { FIXTURES } from '../e2e/harness.ts';
import { linesOf, verdictOf } from './mapping.ts';

const CASES = join(FIXTURES, 'labelled-exports');

/** By event type and field, the columns that it is made of. */
type Truth = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

test.each(readdirSync(CASES))('%s: every role of every event is right, or left to decide by name', async (name) => {
  const folder = join(CASES, name);
  const files = readdirSync(folder).filter((file) => file !== 'truth.json');
  const truth = JSON.parse(readFileSync(join(folder, 'truth.json'), 'utf8')) as Truth;
  const { text } = await startMapping(
    files.map((file) => join(folder, file)),
    {},
  );
  const found = Object.entries(truth).flatMap(([type, fields]) => {
    const lines = linesOf(text, type);
    return Object.entries(fields).map(
      ([field, columns]) => [`${type} ${field}`, verdictOf(lines.get(field), columns)] as const,
    );
  });
  const wrong = found.filter(([, verdict]) => verdict === 'wrong' || verdict === 'missing');
  expect(wrong, text).toEqual([]);
  const right = found.filter(([, verdict]) => verdict === 'right').length;
  expect(right / found.length, JSON.stringify(found)).toBeGreaterThanOrEqual(0.9);
});
