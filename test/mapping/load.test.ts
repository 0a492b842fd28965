// Lost without it: a mistake of a mapping could be told without its place, or not at all.
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { UserError } from '../../src/errors.ts';
import type { Source } from '../../src/input/source.ts';
import { markedLines, parseMappingDocument } from '../../src/mapping/document.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import type { CompiledMapping } from '../../src/mapping/mapping.ts';
import { policiesOf } from '../../src/mapping/policies.ts';
import { mappingJsonSchema } from '../../src/mapping/schema.ts';
import type { Row } from '../../src/model.ts';
import { ProblemsError } from '../../src/problem.ts';
import { casesOf, compileCase, draftsOf, printed } from './cases.ts';
import { mapped } from './inline.ts';

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
    return (await loadMapping(path)).compile({
      sources: new Map([['a', table(['Id', 'Kind', 'Phone', 'Name', 'Unused'])]]),
      failures: new Map(),
    });
  };

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
    expectIds: () => undefined,
    unusedFixes: () => [],
    digests: () => undefined,
    otherArrays: () => [],
    notices: () => [],
  };
}

function row(cells: readonly string[]): Row {
  return { kind: 'row', place: { source: 'a', file: 'a.csv', line: 2, record: 1 }, raw: cells, issues: [] };
}

/** What is said of a text, with its place. */
function said(text: string): string[] {
  return parseMappingDocument(text, 'm.yaml').problems.map(
    ({ message, at }) => `${at!.line}:${at!.column} ${message.replaceAll('`', '')}`,
  );
}

describe('a mistake in YAML is said in plain words', () => {
  it.each([
    ['a: 1\n---\nb: 2\n', '2:1'],
    ['---\na: 1\n---\n', '3:1'],
    ['a: 1\n...\nb: 2\n', '3:1'],
  ])('%j: a second document', (text, place) => {
    expect(said(text)).toEqual([expect.stringMatching(new RegExp(`^${place} .*second YAML document`))]);
  });

  it.each([
    ['version:\u00a01\nmigration: m\n', '1:9 version:'],
    ['version: 1\nsources:\n  it:\n    path:\u00a0it.csv\n', '4:10 path:'],
    ['version: 1\nsources:\n  it: { path:\u202fit.csv }\n', '3:14 path:'],
    ['events:\n  - type:\u3000lead/created\n    source: it\n', '2:10 type:'],
    ['version\uff1a1\nmigration: m\n', '1:8 version'],
    ['path\uff1a it.csv\n', '1:5 path'],
  ])('%j: a blank, or a colon, that YAML does not take for one', (text, expected) => {
    expect(said(text)).toEqual([expect.stringContaining(expected)]);
  });

  it('a no-break space among the spaces of an indentation', () => {
    expect(said('events:\n  - type: x\n    \u00a0source: it\n')).toEqual([
      expect.stringMatching(/^3:5 there is a no-break space/),
    ]);
  });

  it.each(['a: x\u00a0y\n', 'a: "q:\u00a0z"\n', "a: 'q:\u00a0z'\n", '---\na: 1\n...\n', 'a: |\n  q:\u00a0z\n'])(
    '%j is none',
    (text) => {
      expect(said(text)).toEqual([]);
    },
  );
});

it.each([
  ['lists', `${'['.repeat(500)}${']'.repeat(500)}`],
  ['maps', `${'{a: '.repeat(500)}1${'}'.repeat(500)}`],
  ['dashes', `${'- '.repeat(500)}1`],
  ['20,000 lists', `${'['.repeat(20_000)}${']'.repeat(20_000)}`],
])('a mapping of %s within each other is refused', (_what, nested) => {
  const { data, problems } = parseMappingDocument(nested, 'mapping.yaml');
  expect(data).toBeUndefined();
  expect(problems).toHaveLength(1);
  expect(problems[0]!.message).toContain('100 levels');
});

test('the JSON Schema file is up to date (run `crm-backfill schema`)', async () => {
  const file = new URL('../../mappings/mapping.schema.json', import.meta.url);
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(mappingJsonSchema());
});

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
    { line: 2, mark: 'set this', text: 'migration: acme' },
    { line: 4, mark: 'set this', text: '# region: IT' },
    { line: 5, mark: 'check', text: 'timezone: Europe/Rome' },
  ]);
});

async function leads(name: string, csv: string): Promise<unknown[]> {
  const mapping =
    'sources: { it: { path: it.csv } }\n' +
    `events: [{ type: lead/created, source: it, data: { external_id: Id, full_name: ${name} } }]\n`;
  return (await mapped(mapping, { 'it.csv': csv })).map(({ data }) => data.full_name);
}

