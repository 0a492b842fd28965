// Lost without it: a preset could stop at a column that an export lacks, or take the wrong one.
import { describe, expect, it } from 'vitest';
import { ProblemsError } from '../../src/problem.ts';
import { project } from '../e2e/harness.ts';
import { mapped } from './inline.ts';

const LENIENT = 'columns: optional\n';

/** The data of the drafts that a mapping of `people.csv` makes, `deals.csv` and `users.csv` beside it where they are given. */
async function data(entries: string, exports: Readonly<Record<string, string>>, head = LENIENT): Promise<unknown[]> {
  const sources = ['people', 'deals', 'users'].map((name) => `  ${name}: { path: '${name}*.csv', optional: true }\n`);
  const drafts = await mapped(`${head}sources:\n${sources.join('')}events:\n${entries}`, exports);
  return drafts.map((draft) => draft.data);
}

const lead = (fields: string, keys = ''): string =>
  `  - { type: lead/created, source: people, ${keys} data: { external_id: Id, ${fields} } }\n`;

describe('what an export lacks', () => {
  it.each<[name: string, fields: string, keys: string, csv: string, expected: unknown[]]>([
    [
      'a value is left out',
      'full_name: Name, email: Mail',
      '',
      'Id,Name\n1,Ada\n',
      [{ external_id: '1', full_name: 'Ada' }],
    ],
    [
      'an alternative',
      'full_name: { from: [Nom, Name] }',
      '',
      'Id,Name\n1,Ada\n',
      [{ external_id: '1', full_name: 'Ada' }],
    ],
    [
      'a part of a list or template',
      'full_name: { list: [First, Last], apply: [{ join: " " }] }, custom_params: { x: { template: "{Town} {Zip}" } }',
      '',
      'Id,Last,Zip\n1,Byron,9\n',
      [{ external_id: '1', full_name: 'Byron', custom_params: { x: ' 9' } }],
    ],
    [
      'a default holds',
      'full_name: Name, custom_params: { of: { from: Origin, default: old } }',
      '',
      'Id,Name\n1,Ada\n',
      [{ external_id: '1', full_name: 'Ada', custom_params: { of: 'old' } }],
    ],
    [
      'a condition sees no value',
      'full_name: Name',
      'when: { from: Deleted, not_in: [yes] },',
      'Id,Name\n1,Ada\n',
      [{ external_id: '1', full_name: 'Ada' }],
    ],
    [
      'an entry that needs the column falls away, whatever else it lacks',
      'full_name: None',
      'when: { all: [{ from: Kind, equals: x }] },',
      'Id,Name\n1,Ada\n',
      [],
    ],
    [
      'a lookup without a file has no value',
      'full_name: Name, custom_params: { owner: { from: [{ lookup: { source: users, match: Id, with: Owner, take: Mail } }, Owner] } }',
      'when: { lookup: { source: users, match: Id, with: Id, take: Id }, present: false },',
      'Id,Name,Owner\n1,Ada,7\n',
      [{ external_id: '1', full_name: 'Ada', custom_params: { owner: '7' } }],
    ],
  ])('%s', async (_, fields, keys, csv, expected) => {
    expect(await data(lead(fields, keys), { 'people.csv': csv })).toEqual(expected);
  });

  it.each([
    [
      'an id',
      lead('full_name: Name').replace('external_id: Id', 'external_id: { from: [Key, No] }'),
      'no column `Key`, nor `No`',
    ],
    ['a name', lead('full_name: First'), 'no column `First`'],
    ['a required value', lead('full_name: Name, email: { from: Mail, required: true }'), 'no column `Mail`'],
    ['a column that is required', lead('full_name: Name, email: Mail'), 'no column `Mail`'],
  ])('%s is never left out', async (name, entries, message) => {
    const head = name.startsWith('a column') ? 'columns: required\n' : LENIENT;
    const found = await data(entries, { 'people.csv': 'Id,Name\n1,Ada\n' }, head).catch((error: unknown) => error);
    expect(found).toBeInstanceOf(ProblemsError);
    expect((found as ProblemsError).problems).toHaveLength(1);
    expect((found as ProblemsError).message).toContain(message);
  });
});

