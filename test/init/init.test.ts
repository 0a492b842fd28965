// Lost without it: a mapping that `init` writes could fail to load, or say something else than the export does.
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { startMapping } from '../../src/init/index.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import { backfill, FIXTURES, workspace } from '../e2e/harness.ts';
import { compare, fillIn, migrate, truthIn } from '../presets/truth.ts';

async function exportsIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((file) => file !== 'expected.json').map((file) => join(folder, file));
}

async function cases(area: string): Promise<string[]> {
  return (await readdir(join(FIXTURES, area))).sort();
}

/** Writes a mapping for the exports of a case into a new directory. */
async function begin(area: string, name: string): Promise<{ cwd: string; text: string; findings: readonly string[] }> {
  const cwd = await workspace();
  await cp(join(FIXTURES, area, name), join(cwd, 'exports'), { recursive: true });
  const { text, findings } = await startMapping(await exportsIn(join(cwd, 'exports')), {
    out: join(cwd, 'mapping.yaml'),
  });
  await writeFile(join(cwd, 'mapping.yaml'), text);
  return { cwd, text, findings };
}

describe.each(await cases('init'))('init on an export of an unknown CRM: %s', (name) => {
  it('writes a mapping that gives the expected events, and marks what needs a decision', async () => {
    const { cwd } = await begin('init', name);
    const truth = await truthIn(join(FIXTURES, 'init', name));
    await fillIn(join(cwd, 'mapping.yaml'), truth);
    await compare(cwd, await migrate(cwd, 'mapping.yaml', truth), { ...truth, says: [] });
  });
});