describe('a column that shares its name with others', () => {
  const csv = 'Id,Name,Name,City,Name\n1,Ann,Annie,Rome,Anna\n';

  it.each([
    ['"Name#1"', 'Ann'],
    ['"Name#2"', 'Annie'],
    ['"Name#3"', 'Anna'],
    ['"City#1"', 'Rome'],
    ['{ template: "{Name#2} {Name#3}" }', 'Annie Anna'],
  ])('is reached by its position, %s', async (name, value) => {
    expect(await leads(name, csv)).toEqual([value]);
  });

  it('is not chosen by chance', async () => {
    const refusal = leads('Name', csv);
    await expect(refusal).rejects.toBeInstanceOf(ProblemsError);
    await expect(refusal).rejects.toThrow('name one by its position, `Name#1` or `Name#2` or `Name#3`');
    await expect(leads('"Name#4"', csv)).rejects.toThrow('has no column `Name#4`');
  });
});

test('a policy of `defaults` holds for entries that set none and have the choice', () => {
  const defaults = { if_changed: 'update', if_exists: 'update', if_parent_missing: 'omit', duplicates: 'last' };
  expect(policiesOf({ type: 'deal/created' }, defaults)).toMatchObject(defaults);
  expect(policiesOf({ type: 'deal/created', if_changed: ['amount'], duplicates: 'first' }, defaults)).toMatchObject({
    if_changed: ['amount'],
    duplicates: 'first',
    if_exists: 'update',
  });
  // A comment can neither be updated nor be sent without its parent.
  expect(policiesOf({ type: 'comment/created' }, defaults)).toMatchObject({
    if_changed: 'report',
    if_exists: 'reject',
    if_parent_missing: 'block',
    duplicates: 'last',
  });
});

test.each([
  ['if_changed: sometimes', 'must be one of `report`, `ignore`, `update`'],
  ['if_change: update', 'did you mean `if_changed`?'],
])('`defaults: { %s }` is a mistake of the mapping', async (line, message) => {
  const mapping = `defaults: { ${line} }\nsources: { it: { path: it.csv } }\nevents: [{ type: lead/created, source: it, data: { external_id: Id } }]\n`;
  const error: unknown = await mapped(mapping, { 'it.csv': 'Id\n1\n' }).catch((thrown: unknown) => thrown);
  expect(JSON.stringify(error)).toContain(message);
});

describe('a valid mapping produces the expected drafts', () => {
  test.each(casesOf('valid'))('$name', async ({ folder }) => {
    const { compiled, sources } = await compileCase(folder);
    const drafts = (await draftsOf(compiled, sources)).map(
      ({ type, place, data, occurredAt, stagePipeline, issues, omissions }) => ({
        type,
        record: place.record,
        data,
        occurredAt,
        stagePipeline,
        ...(issues.length > 0 && { issues }),
        ...(omissions.length > 0 && { omissions }),
      }),
    );
    const warnings = compiled.warnings.map(({ code, message, at }) => `${at!.line}:${at!.column} ${message} [${code}]`);
    await expect(printed({ drafts, warnings })).toMatchFileSnapshot(join(folder, 'expected.json'));
  });
});

describe('an invalid mapping is rejected with all its errors', () => {
  test.each(casesOf('invalid'))('$name', async ({ folder }) => {
    const refusal = await compileCase(folder).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(refusal).toBeInstanceOf(ProblemsError);
    const { message, exitCode } = refusal as ProblemsError;
    expect(exitCode).toBe(2);
    await expect(`${message.replaceAll(folder + sep, '')}\n`).toMatchFileSnapshot(join(folder, 'expected.txt'));
  });
});

describe('one wrong indent', () => {
  const lines = `version: 1
migration: it
sources:
  people: { path: people.csv }
  firms:
    path: firms.csv
references:
  stages:
    Open: New
events:
  - type: lead/created
    source: people
    when:
      all:
        - { from: Kind, equals: Person }
        - from: Name
          present: true
    data:
      external_id: Id
      full_name: Name
`.split('\n');

  it.each([
    [4, 3],
    [5, 3],
    [7, 2],
    [9, 0],
    [11, 0],
    [11, 3],
    [12, 0],
    [13, 6],
    [14, 2],
    [16, 9],
    [17, 6],
    [18, 6],
    [19, 5],
    [20, 8],
  ])('is one mistake with the line that has it: line %i with %i spaces', async (line, spaces) => {
    const text = lines.with(line - 1, ' '.repeat(spaces) + lines[line - 1]!.trimStart()).join('\n');
    const error: unknown = await loadMapping(await written(text)).catch((thrown: unknown) => thrown);
    const problems = (error as ProblemsError).problems.filter(({ code }) => code !== 'bad_source');
    expect(problems).toMatchObject([{ code: 'wrong_indent', at: { line } }]);
  });
});

it.each(['"1": New', "'1': New", '1: New'])('the keys `1` and `%s` are one', async (line) => {
  const text = `version: 1\nmigration: it\nreferences:\n  stages:\n    1: Won\n    ${line}\nsources: { p: { path: p.csv } }\nevents:\n  - { type: lead/created, source: p, data: { external_id: Id } }\n`;
  await written('Id\n1\n', 'p.csv');
  const error: unknown = await loadMapping(await written(text)).catch((thrown: unknown) => thrown);
  expect((error as ProblemsError).problems).toMatchObject([{ code: 'duplicate_key', at: { line: 6, column: 5 } }]);
});
