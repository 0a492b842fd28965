/** A format that `src` does not know, defined here: tables of fixed width. It goes through the program as those of `src` do. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { InputFile } from '../../src/input/files.ts';
import type { Format, TableFile, TableRecord } from '../../src/input/format.ts';
import type { SourceSpec } from '../../src/input/source.ts';
import { openText, readText } from '../../src/input/text/text.ts';
import type * as program from '../../src/main.ts';
import { folderWith, workIn } from './reading.ts';

let main: typeof program.main;

// Test files share their modules, so this one loads the program anew, with one format more.
beforeAll(async () => {
  vi.resetModules();
  const { FORMATS } = await import('../../src/input/formats.ts');
  vi.doMock('../../src/input/formats.ts', () => ({ FORMATS: [...FORMATS, FIXED] }));
  // The program loads its commands from `dist`.
  const index = await import('../../src/commands/index.ts');
  const definitions: Readonly<Record<string, object>> = await import('../../src/commands/definitions.ts');
  const commands: Readonly<Record<string, object>> = {
    run: await import('../../src/commands/run.ts'),
    plan: await import('../../src/commands/plan.ts'),
    schema: await import('../../src/commands/schema.ts'),
  };
  vi.doMock('../../src/commands/index.ts', () => ({
    ...index,
    definitionOf: (name: string) => definitions[name],
    loadCommand: (name: string) => commands[name],
  }));
  ({ main } = await import('../../src/main.ts'));
});

afterAll(() => {
  vi.doUnmock('../../src/input/formats.ts');
  vi.doUnmock('../../src/commands/index.ts');
  vi.resetModules();
});

const FIXED: Format = {
  name: 'fixed',
  extensions: ['fix', 'prn'],
  settings: { encoding: 'name', fields: 'names' },
  open: (file: InputFile, spec: SourceSpec) => openFixed(file, spec),
};

async function openFixed(
  input: InputFile,
  spec: SourceSpec & { readonly fields?: readonly string[] },
): Promise<TableFile> {
  const { file, encoding, notices } = await openText(input, spec);
  const fields = (spec.fields ?? []).map((field) => field.split(':') as [name: string, width: string]);
  const cut = (line: string): string[] => {
    let rest = line;
    return fields.map(([, width]) => {
      const cell = rest.slice(0, Number(width));
      rest = rest.slice(Number(width));
      return cell;
    });
  };
  return {
    kind: 'table',
    file,
    traits: [encoding, 'fixed width'],
    notices,
    header: fields.map(([name]) => name),
    headerLine: 1,
    async *read(hash) {
      let text = '';
      for await (const chunk of readText(file, hash)) text += chunk.toString('utf8');
      const lines = text.split('\n');
      yield lines.flatMap((line, at): TableRecord[] => (line === '' ? [] : [{ cells: cut(line), line: at + 1 }]));
      return {};
    },
  };
}

const MAPPING = `
version: 1
migration: fixed
defaults: { region: IT }
sources:
  people: { path: people.prn, encoding: windows-1252, fields: ['id:6', 'name:12', 'phone:14', 'until:10'] }
events:
  - type: lead/created
    source: people
    data:
      external_id: id
      full_name: name
      phone_number: { from: phone, apply: [phone], on_error: reject }
      custom_params: { until: { from: until, apply: [{ date: { formats: [yyyy-MM-dd], as: date } }] } }
`;

const PEOPLE = [
  '000123Niccol\xf2     +39066982     2024-05-01',
  '000124Ada         not a number  2024-05-02',
  '000125Bob         +39066983     31 May    ',
].join('\n');

/** A command in this process, with the sources that the mock of this file changes. */
async function run(...args: string[]) {
  const texts = ['', ''];
  const streams = [0, 1].map(
    (at) =>
      new Writable({
        write(chunk: Buffer, _encoding, done) {
          texts[at] += chunk.toString('utf8');
          done();
        },
      }),
  );
  process.argv = [process.execPath, 'cli.js', ...args];
  const code = await main(args, { stdout: streams[0]!, stderr: streams[1]! });
  return { code, stdout: texts[0]!, stderr: texts[1]! };
}

test('a fourth format goes through mapping, survey, plan, errors, rejects and corrections, and src does not change', async () => {
  const folder = folderWith({ 'mapping.yaml': MAPPING, 'people.prn': Buffer.from(PEOPLE, 'latin1') });
  workIn(folder);
  const survey = await run('run', 'mapping.yaml', '--dry-run', '--offline');
  expect(survey).toMatchObject({ code: 1 });

  const plan = (await run('plan', 'mapping.yaml', '--dry-run', '--json')).stdout.trim().split('\n');
  expect(plan.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({ external_id: '000123', file: 'people.prn', line: 1, state: 'pending' }),
    expect.objectContaining({ external_id: '000124', line: 2, state: 'invalid' }),
    expect.objectContaining({ external_id: '000125', line: 3, state: 'pending' }),
  ]);
  expect(plan[0]).toContain('"full_name":"Niccolò"');

  const state = join(folder, '.backfill/fixed/dry-run');
  expect(readFileSync(join(state, 'errors.csv'), 'utf8')).toMatch(
    /^people,people\.prn,2,2,lead\/created,000124,.*bad_phone/m,
  );
  expect(readFileSync(join(state, 'left_out.csv'), 'utf8')).toMatch(
    /^people,people\.prn,3,000125,custom_params\.until,31 May,/m,
  );
  const rejects = readFileSync(join(state, 'rejects/people.csv'), 'utf8');
  expect(rejects).toMatch(/^\ufeff?id,name,phone,until,_file,_line,_error,_row\r?\n000124,/);

  writeFileSync(join(folder, 'corrected.csv'), rejects.replace('not a number', '+39066984'));
  writeFileSync(join(folder, 'mapping.yaml'), MAPPING.replace('people.prn,', 'people.prn, fixes: corrected.csv,'));
  const again = await run('run', 'mapping.yaml', '--dry-run', '--offline', '--json');
  expect(JSON.parse(again.stdout)).toMatchObject({ events: { total: 3, invalid: 0 } });
});

test('a fourth format is known to the schema, to the checks of settings, and to glob errors', async () => {
  const folder = folderWith({ 'people.prn': '000123Ada', 'a.csv': 'id\n1\n', 'a.fix': '1' });
  workIn(folder);
  expect((await run('schema')).stdout).toMatch(/"enum": \[[^\]]*"ndjson",[^\]]*"fixed"/);
  const mapping = (source: string) => MAPPING.replace(/people: \{.*\}/, `people: ${source}`);
  writeFileSync(join(folder, 'mapping.yaml'), mapping("{ path: a.csv, fields: ['id:6'] }"));
  expect((await run('run', 'mapping.yaml', '--dry-run', '--offline')).stderr).toContain(
    '`fields` applies to fixed only',
  );
  writeFileSync(join(folder, 'mapping.yaml'), mapping('{ path: people.prn, delimiter: ";" }'));
  expect((await run('run', 'mapping.yaml', '--dry-run', '--offline')).stderr).toContain(
    '`delimiter` applies to csv only; this source is fixed',
  );
  writeFileSync(join(folder, 'mapping.yaml'), mapping('{ path: "a.*" }'));
  expect((await run('run', 'mapping.yaml', '--dry-run', '--offline')).stderr).toContain('csv, fixed');
});