describe('crm-backfill init', () => {
  it('prints the mapping to stdout and what it recognised to stderr', async () => {
    const cwd = await workspace('presets/pipedrive-csv');
    const ended = await backfill(['init', 'people.csv', 'deals.csv'], { cwd });
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stdout).toContain('type: lead/created');
    expect(ended.stderr).toMatch(/\(# (set this|check)\)/);
    const json = await backfill(['init', 'people.csv', 'deals.csv', '--json'], { cwd });
    const { sources, mapping, ...rest } = JSON.parse(json.stdout) as Record<string, unknown>;
    expect(`${mapping as string}`.trimEnd()).toBe(ended.stdout.trimEnd());
    expect(sources).toMatchObject({ people: { read: 3, taken: 3, unreadable: 0 } });
    expect(rest).toMatchObject({ out: null, error: null, next: expect.stringContaining('--dry-run') as string });
  });

  it('ends with a command that works as it stands, without credentials', async () => {
    const cwd = await workspace('init/outcome-beside-stage');
    const written = await backfill(['init', 'contacts.csv', 'deals.csv', '--out', 'acme.yaml'], { cwd });
    expect({ code: written.code, stdout: written.stdout }).toEqual({ code: 0, stdout: '' });
    const last = written.stderr.trimEnd().split('\n').at(-1)!;
    expect(last).toBe('npx crm-backfill run acme.yaml --dry-run --sandbox');
    const rehearsal = await backfill(last.split(' ').slice(2), { cwd });
    expect([0, 1], rehearsal.stderr).toContain(rehearsal.code);
    expect(rehearsal.stdout + rehearsal.stderr).toContain('12 rows read');
  });

  it('reads an export with lines in two encodings in both', async () => {
    const cwd = await workspace('input/lines-in-two-encodings');
    const ended = await backfill(['init', 'contacts.csv'], { cwd });
    expect(ended.code).toBe(0);
    expect(ended.stdout).toContain(
      'contacts: { path: contacts.csv, encoding: mixed } # check: lines that are not UTF-8 are read as Windows-1252',
    );
  });

  it('makes a source of each list of records in a JSON document', async () => {
    const cwd = await workspace();
    const people = ['p1', 'p2'].map((id) => ({ id, name: 'Ada Bell', email: `${id}@bell.example` }));
    const deals = people.map(({ id }) => ({ id: `of ${id}`, title: 'Roof', stage: 'New', amount: 10, person_id: id }));
    await writeFile(join(cwd, 'backup.json'), JSON.stringify({ version: 3, people, deals, colours: ['red'] }));
    const { text } = await startMapping([join(cwd, 'backup.json')], { out: join(cwd, 'mapping.yaml') });
    expect(text).toContain('people: { path: backup.json, records: people }');
    expect(text).toContain('deals: { path: backup.json, records: deals }');
    expect(text).toContain('lead_external_id: person_id # 2 of 2 match people.id');
  });

  it('takes none of the files that this program wrote for an export, and no mapping', async () => {
    const cwd = await workspace('presets/pipedrive-csv');
    await backfill(['init', 'people.csv', 'deals.csv', '--out', 'acme.yaml'], { cwd });
    await backfill(['run', 'acme.yaml', '--sandbox', '--pilot', '2'], { cwd });
    await backfill(['plan', 'acme.yaml', '--sandbox', '--csv', 'plan'], { cwd });
    const state = join(cwd, '.backfill/acme.sandbox');
    const results = ['references.csv', 'errors.csv', 'left_out.csv', 'ids.csv', 'pilot.csv'];
    await mkdir(join(cwd, 'results'));
    // The worksheet is where the mapping says.
    const written = (name: string): string => join(name === 'references.csv' ? cwd : state, name);
    for (const name of results) await cp(written(name), join(cwd, 'results', name));
    const own = [...results.map((name) => `results/${name}`), 'plan/lead-created.csv', 'plan/left_out.csv'];
    const files = [...own, '.backfill/acme.sandbox/ids.csv', 'acme.yaml'].map((name) => join(cwd, name));
    const { findings } = await startMapping([join(cwd, 'people.csv'), ...files], {});
    for (const file of files) expect(findings.join('\n')).toContain(`${file}: not used, because it is not an export`);
    await expect(startMapping(files, {})).rejects.toThrow(
      'acme.yaml: not used, because it is not an export, but a mapping',
    );
  });

  it('says what is wrong with JSON of which no record can be read', async () => {
    const cwd = await workspace();
    await writeFile(join(cwd, 'deep.json'), `[{"id":1,"a":${'['.repeat(200)}${']'.repeat(200)}}]`);
    const ended = await backfill(['init', 'deep.json'], { cwd });
    expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code: 2, stdout: '' });
    expect(ended.stderr).toMatch(/deep\.json has no record with a value: .*200/);
    // The others have their mapping.
    await writeFile(join(cwd, 'scalar.json'), '12');
    await writeFile(join(cwd, 'people.csv'), 'Id,Name,Email\n1,Ada Bell,ada@acme.example\n2,Bo Gil,bo@acme.example\n');
    const more = await backfill(['init', 'scalar.json', 'people.csv', '--out', 'mapping.yaml'], { cwd });
    expect(more.code).toBe(1);
    expect(more.stderr).toMatch(/scalar\.json: not used, because it cannot be read: /);
    expect(await readFile(join(cwd, 'mapping.yaml'), 'utf8')).toContain('source: people');
  });

  it('names the migration after the file, or after its folder', async () => {
    const cwd = await workspace('presets/pipedrive-csv');
    const nameOf = async (out: string): Promise<unknown> =>
      (parse((await startMapping([join(cwd, 'people.csv')], { out: join(cwd, out) })).text) as { migration: unknown })
        .migration;
    expect(await nameOf('acme.yaml')).toBe('acme');
    expect(await nameOf('Bell & Sons/mapping.yaml')).toBe('Bell - Sons');
    expect(await nameOf('$/con.yaml')).toBe('crm-export');
  });

  it('refuses a file that is there before it reads anything, and never overwrites it', async () => {
    const cwd = await workspace('presets/pipedrive-csv');
    await writeFile(join(cwd, 'acme.yaml'), 'mine');
    const ended = await backfill(['init', 'no-such-file.csv', '--out', 'acme.yaml'], { cwd });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain('acme.yaml already exists');
    expect(await readFile(join(cwd, 'acme.yaml'), 'utf8')).toBe('mine');
  });

  it('makes the folder of the file, and says before it reads anything if it cannot', async () => {
    const cwd = await workspace('presets/pipedrive-csv');
    const made = await backfill(['init', 'people.csv', '--out', 'new/folder/acme.yaml'], { cwd });
    expect(made.code).toBe(0);
    expect(await readFile(join(cwd, 'new/folder/acme.yaml'), 'utf8')).toContain('path: ../../people.csv');
    const refused = await backfill(['init', 'no-such-file.csv', '--out', 'people.csv/acme.yaml'], { cwd });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('people.csv/acme.yaml');
    expect(refused.stderr).not.toContain('no-such-file');
  });

  it('reads exports in the encoding and with the delimiter that it is told, and writes both into the mapping', async () => {
    const cwd = await workspace();
    await writeFile(
      join(cwd, 'people.csv'),
      Buffer.from('Record ID^E-mail^Name\n1^ann@bell.example^\u0416\n', 'utf16le'),
    );
    await writeFile(join(cwd, 'notes.json'), Buffer.from('[{"id":1,"body":"\u0416"}]', 'utf16le'));
    const command = ['init', 'people.csv', 'notes.json', '--encoding', 'utf-16le', '--delimiter', '^'];
    const { code, stdout } = await backfill([...command, '--out', 'mapping.yaml'], { cwd });
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    const text = await readFile(join(cwd, 'mapping.yaml'), 'utf8');
    expect(text).toContain('people: { path: people.csv, encoding: utf-16le, delimiter: ^ }');
    const { sources } = await loadMapping(join(cwd, 'mapping.yaml'));
    expect(sources[0]).toMatchObject({ encoding: 'utf-16le', delimiter: '^' });
    await writeFile(join(cwd, 'tabs.txt'), 'Record ID\tE-mail\n1\tann@bell.example\n');
    await backfill(['init', 'tabs.txt', '--delimiter', 'tab', '--out', 'tabs.yaml'], { cwd });
    expect((await loadMapping(join(cwd, 'tabs.yaml'))).sources[0]).toMatchObject({ delimiter: '\t' });
  });

  it('says how to set the encoding of an export where one is given that does not fit', async () => {
    const cwd = await workspace();
    await writeFile(join(cwd, 'people.csv'), Buffer.from('Record ID,Name\n1,Zo\xeb\n', 'latin1'));
    const ended = await backfill(['init', 'people.csv', '--encoding', 'utf-8'], { cwd });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain(
      'people.csv:2 is not UTF-8 text (bytes eb), which is the encoding set with --encoding',
    );
    expect(ended.stderr).toContain('`--encoding windows-1252`');
  });

  it('refuses a file that is not an export with the message of the reader', async () => {
    const cwd = await workspace();
    await writeFile(join(cwd, 'empty.csv'), '');
    const ended = await backfill(['init', 'empty.csv'], { cwd });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain('empty.csv');
  });
});

