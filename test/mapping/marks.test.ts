import { expect, it } from 'vitest';
import { markedLines } from '../../src/mapping/marks.ts';
import { backfill, files, summaryOf, workspace } from '../e2e/harness.ts';

it('finds the lines of a mapping that a person still has to look at', () => {
  const text = [
    '# Check everything marked "set this" or "check".',
    'migration: acme # set this: the name of the migration',
    'defaults:',
    '  # region: IT # set this: nothing shows the country',
    '  timezone: Europe/Rome # check: the country is IT',
    '  locale: en # no check is needed',
    "  missing_values: ['', '# set this']",
  ].join('\n');
  expect(markedLines(text)).toEqual([
    { line: 2, mark: 'set this', why: 'the name of the migration' },
    { line: 4, mark: 'set this', why: 'nothing shows the country' },
    { line: 5, mark: 'check', why: 'the country is IT' },
  ]);
});

it('are warned of by a dry run, as long as they are there', async () => {
  const cwd = await workspace();
  const mapping = (mark: string): string => `version: 1
migration: marked
sources: { people: { path: people.csv } }
events:
  - type: lead/created
    source: people
    data:
      external_id: id
      full_name: name${mark}
`;
  await files(cwd, { 'people.csv': 'id,name\n1,Ada\n', 'mapping.yaml': mapping(' # set this: first or whole name') });
  const dry = async (): Promise<Record<string, number>> =>
    summaryOf(await backfill(['run', 'mapping.yaml', '--dry-run', '--offline', '--json'], { cwd })).warnings_by_code;
  expect(await dry()).toEqual({ marked_line: 1 });
  await files(cwd, { 'mapping.yaml': mapping('') });
  expect(await dry()).toEqual({});
});
