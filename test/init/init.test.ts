import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UserError } from '../../src/errors.ts';
import { startMapping } from '../../src/init/index.ts';
import { backfill, FIXTURES, workspace } from '../e2e/harness.ts';
import { compare, fillIn, migrate, truthIn } from '../presets/truth.ts';

async function exportsIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((file) => file !== 'expected.json').map((file) => join(folder, file));
}

async function cases(area: string): Promise<string[]> {
  return (await readdir(join(FIXTURES, area))).sort();
}

/** Writes a mapping for the exports of a case into a directory of its own. */
async function begin(area: string, name: string): Promise<{ cwd: string; text: string; findings: readonly string[] }> {
  const cwd = await workspace();
  await cp(join(FIXTURES, area, name), join(cwd, 'exports'), { recursive: true });
  const { text, findings } = await startMapping(await exportsIn(join(cwd, 'exports')), {
    out: join(cwd, 'mapping.yaml'),
  });
  await writeFile(join(cwd, 'mapping.yaml'), text);
  return { cwd, text, findings };
}

describe.each(await cases('presets'))('init on the exports of %s', (name) => {
  it('recognises the CRM, and its mapping gives what the preset gives once a person has filled it in', async () => {
    const { cwd, findings } = await begin('presets', name);
    expect(findings.join('\n')).toContain(`preset ${name}: `);
    const truth = await truthIn(join(FIXTURES, 'presets', name));
    await fillIn(join(cwd, 'mapping.yaml'), truth);
    await compare(cwd, await migrate(cwd, 'mapping.yaml', truth), truth);
  });
});

describe.each(await cases('init'))('init on an export of an unknown CRM: %s', (name) => {
  it('writes a mapping that migrates as the truth says, and marks what a person has to decide', async () => {
    const { cwd, text } = await begin('init', name);
    const truth = await truthIn(join(FIXTURES, 'init', name));
    for (const said of truth.says ?? []) expect(text).toContain(said);
    await fillIn(join(cwd, 'mapping.yaml'), truth);
    await compare(cwd, await migrate(cwd, 'mapping.yaml', truth), { ...truth, says: [] });
  });
});

describe('backfill init', () => {
  it('prints the mapping to stdout and what it recognised to stderr', async () => {
    const cwd = await workspace('presets/pipedrive-csv');
    const ended = await backfill(['init', 'people.csv', 'deals.csv'], { cwd });
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stdout).toContain('type: lead/created');
    expect(ended.stderr).toContain('preset pipedrive-csv: ');
    expect(ended.stderr).toMatch(/\d+ lines marked "set this"/);
  });

  it('writes a file that a dry run takes as it stands', async () => {
    const cwd = await workspace('presets/pipedrive-csv');
    const written = await backfill(['init', 'people.csv', 'deals.csv', '--out', 'acme.yaml'], { cwd });
    expect(written.code, written.stderr).toBe(0);
    const dry = await backfill(['run', 'acme.yaml', '--dry-run', '--offline'], { cwd });
    expect(dry.code, dry.stderr).toBe(0);
    expect(dry.stderr).toContain('not used: ');
  });

  it('never overwrites a file', async () => {
    const cwd = await workspace('presets/pipedrive-csv');
    await writeFile(join(cwd, 'acme.yaml'), 'mine');
    const ended = await backfill(['init', 'people.csv', '--out', 'acme.yaml'], { cwd });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain('acme.yaml already exists');
    expect(await readFile(join(cwd, 'acme.yaml'), 'utf8')).toBe('mine');
  });

  it('takes the field table that it is told to, and knows the names of them all', async () => {
    const contacts = join(FIXTURES, 'presets/hubspot-csv/contacts.csv');
    const { findings } = await startMapping([contacts], { preset: 'hubspot-csv' });
    expect(findings.join('\n')).toContain('contacts.csv is its `contacts`');
    await expect(startMapping([contacts], { preset: 'hubspot-cvs' })).rejects.toThrow(UserError);
    await expect(startMapping([contacts], { preset: 'hubspot-cvs' })).rejects.toMatchObject({
      hint: expect.stringContaining('`hubspot-csv`') as string,
    });
  });

  it('reads a field from a column that the preset knows under another name, and says so', async () => {
    const cwd = await workspace();
    const header =
      'Record ID,First Name,Last Name,Email,Lifecycle Stage,Lead Status,Job Title,Create Date,Telephone,Region';
    const row = '1,Ann,Bell,ann@bell.example,Lead,New,CTO,2024-01-01 10:00,+39 02 8088 1201,North';
    await writeFile(join(cwd, 'contacts.csv'), `${header}\n${row}\n`);
    const { text, findings } = await startMapping([join(cwd, 'contacts.csv')], {});
    expect(findings.join('\n')).toContain('preset hubspot-csv: ');
    expect(text).toContain('phone_number: { from: Telephone, apply: [phone] } # set this: ');
    expect(text).toContain('# not taken, though it has values: Region');
  });

  it('refuses a file that is no export with the words of the reader', async () => {
    const cwd = await workspace();
    await writeFile(join(cwd, 'empty.csv'), '');
    const ended = await backfill(['init', 'empty.csv'], { cwd });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain('empty.csv');
  });
});
