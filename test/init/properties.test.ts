/** What holds of every draft, whatever the exports are: the labelled ones, and these without some of their columns. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Field, MappingDraft } from '../../src/init/decide/draft.ts';
import { decide, factsOf } from '../../src/init/index.ts';
import { Fates } from '../../src/init/lines/fates.ts';
import { openAll } from '../../src/init/read/open.ts';
import { Answers } from '../../src/init/questions.ts';
import { tables, type Part } from '../../src/init/read/tables.ts';
import { FIXTURES } from '../e2e/harness.ts';
import { outline } from './labelled/outline.ts';

const CASES = join(FIXTURES, 'labelled-exports');

async function partsOf(name: string, order = 1): Promise<Part[]> {
  const files = readdirSync(join(CASES, name)).filter((file) => !['truth.json', 'draft.txt'].includes(file));
  const paths = files.sort((a, b) => order * (a < b ? -1 : 1)).map((file) => join(CASES, name, file));
  return tables((await openAll(paths, {})).exports);
}

/** Without every n-th column. */
function without(parts: readonly Part[], n: number, from: number): Part[] {
  return parts.map((part) => ({
    ...part,
    raw: {
      ...part.raw,
      columns: part.raw.columns.map((column, at) =>
        at % n === from ? { ...column, filled: 0, values: new Map() } : column,
      ),
      rows: part.raw.rows.map((row) => row.map((cell, at) => (at % n === from ? undefined : cell))),
    },
  }));
}

const draftOf = (parts: readonly Part[]) => {
  const facts = factsOf(parts);
  return { facts, draft: decide(facts, undefined, new Answers()) };
};

/** Fields that share their columns: the id may be anything, the stage has the outcome, a key or a `when` is made of others. */
const SHARED = /^(?:external_id|when|lead_external_id|deal_external_id|stage_name|duplicates|if_both)$/;

function twice({ entries }: MappingDraft): string[] {
  return entries.flatMap(({ table, kind, fields }) => {
    const own = fields
      .filter(({ off, place, key }) => !off && place !== 'custom' && !SHARED.test(key))
      .flatMap(({ columns }) => columns.map(({ name }) => name));
    return own.filter((name, at) => own.indexOf(name) !== at).map((name) => `${table.label} ${kind}: ${name}`);
  });
}

/** Links by what is neither an id nor an address, without a mark. */
function loose({ entries }: MappingDraft): string[] {
  const isLink = ({ key, off }: Field): boolean => !off && /^(?:lead|deal)_external_id$/.test(key);
  return entries.flatMap(({ table, fields }) =>
    fields
      .filter((field) => isLink(field) && field.isLoose && field.doubt === undefined)
      .map(({ key }) => `${table.label} ${key}`),
  );
}

describe.each(readdirSync(CASES))('a draft of %s', (name) => {
  it.each([0, 1, 2, 3])('without a quarter of its columns (%i)', async (from) => {
    const { facts, draft } = draftOf(without(await partsOf(name), 4, from));
    expect(twice(draft), 'no column has two fields').toEqual([]);
    expect(loose(draft), 'no link by a name is unmarked').toEqual([]);
    const fates = new Fates(facts.tables, draft);
    const told = [...fates.others, ...draft.entries.flatMap((entry) => fates.notCarried(entry))].join('\n');
    const names = draft.entries
      .flatMap(({ fields }) =>
        fields.map(({ value, columns }) => `${JSON.stringify(value)} ${columns.map((each) => each.name).join(' ')}`),
      )
      .join('\n');
    for (const table of facts.tables.filter(({ list, records }) => list === undefined && records > 0)) {
      const isEntry = draft.entries.some((entry) => entry.table.source === table.source);
      expect(isEntry || told.includes(table.label), `${table.label} has a fate`).toBe(true);
      for (const column of table.columns.filter((each) => each.filled > 0 && !each.pair && each.list === undefined))
        expect(
          names.includes(column.name) || told.includes(column.name.slice(0, 40)),
          `${table.label} ${column.name} has a fate`,
        ).toBe(true);
    }
  });

  it('is the same again, and in whatever order the files are named', async () => {
    const [one, again, other] = [await partsOf(name), await partsOf(name), await partsOf(name, -1)].map(
      (parts) => draftOf(parts).draft,
    );
    expect(outline(again!)).toBe(outline(one!));
    const sorted = (draft: MappingDraft): string[] =>
      outline(draft)
        .split('\n\n')
        .map((entry) => entry.trim())
        .sort();
    expect(sorted(other!)).toEqual(sorted(one!));
  });
});
