/**
 * Labelled exports in nine languages, shaped like those of real CRMs. `truth.json`: by event type and field, the columns that it is made
 * of. `draft.txt`: the whole draft; after a change that is meant, `UPDATE=1 npx vitest run test/init/labelled.test.ts` writes it anew.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { decide, factsOf } from '../../src/init/index.ts';
import { openAll } from '../../src/init/read/open.ts';
import { Answers } from '../../src/init/questions.ts';
import { tables } from '../../src/init/read/tables.ts';
import { readsOf } from '../../src/init/lines/fates.ts';
import type { MappingDraft } from '../../src/init/decide/draft.ts';
import { FIXTURES } from '../e2e/harness.ts';
import { outline } from './labelled/outline.ts';

const CASES = join(FIXTURES, 'labelled-exports');
type Truth = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

test.each(readdirSync(CASES))('%s: the draft is the expected one, and nothing is wrong in silence', async (name) => {
  const folder = join(CASES, name);
  const files = readdirSync(folder).filter((file) => !['truth.json', 'draft.txt'].includes(file));
  const { exports } = await openAll(
    files.map((file) => join(folder, file)),
    {},
  );
  const draft = decide(factsOf(await tables(exports)), undefined, new Answers());
  const truth = JSON.parse(readFileSync(join(folder, 'truth.json'), 'utf8')) as Truth;
  const verdicts = Object.entries(truth).flatMap(([type, fields]) =>
    Object.entries(fields).map(([field, columns]) => `${type} ${field}: ${verdictOf(draft, type, field, columns)}`),
  );
  expect(verdicts.filter((verdict) => verdict.endsWith('wrong'))).toEqual([]);
  const right = verdicts.filter((verdict) => verdict.endsWith('right')).length;
  expect(right / verdicts.length, verdicts.join('\n')).toBeGreaterThanOrEqual(0.9);
  const expected = join(folder, 'draft.txt');
  if (process.env['UPDATE']) writeFileSync(expected, outline(draft));
  expect(outline(draft)).toBe(readFileSync(expected, 'utf8'));
});

/** `right`; `open`: left to decide; `marked`: another column, to be checked; `wrong`: another column, or none, in silence. */
function verdictOf({ entries }: MappingDraft, type: string, key: string, columns: readonly string[]): string {
  const fields = entries
    .filter(({ kind }) => `${kind}/created` === type)
    .flatMap((entry) => entry.fields.filter((field) => field.key === key));
  const [field] = fields;
  if (!field) return 'wrong';
  const reads = JSON.stringify([field.value, ...[...readsOf(field.value)].map(({ path }) => path)]);
  const isRight = fields.some((each) =>
    columns.every((column) =>
      JSON.stringify([each.value, ...[...readsOf(each.value)].map(({ path }) => path)]).includes(column),
    ),
  );
  if (field.off) return field.doubt ? 'open' : 'wrong';
  return isRight ? 'right' : field.doubt ? 'marked' : `${reads} wrong`;
}
