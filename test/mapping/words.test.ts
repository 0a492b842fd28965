// Lost without it: what people sign could say another thing than the mapping does.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../directory.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import type { EntryWords } from '../../src/mapping/words.ts';

/** What a mapping with these events says in words. */
async function wordsOf(events: string): Promise<readonly EntryWords[]> {
  const folder = temporaryDirectory();
  const path = join(folder, 'mapping.yaml');
  await writeFile(join(folder, 'functions.mjs'), 'export const nameOf = (name) => name;\n');
  const defaults = 'defaults: { region: IT, timezone: Europe/Rome }';
  const sources = 'sources: { rows: { path: rows.csv }, firms: { path: firms.csv } }';
  await writeFile(
    path,
    `version: 1\nmigration: m\nfunctions: functions.mjs\n${defaults}\n${sources}\nevents:\n${events}`,
  );
  return (await loadMapping(path)).words();
}

/** The words of one value. */
async function wordsOfValue(value: string): Promise<{ from: string; how: readonly string[] }> {
  const data = `{ external_id: Id, custom_params: { x: ${value} } }`;
  const [entry] = await wordsOf(`  - { type: lead/created, source: rows, data: ${data} }`);
  const { from, how } = entry!.fields.at(-1)!;
  return { from, how };
}

async function wordsOfCondition(condition: string): Promise<string | undefined> {
  const [entry] = await wordsOf(
    `  - { type: lead/created, source: rows, when: ${condition}, data: { external_id: Id } }`,
  );
  return entry!.when;
}

test('an entry names its source, and every field with the columns that it comes from', async () => {
  const [entry] = await wordsOf(`
  - type: deal/created
    source: rows
    each: lines
    stage_pipeline: Pipeline
    occurred_at: { from: Created, apply: [{ date: [dd/MM/yyyy, iso] }] }
    data:
      external_id: Id
      stage_name: Stage
      custom_fields: { vat: VAT, "*": rest }
`);
  expect(entry).toEqual({
    type: 'deal/created',
    source: 'rows',
    each: '`lines`',
    when: undefined,
    fields: [
      { field: 'external_id', from: '`Id`', how: [] },
      { field: 'stage_name', from: '`Stage`', how: ['is looked up by name in the account'] },
      { field: 'custom_fields.vat', from: '`VAT`', how: [] },
      { field: 'custom_fields.*', from: 'all other columns', how: ['each under its own name'] },
      { field: 'stage_pipeline', from: '`Pipeline`', how: ['is looked up by name in the account'] },
      {
        field: 'occurred_at',
        from: '`Created`',
        how: ['reads dates written as `dd/MM/yyyy` or in ISO 8601, in the time zone Europe/Rome'],
      },
    ],
  });
});

test.each([
  ['Name', '`Name`', []],
  ['{ from: [A, { from: B, apply: [lowercase] }] }', '`A`, else `B` (converts to lower case)', []],
  ['{ from: [A, { value: EUR }] }', '`A`, else `EUR`', []],
  ['{ list: [A, B], apply: [{ join: " " }] }', '`A` and `B`', ['joined with a space']],
  ['{ template: "{First} {Last}" }', '`{First} {Last}`', ['with the columns in braces replaced by their values']],
  ['{ from: A, apply: [{ split: ";" }, { at: 0 }] }', '`A`', ['splits the text at `;`', 'takes the first element']],
  ['{ value: hubspot }', 'always `hubspot`', []],
  ['{ value: 5.10 }', 'always `5.10`', []],
  [
    '{ lookup: { source: firms, match: Key, with: Firm, take: Name } }',
    '`Name` of the record in `firms` whose `Key` is `Firm`',
    [],
  ],
  ['{ from: A, default: x, required: true }', '`A`', ['`x` where there is no value', 'must have a value']],
  ['{ from: A, on_error: reject }', '`A`', ['a value that cannot be read is an error']],
  ['{ from: A, on_error: omit }', '`A`', ['a value that cannot be read is left out']],
])('a value in words: %s', async (value, from, how) => {
  expect(await wordsOfValue(value)).toEqual({ from, how });
});

test.each([
  ['{ from: Type, in: [lead, customer] }', '`Type` is `lead` or `customer`'],
  ['{ from: Type, not_in: [spam] }', '`Type` is not `spam`'],
  ['{ from: Type, apply: [lowercase], equals: lead }', '`Type` (converts to lower case) is `lead`'],
  ['{ from: Type, matches: "^L" }', '`Type` matches the pattern `^L`'],
  ['{ from: [A, B], present: true }', '(`A`, else `B`) has a value'],
  ['{ from: Type, present: true }', '`Type` has a value'],
  ['{ from: Type, present: false }', '`Type` has no value'],
  ['{ all: [{ from: A, equals: x }, { from: B, equals: y }] }', '`A` is `x` and `B` is `y`'],
  [
    '{ any: [{ from: A, equals: x }, { all: [{ from: B, equals: y }, { not: { from: C, equals: z } }] }] }',
    '`A` is `x` or (`B` is `y` and not (`C` is `z`))',
  ],
])('a condition in words: %s', async (condition, words) => {
  expect(await wordsOfCondition(condition)).toBe(words);
});
