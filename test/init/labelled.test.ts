/**
 * Labelled exports in nine languages, shaped like those of real CRMs. `truth.json`: by event type and field, the columns that it is made
 * of. `draft.txt`: the whole draft; after a change that is meant, `UPDATE=1 npx vitest run test/init/labelled.test.ts` writes it anew.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { decide } from '../../src/init/index.ts';
import { Answers } from '../../src/init/questions.ts';
import { FIXTURES } from '../e2e/harness.ts';
import { outline } from './labelled/outline.ts';
import { casesIn, scoreOf } from './labelled/score.ts';

const CASES = await casesIn(join(FIXTURES, 'labelled-exports'));

test.each(CASES)('$name: the draft is the expected one, and nothing is wrong in silence', (each) => {
  const draft = decide(each.facts, undefined, new Answers());
  const { score, notes } = scoreOf(each, [...draft.entries]);
  expect(notes.filter((note) => note.includes('WRONG'))).toEqual([]);
  expect(score, notes.join('\n')).toBeGreaterThanOrEqual(0.9);
  const expected = join(each.folder, 'draft.txt');
  if (process.env['UPDATE']) writeFileSync(expected, outline(draft));
  expect(outline(draft)).toBe(readFileSync(expected, 'utf8'));
});
