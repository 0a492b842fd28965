import { createHash } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { UserError } from '../../src/errors.ts';
import type { Row } from '../../src/model.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import type { CompiledMapping } from '../../src/mapping/mapping.ts';
import type { Source } from '../../src/input/source.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mapping-'));
});

async function written(text: string | Buffer, name = 'mapping.yaml'): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

const MAPPING = `
version: 1
migration: 2024.05
sources:
  contacts: { path: exports/*.csv.gz, header_line: 3, delimiter: ";" }
  deals: { path: /data/deals.json, records: data.items }
  users: { path: users.csv }
  unused: { path: unused.csv }
references:
  pipelines: { 007: Sales }
  stages: { Won: 5.10, Lost: null, true: { Open: yes } }
events:
  - type: deal/created
    source: deals
    if_exists: skip
    data:
      external_id: id
      owner_name: { lookup: { source: users, match: Id, with: owner, take: Name } }
  - { type: lead/updated, source: contacts, if_changed: [full_name], data: { external_id: Id, full_name: Name } }
`;

describe('a loaded mapping', () => {
  test('resolves its sources against its own folder, unless other files are given', async () => {
    const path = await written(MAPPING);
    const mapping = await loadMapping(path, { sources: new Map([['users', '/elsewhere/people.csv']]) });
    expect(mapping.sources).toEqual([
      { name: 'contacts', path: join(folder, 'exports/*.csv.gz'), headerLine: 3, delimiter: ';' },
      { name: 'deals', path: '/data/deals.json', records: 'data.items' },
      { name: 'users', path: '/elsewhere/people.csv' },
      { name: 'unused', path: join(folder, 'unused.csv') },
    ]);
    expect(mapping.eventSources).toEqual(['deals', 'contacts']);
    expect(mapping.usedSources).toEqual(['deals', 'contacts', 'users']);
    expect(mapping.file).toBe(path);
    expect(mapping.sha256).toBe(createHash('sha256').update(MAPPING).digest('hex'));
  });

  test('keeps names as written and fills in the default policies', async () => {
    const mapping = await loadMapping(await written(MAPPING));
    expect(mapping.migration).toBe('2024.05');
    expect(mapping.references).toEqual({
      pipelines: new Map([['007', 'Sales']]),
      stages: new Map([
        ['Won', '5.10'],
        ['Lost', null],
      ]),
      stagesByPipeline: new Map([['true', new Map([['Open', 'yes']])]]),
      owners: new Map(),
    });
    expect(mapping.entries).toMatchObject([
      {
        index: 0,
        type: 'deal/created',
        policies: { if_exists: 'skip', if_changed: 'report', if_parent_missing: 'block', duplicates: 'reject' },
      },
      { index: 1, type: 'lead/updated', policies: { if_missing: 'reject', if_changed: ['full_name'] } },
    ]);
  });

  test('can use anchors, aliases and merge keys', async () => {
    const path = await written(`
version: 1
migration: anchors
sources: { a: { path: a.csv }, b: { path: b.csv } }
events:
  - &lead { type: lead/created, source: a, duplicates: last, data: &data { external_id: Id, email: { from: Mail, apply: &clean [lowercase] } } }
  - <<: *lead
    source: b
    data: { <<: *data, full_name: { from: Name, apply: *clean } }
`);
    const mapping = await loadMapping(path);
    expect(mapping.entries.map(({ source, policies }) => [source, policies.duplicates])).toEqual([
      ['a', 'last'],
      ['b', 'last'],
    ]);
  });
});

describe('a mapping that cannot be loaded is reported', () => {
  const refusal = async (path: string, sources?: ReadonlyMap<string, string>): Promise<UserError> =>
    loadMapping(path, { ...(sources && { sources }) }).then(
      () => Promise.reject(new Error('was loaded')),
      (error: unknown) => error as UserError,
    );

  test('file not found', async () => {
    const error = await refusal(join(folder, 'nowhere.yaml'));
    expect(error).toBeInstanceOf(UserError);
    expect(error.message).toContain('mapping file not found');
  });

  test('not UTF-8', async () => {
    expect((await refusal(await written(Buffer.from([0x76, 0xe9, 0x0a]), 'latin.yaml'))).message).toContain(
      'not valid UTF-8',
    );
  });

  test('a file for an unknown source', async () => {
    const error = await refusal(await written(MAPPING), new Map([['contact', '/x']]));
    expect(error.message).toContain('unknown source `contact`');
    expect(error.hint).toBe('did you mean `contacts`?');
  });

  test('aliases that expand without limit', async () => {
    const bomb = Array.from(
      { length: 12 },
      (_, level) => `l${level + 1}: &l${level + 1} [${Array(9).fill(`*l${level}`).join(', ')}]`,
    );
    expect((await refusal(await written(`l0: &l0 [x]\n${bomb.join('\n')}\n`, 'bomb.yaml'))).message).toContain(
      'more than 50,000 nodes',
    );
  });
});

describe('a compiled entry', () => {
  const compiled = async (): Promise<CompiledMapping> => {
    const path = await written(`
version: 1
migration: m
defaults: { region: IT }
sources: { a: { path: a.csv } }
events:
  - type: lead/created
    source: a
    when: { from: Kind, equals: lead }
    data: { external_id: Id, phone_number: { from: [Mobile, Phone], apply: [phone] }, full_name: { template: "{Name}" } }
`);
    return (await loadMapping(path)).compile(new Map([['a', table(['Id', 'Kind', 'Phone', 'Name', 'Unused'])]]));
  };

  test('lists the columns it reads and their fields', async () => {
    const [entry] = (await compiled()).entries;
    const uses = entry!.uses.map(({ field, path, column }) => [field, path, column]);
    expect(uses).toEqual([
      ['when', 'Kind', 1],
      ['external_id', 'Id', 0],
      ['full_name', 'Name', 3],
      ['phone_number', 'Phone', 2],
    ]);
  });

  test('produces the same drafts for the same row, regardless of rows mapped in between', async () => {
    const [entry] = (await compiled()).entries;
    const bad = row(['1', 'lead', '12', 'Ada', '']);
    const first = entry!.map(bad);
    const snapshot = structuredClone(first);
    expect(entry!.map(row(['2', 'lead', '02 1234 5678', '', '']))).toHaveLength(1);
    expect(entry!.map(row(['3', 'other', 'x', '', '']))).toHaveLength(0);
    expect(first).toEqual(snapshot);
    expect(entry!.map(bad)).toEqual(snapshot);
    expect(snapshot).toMatchObject([
      { data: { external_id: '1', full_name: 'Ada' }, omissions: [{ field: 'phone_number', original: '12' }] },
    ]);
  });

  test('treats missing cells as missing values', async () => {
    const [entry] = (await compiled()).entries;
    expect(entry!.map(row(['1', 'lead']))).toMatchObject([{ data: { external_id: '1' }, issues: [], omissions: [] }]);
  });
});

function table(columns: readonly string[]): Source {
  return {
    name: 'a',
    kind: 'table',
    columns,
    duplicateColumns: new Set(),
    files: [],
    description: 'a table in memory',
    async *batches() {},
    unusedFixes: () => [],
    digests: () => undefined,
    otherArrays: () => [],
    notices: () => [],
  };
}

function row(cells: readonly string[]): Row {
  return { kind: 'row', place: { source: 'a', file: 'a.csv', line: 2, record: 1 }, raw: cells, issues: [] };
}