it('gives sources names that a mapping may have, whatever the files are called', async () => {
  const cwd = await workspace();
  const paths = ['con.csv', 'constructor.csv', '顧客.csv', `${'long'.repeat(50)}.csv`].map((name) => join(cwd, name));
  for (const [at, path] of paths.entries())
    await writeFile(path, `Id,Name,Email,More ${at}\n1,Ada Bell,ada@example.test,x\n`);
  const { text } = await startMapping(paths, { out: join(cwd, 'mapping.yaml') });
  await writeFile(join(cwd, 'mapping.yaml'), text);
  const { sources } = await loadMapping(join(cwd, 'mapping.yaml'));
  expect(sources.map(({ name }) => name)).toEqual(['con_2', 'constructor_2', '顧客', 'long'.repeat(10)]);
});

it('marks what strangers met, each in a small export', async () => {
  const cwd = await workspace();
  const files = {
    'contacts.csv':
      'id,full name,email,phone,mobile,note\nP1,Ada Bell,ada@a.example,+41 79 194 87 74,,None\nP2,Bo Gil,bo@a.example,+41 79 194 87 75,+41 79 555 11 22,NaT\nP3,Cy Dorn,cy@a.example,+41 79 194 87 77,,<NA>\n',
    'leads.csv': 'id,full name,email\nL1,Ada Bell,ada@a.example\nL2,Bo Gil,bo@a.example\nL3,Zo Pi,zo@a.example\n',
    'deals.csv':
      'id,title,amount,owner id,stage,status\nD1,,1200.5,7,New,open\nD2,Roof,1300.5,8,Talk,won\nD3,Wall,1400.5,7,New,lost\nD4,Door,1500.5,9,New,open\n',
    'users.csv': 'id,name,email\n7,Jo Ray,jo@x.example\n8,Jo Ray,jo2@x.example\n9,Kim Sun,kim@x.example\n',
    'calls.csv':
      'id,date,type,notes,contact id\nA1,2025-02-01 10:00,Call,Talked about the roof and the wall,P1\nA2,2025-02-02 10:00,Email,Sent the offer for the roof today,P2\nA3,2025-02-03 10:00,Call,Wants to think about it again,P3\n',
    'crm.json': JSON.stringify({
      accounts: [1, 2].map((n) => ({
        ...{ key: `a${n}`, city: 'Rome' },
        contacts: [3, 4].map((m) => ({ id: `c${n}${m}`, name: `Di ${n}Ek`, email: `d${n}${m}@b.example` })),
      })),
    }),
    'x.vcf': 'BEGIN:VCARD\nFN:Ada\nEND:VCARD\n',
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text);
  const paths = Object.keys(files).map((name) => join(cwd, name));
  const { text, findings } = await startMapping(paths, { out: join(cwd, 'mapping.yaml') });
  for (const line of [
    /missing_values: \['', None, NaT, <NA>\] # check/,
    /phone_number: { from: \[phone, mobile\]/,
    /when: # check: 2 of 3 addresses are also in contacts/,
    /title: title # check: .*1 deal without one/,
    /owner_name: .*take: email.* 3 of 3 are in users\.id/,
    /stage_name: .*status.*# check/,
    /custom_fields:\n +stage: stage/,
    /content: notes # check: .*{date} {type}: {notes}/,
    /not carried: `\$\.key`, `\$\.city`/,
  ])
    expect(text).toMatch(line);
  expect(findings.join('\n')).toMatch(/x\.vcf: not used, because it is not an export, but a file of vCards/);
});

it('joins notes by the number of the customer or of the order, and by nothing else where a row has only one of them', async () => {
  const cwd = await workspace();
  const numbers = Array.from({ length: 40 }, (_, at) => at + 1);
  const padded = (n: number): string => String(n).padStart(6, '0');
  const files = {
    'Kunden.csv': [
      'Kundennummer;Name;Vorname',
      ...numbers.map((n) => `${padded(n)};${n % 2 ? 'Weiss' : 'Klein'};Anna`),
    ],
    'Aufträge.csv': ['Auftragsnr;Kundennr;Bezeichnung', ...numbers.map((n) => `A-${n};${padded(41 - n)};Küche ${n}`)],
    'Notizen.csv': [
      'ID;Kundennr;Auftragsnr;Text',
      ...numbers.map((n) => `${n};${n % 2 ? `${padded(41 - n)};` : `;A-${n}`};Rückruf wegen der Küche, Teil ${n}`),
    ],
  };
  for (const [name, lines] of Object.entries(files)) await writeFile(join(cwd, name), lines.join('\n'));
  const paths = Object.keys(files).map((name) => join(cwd, name));
  const { events } = parse((await startMapping(paths, { out: join(cwd, 'mapping.yaml') })).text) as {
    events: { data: Record<string, unknown> }[];
  };
  expect(events[0]!.data['full_name']).toMatchObject({ list: ['Vorname', 'Name'] });
  expect(events.map(({ data }) => [data['lead_external_id'], data['deal_external_id']])).toEqual([
    [undefined, undefined],
    ['Kundennr', undefined],
    ['Kundennr', 'Auftragsnr'],
  ]);
});