describe('a header', () => {
  it.each([
    ['First Name,ID', { external_id: '2', full_name: '1' }],
    ['firstname,id', { external_id: '2', full_name: '1' }],
    ['FIRST_NAME, Id', { external_id: '2', full_name: '1' }],
    // The exact one comes first.
    ['first_name,First Name,Id', { external_id: '3', full_name: '2' }],
    ['First Name,first_name,Id', { external_id: '3', full_name: '1' }],
  ])('%s is found by letter case, spaces and `_`', async (header, expected) => {
    const csv = `${header}\n${header
      .split(',')
      .map((_, index) => index + 1)
      .join(',')}\n`;
    expect(await data(lead('full_name: First Name'), { 'people.csv': csv }, 'columns: required\n')).toEqual([expected]);
  });

  it('that two alternatives mean is read, and left out, once', async () => {
    const name = 'full_name: { from: [First Name, firstname], apply: [{ map: { y: z } }], on_error: omit }';
    const sources = 'sources: { people: { path: people.csv } }\n';
    const [draft] = await mapped(`${sources}events:\n${lead(name)}`, { 'people.csv': 'Id,First Name\n1,x\n' });
    expect(draft!.omissions).toHaveLength(1);
  });

  it('that several columns could be is found by none', async () => {
    const found = data(lead('full_name: First Name'), { 'people.csv': 'Id,first_name,firstname\n1,a,b\n' });
    await expect(found).rejects.toThrow('no column `First Name`');
  });

  it.each([
    ['Id,Name,State,State\n1,Ada,big,won\n', 'won'],
    ['Id,Name,State,State\n1,Ada,Lost,blue\n', 'lost'],
  ])('that is there twice means the one whose values the map knows', async (csv, state) => {
    const fields =
      'full_name: Name, custom_params: { s: { from: State, apply: [lowercase, { map: { won: won, lost: lost } }] } }';
    expect(await data(lead(fields), { 'people.csv': csv })).toMatchObject([{ custom_params: { s: state } }]);
  });
});

const PRESET = `version: 1
migration: test
columns: optional
sources:
  people: { path: people.csv }
  notes: { path: 'notes*.csv', optional: true }
events:
  - type: lead/created
    source: people
    data:
      external_id: id
      full_name: name # set this: first or whole name
      email: mail
  - { type: comment/created, source: notes, data: { content: text, lead_external_id: of } }
`;

it('missing files, missing columns and mistakes of the mapping are reported at once', async () => {
  const old = '  - { type: lead/created, source: old, data: { external_id: id, full_name: nom } }\n';
  const mapping = `${PRESET.replace('sources:', 'sources:\n  old: { path: old.csv }')}${old}`;
  const { told, write } = await project({ 'people.csv': 'ID,mail\n1,a@b.test\n', 'mapping.yaml': mapping });
  const places = async (): Promise<string[]> => {
    const { code, stderr } = await told('--dry-run', '--offline');
    expect(code).toBe(2);
    return [...stderr.matchAll(/mapping\.yaml(:\d+:\d+) error/g)].map(([, place]) => place!);
  };
  expect(await places()).toEqual([':5:16', ':13:18']);
  await write({ 'mapping.yaml': mapping.replace('email: mail', 'e_mail: mail') });
  expect(await places()).toEqual([':5:16', ':13:18', ':14:7']);
});

it('lines marked `set this` stop a live run before its first request; a dry run and a rehearsal say what they assume', async () => {
  const { told, edit, service, summary } = await project({ 'people.csv': 'ID,name\n1,Ada\n', 'mapping.yaml': PRESET });
  const live = await told('--yes');
  expect(live.code).toBe(2);
  expect(live.stderr).toContain('mapping.yaml:12:1 error: not decided: full_name: name');
  expect(service.requests()).toHaveLength(0);
  const dry = await told('--dry-run');
  expect(dry.code).toBe(0);
  for (const fact of ['mapping.yaml:12', 'full_name: name', 'notes', '`mail`', '`id` is read from `ID`'])
    expect(dry.stdout).toContain(fact);
  expect((await told('--sandbox')).code).toBe(0);
  await edit('mapping.yaml', (text) => text.replace(/ # set this.*/, ''));
  expect((await summary('--yes')).events).toMatchObject({ total: 1, acknowledged: 1 });
});

it('why a row is skipped names only the columns that the export has', async () => {
  const when = 'any: [{ from: [Kind, Art], equals: lead }, { from: [Typ, Tipo], equals: lead }]';
  const mapping = PRESET.replace('source: people\n', `source: people\n    when: { ${when} }\n`);
  const { told } = await project({ 'people.csv': 'ID,name,Art\n1,Ada,lead\n2,Bo,firm\n', 'mapping.yaml': mapping });
  const { stdout } = await told('--dry-run', '--offline');
  expect(stdout).toContain('`Art` is not `lead`');
  for (const none of ['`Kind`', '`Typ`']) expect(stdout).not.toContain(`${none}, else`);
});
