// Lost without it: a correction could be lost, or go to another record.
import { execFile } from 'node:child_process';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { useFastClock } from '../clock.ts';
import { backfill, mapping, project, rowsIn, summaryOf, type Ended, type Project } from './harness.ts';

useFastClock();

const PERSON =
  'type: lead/created, data: { external_id: id, full_name: name, email: { from: email, on_error: reject } }';
const MAPPING = mapping({ people: PERSON });
const PEOPLE = 'id,name,email\n1,Ada,ada@example.test\n2,Bob,bob(at)example.test\n3,Cy,cy example.test\n';
const STATE = '.backfill/test';
const REJECTS = `${STATE}/rejects`;

let p: Project;
beforeEach(async () => {
  p = await project({ 'mapping.yaml': MAPPING, 'people.csv': PEOPLE });
});

/** Names the files in the mapping as corrections of the people. */
function fixWith(...names: readonly string[]): Promise<void> {
  const fixes = `path: $1, fixes: [${names.join(', ')}] }`;
  return p.edit('mapping.yaml', (text) => text.replace(/path: (people\.[^,} ]+).*? \}$/m, fixes));
}

async function names(path: string): Promise<string[]> {
  return (await readdir(join(p.cwd, path))).filter((name) => !name.startsWith('.')).sort();
}

function leads(): string[] {
  return p.service.state().leads.map(({ fullName, email }) => [fullName, email].join(' '));
}

/** Changes a file, and returns its text. */
async function correct(path: string, from: string, to: string): Promise<string> {
  expect(await p.read(path)).toContain(from);
  await p.edit(path, (text) => text.replace(from, to));
  return p.read(path);
}

describe('what people do in rejects/', () => {
  it('stays through reruns, which write beside it under one name and say so', async () => {
    await p.run();
    const mine = await correct(`${REJECTS}/people.csv`, 'bob(at)', 'bob@');
    const second = await p.run();
    expect(await p.read(`${REJECTS}/people.csv`)).toBe(mine);
    expect(second.stderr).toContain(
      `${REJECTS}/people.csv was changed or created outside this program, so it was not overwritten`,
    );
    expect(second.stderr).toMatch(/not overwritten.*\/people\.2\.csv/);
    await p.run();
    expect(await names(REJECTS)).toEqual(['people.2.csv', 'people.csv']);
    expect(await p.read(`${REJECTS}/people.csv`)).toBe(mine);

    await fixWith(`${REJECTS}/people.csv`);
    const third = await p.summary();
    expect(third.events).toMatchObject({ acknowledged: 2, invalid: 1 });
    expect(await p.read(`${REJECTS}/people.csv`)).toBe(mine);
    expect(await p.read(`${REJECTS}/people.2.csv`)).not.toContain('Bob');
  });

  it('is the only thing that stays once nothing is rejected any more', async () => {
    await p.run();
    const copy = await p.read(`${REJECTS}/people.csv`);
    await writeFile(join(p.cwd, REJECTS, 'copy.csv'), copy);
    await p.write({ 'people.csv': PEOPLE.replace('(at)', '@').replace('cy ', 'cy@') });
    expect((await p.run()).code).toBe(0);
    expect(await names(REJECTS)).toEqual(['copy.csv']);
  });
});

describe('a correction', () => {
  it('belongs to its record wherever that stands in a newer export, and is listed once the record is gone', async () => {
    await p.run();
    await p.write({ 'bob.csv': (await p.read(`${REJECTS}/people.csv`)).replace('bob(at)', 'bob@') });
    await fixWith('bob.csv');
    expect((await p.summary()).events).toMatchObject({ acknowledged: 2, invalid: 1 });

    // A new record on top, where Bob's correction would go by position.
    const [header, ...rows] = PEOPLE.trimEnd().split('\n');
    await p.write({ 'people.csv': `${[header, '0,Zed,zed@example.test', ...rows].join('\n')}\n` });
    const newer = await p.run();
    expect(summaryOf(newer).events).toMatchObject({ total: 4, acknowledged: 3, invalid: 1, gone: 0 });
    expect(newer.stderr).not.toContain('unused_fix');
    expect(leads().sort()).toEqual(['Ada ada@example.test', 'Bob bob@example.test', 'Zed zed@example.test']);

    // The old CRM has corrected Bob itself.
    await p.write({ 'people.csv': `${[header, rows[0], '2,Robert,bob@example.test'].join('\n')}\n` });
    const last = await p.run();
    expect(summaryOf(last)).toMatchObject({
      events: { total: 2, acknowledged: 2, invalid: 0, changed: 1 },
      warnings_by_code: { unused_fix: 1 },
    });
    expect(last.stderr).toMatch(/bob\.csv:2[^]*unused_fix/);
  });

  it('that is rejected in turn is corrected again, and a file for other records drops none', async () => {
    await p.run();
    const original = await p.read(`${REJECTS}/people.csv`);
    await p.write({ 'one.csv': original.replace('bob(at)', 'bob[at]').replace('cy example', 'cy@example') });
    await fixWith('one.csv');
    expect((await p.summary()).events).toMatchObject({ acknowledged: 2, invalid: 1 });
    const again = await p.read(`${REJECTS}/people.csv`);
    expect(again).toContain('bob[at]');
    expect(rowIdsIn(again)).toEqual(rowIdsIn(original).slice(0, 1));

    await p.write({ 'two.csv': again.replace('bob[at]', 'bob@') });
    await fixWith('one.csv', 'two.csv');
    expect(await p.summary()).toMatchObject({
      exit: { code: 0 },
      events: { acknowledged: 3, changed: 0 },
      warnings_by_code: { fixed_again: 1 },
    });
    expect(await p.summary()).toMatchObject({ exit: { code: 0 }, this_run: { events_sent: 0 } });
    expect(leads().sort()).toEqual(['Ada ada@example.test', 'Bob bob@example.test', 'Cy cy@example.test']);
  });

  it('of a table with own columns `_file`, `_line`, `_record`, `_error` and `_row` keeps them', async () => {
    const params = '{ f: _file, l: _line, n: _record, e: _error, r: _row }';
    await p.write({
      'mapping.yaml': MAPPING.replace('name,', `name, custom_params: ${params},`),
      'people.csv': 'id,_file,_line,_record,_error,_row,name,email\n2,a.pdf,7,rec,none,r1,Bob,bob(at)example.test\n',
    });
    await p.run();
    await p.write({ 'bob.csv': (await p.read(`${REJECTS}/people.csv`)).replace('(at)', '@') });
    await fixWith('bob.csv');
    expect((await p.summary()).exit.code).toBe(0);
    expect(JSON.parse(await firstPlanned())).toMatchObject({
      custom_params: { f: 'a.pdf', l: '7', n: 'rec', e: 'none', r: 'r1' },
    });
  });

  it.each([
    ['names no record', (text: string) => text.replace(/r[\da-f]{20}/, '17'), '`_row` does not name a record: "17"'],
    ['is empty', () => '', 'is empty'],
    ['is binary', () => 'PK\x03\x04\0\0', 'zip'],
  ])('in a file that %s is refused', async (_, change, message) => {
    await p.run();
    await p.write({ 'bob.csv': change(await p.read(`${REJECTS}/people.csv`)) });
    await fixWith('bob.csv');
    const refused = await p.run();
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(message);
    expect(refused.stderr).toContain('bob.csv');
  });

  it('may come in the code page of a spreadsheet, packed and with another delimiter', async () => {
    await p.run();
    // Without the byte-order mark, which a code page does not have.
    const saved = (await p.read(`${REJECTS}/people.csv`))
      .slice(1)
      .replace('2,Bob,bob(at)', '2,Žofie,zofie@')
      .replace('cy ', 'cy@');
    const bytes = Buffer.from(saved.replaceAll(',', ';').replace('Ž', '\x8e'), 'latin1');
    await writeFile(join(p.cwd, 'saved.csv.gz'), gzipSync(bytes));
    await fixWith('saved.csv.gz');
    const fixed = await p.run();
    expect(fixed.code).toBe(0);
    expect(fixed.stderr).toMatch(/saved\.csv\.gz: [^]*windows-1252[^]*doubtful_encoding/);
    expect(leads()).toEqual(['Ada ada@example.test', 'Žofie zofie@example.test', 'Cy cy@example.test']);
    expect(await p.summary()).toMatchObject({ exit: { code: 0 }, this_run: { events_sent: 0 } });
  });

  it('in a file with lines in two encodings are read in both, since reading them in one would damage names', async () => {
    await p.run();
    const saved = (await p.read(`${REJECTS}/people.csv`))
      .replace('Bob,bob(at)', 'Žofie,zofie@')
      .replace('Cy,cy ', 'Zo\xeb,cy@');
    await writeFile(
      join(p.cwd, 'saved.csv'),
      Buffer.concat([Buffer.from(saved.replace(/^3,[^]*/m, '')), Buffer.from(/^3,[^]*/m.exec(saved)![0], 'latin1')]),
    );
    await fixWith('saved.csv');
    const fixed = await p.run();
    expect(fixed.stderr).toMatch(/saved\.csv: [^]*windows-1252[^]*doubtful_encoding/);
    expect(leads()).toEqual(['Ada ada@example.test', 'Žofie zofie@example.test', 'Zoë cy@example.test']);
  });
});

describe('the `fixes` of a source', () => {
  const mappingWith = (fixes: string): string =>
    mapping({
      people: PERSON,
      deals:
        'type: deal/created, data: { external_id: id, title: title, lead_external_id: { lookup: { source: people, match: email, with: contact, take: id } } }',
    }).replace('path: people.csv', `path: people.csv, ${fixes}`);

  beforeEach(() =>
    p.write({
      'mapping.yaml': mappingWith(''),
      'people.csv':
        'id,name,email\n1,Ada,ada@example.test\n02,Bob,bob(at)example.test\n3,"=Cy, ""the""",cy example.test\n',
      'deals.csv':
        'id,title,contact\n10,First,ada@example.test\n20,Second,bob@example.test\n30,Third,cy@example.test\n',
    }),
  );

  const rejects = (): Promise<string> => p.stored('rejects/people.csv');
  const names = (): unknown[] =>
    p.service
      .state()
      .leads.map(({ fullName }) => fullName)
      .sort();

  it('replace the original records, also in lookups, and acknowledged events are not sent again', async () => {
    const first = await p.summary();
    expect(first.events).toMatchObject({ total: 6, acknowledged: 2, invalid: 4 });

    // Bob is fixed in the rejects file; the row of his deal needs no change, because it refers to him by the right address.
    await p.write({
      'bob.csv': (await rejects()).replace('bob(at)', 'bob@').replace(/^3,.*\n/m, ''),
      'mapping.yaml': mappingWith('fixes: bob.csv'),
    });
    const second = await p.summary();
    expect(second.events).toMatchObject({ total: 6, acknowledged: 4, invalid: 2 });
    expect(second.this_run.events_sent).toBe(2);

    // A second file, in another directory, adds to the first; a spreadsheet formula in it has been escaped.
    const remaining = await rejects();
    expect(remaining).toContain(`"'=Cy, ""the"""`);
    await mkdir(join(p.cwd, 'more'));
    await p.write({
      'more/cy.csv': remaining.replace('cy example', 'cy@example'),
      'mapping.yaml': mappingWith('fixes: [bob.csv, more/*.csv]'),
    });
    const third = await p.summary();
    expect(third).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 6, changed: 0 } });
    expect(names()).toEqual(['=Cy, "the"', 'Ada', 'Bob']);
    expect(await p.summary()).toMatchObject({ exit: { code: 0 }, this_run: { events_sent: 0 } });
    expect(p.posts()).toBe(6);
  });

  it('make another plan, which --plan then refuses', async () => {
    const { plan } = await p.summary('--dry-run');
    const text = await p.stored('dry-run/rejects/people.csv');
    await p.write({ 'fixed.csv': text, 'mapping.yaml': mappingWith('fixes: fixed.csv') });
    expect((await p.summary('--dry-run')).plan.digest).toBe(plan.digest);
    await p.write({ 'fixed.csv': text.replace('bob(at)', 'bob@') });
    expect((await p.summary('--dry-run')).plan.digest).not.toBe(plan.digest);
    const refused = await p.run('--plan', plan.digest!);
    expect(refused.code).toBe(2);
    expect(p.posts()).toBe(0);
  });

  it('warn with both ids where a correction changes the external id, as spreadsheets do', async () => {
    await p.run();
    const saved = (await rejects()).replace('02,Bob,bob(at)', '2,Bob,bob@').replace('cy example', 'cy@example');
    await p.write({ 'saved.csv': saved, 'mapping.yaml': mappingWith('fixes: saved.csv') });
    const dry = await p.run('--dry-run');
    expect(summaryOf(dry).warnings_by_code).toMatchObject({ corrected_id: 1 });
    expect(dry.stderr.replace(/\s+/g, ' ')).toMatch(/"2".*lead.*"02".*saved\.csv:2 /);
  });
});

describe('the printed next step', () => {
  function commandsIn(ended: Ended): string[] {
    return [...`${ended.stdout}\n${ended.stderr}`.matchAll(/(?<=^ {2}.*)npx crm-backfill .*/gm)].map(([line]) => line);
  }

  /** Runs the command that a run printed as the next step; returns how it ended. */
  function next(ended: Ended): Promise<Ended> {
    return paste(commandsIn(ended)[0]!);
  }

  /** Corrects a copy of the rejects, which the mapping names. */
  async function fix(dryRun: boolean, options: readonly string[], from: string, to: string): Promise<string> {
    const state = `${STATE}${options.includes('--sandbox') ? '.sandbox' : ''}${dryRun ? '/dry-run' : ''}`;
    const copies = (await names('.')).filter((name) => name.startsWith('corrected-'));
    const copy = `corrected-${copies.length}.csv`;
    await writeFile(join(p.cwd, copy), await p.read(`${state}/rejects/people.csv`));
    await p.write({ 'mapping.yaml': MAPPING });
    await fixWith(...copies, copy);
    return correct(copy, from, to);
  }

  /** Runs a command line as a shell does: `cp` itself, and the program with the words that the shell makes of the line. */
  async function paste(line: string): Promise<Ended> {
    const npx = `npx() { shift; printf '%s\\0' "$@"; }`;
    const { stdout: words } = await promisify(execFile)('/bin/sh', ['-c', `${npx}; ${line}`], { cwd: p.cwd });
    if (words === '') return { code: 0, stdout: '', stderr: '' };
    return backfill(words.split('\0').slice(0, -1), { cwd: p.cwd, env: p.env });
  }

  it.each([[[]], [['--sandbox', '--dry-run']]])(
    'applies corrections again and again after a run with %s',
    async (options: readonly string[]) => {
      const first = await p.run(...options);
      expect(first.code).toBe(1);
      const isDry = options.includes('--dry-run');
      await fix(isDry, options, 'bob(at)', 'bob@');
      const second = await next(first);
      expect(summaryOf(second).events.invalid).toBe(1);
      await fix(isDry, options, 'cy ', 'cy@');
      const third = await next(second);
      expect(third.stderr).not.toContain('error:');
      expect(summaryOf(third).events.invalid).toBe(0);
      if (isDry) expect(summaryOf(await next(third)).exit.code).toBe(0);
    },
  );

  it.each([[['--sandbox']], [['--only', 'lead']]])(
    'leads from a dry run with %s over a pilot to the end',
    async (options: readonly string[]) => {
      await p.write({ 'people.csv': PEOPLE.replace('(at)', '@').replace('cy ', 'cy@') });
      const dry = await p.run('--dry-run', ...options);
      const pilot = await p.run(...options, '--pilot', '1');
      expect(summaryOf(pilot).events).toMatchObject({ acknowledged: 1, pending: 2 });
      for (const first of [pilot, dry]) {
        let ended = first;
        while (commandsIn(ended).some((line) => line.includes(' run '))) {
          ended = await next(ended);
          expect(ended).toMatchObject({ code: 0, stderr: expect.not.stringContaining('error:') as string });
        }
      }
    },
  );
});

describe('a state directory that is removed during a run', () => {
  const LEADS = Array.from({ length: 60 }, (_, id) => `${id},Name,a${id}@example.test\n`).join('');
  const arrived = (): number => p.service.state().leads.length;
  beforeEach(() => p.write({ 'people.csv': `id,name,email\n${LEADS}` }));

  it.each([
    [
      '',
      'state_removed',
      /checkpoint\.db\s+was\s+removed\s+during\s+the\s+run[^]*service\s+recognises\s+every\s+event/,
    ],
    ['run.lock', 'lock_removed', /run\.lock\s+was\s+removed/],
  ])('stops it at once with exit code 3, and a rerun goes on (%s)', async (removed, reason, why) => {
    p.service.setFaults({ rules: [{ kind: 'latency', min_ms: 50, max_ms: 60 }] });
    const running = p.run('--concurrency', '2');
    await expect.poll(arrived, { timeout: 120_000 }).toBeGreaterThan(8);
    await rm(p.state(removed), { recursive: true });
    const known = arrived();
    const ended = await running;
    expect(summaryOf(ended).exit).toMatchObject({ code: 3, reason });
    expect(ended.stderr).toMatch(why);
    // Two in flight, and two whose request had begun.
    expect(arrived()).toBeLessThanOrEqual(known + 4);
    if (removed === '') expect(await readdir(join(p.cwd, '.backfill'))).toEqual([]);
    p.service.setFaults({ rules: [] });
    const resume = /^ +npx crm-backfill (.*)/m.exec(ended.stderr)![1]!;
    expect(resume.includes('--adopt')).toBe(removed === '');
    const rest = await backfill(resume.split(' '), { cwd: p.cwd, env: p.env });
    expect(summaryOf(rest)).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 60 } });
    expect(arrived()).toBe(60);
  });
});

/** The data of the first event of the plan. */
async function firstPlanned(): Promise<string> {
  return (await rowsIn<{ data: string }>(p.state(), 'select data from events limit 1'))[0]!.data;
}

/** What `_row` contains in each line of a rejects file. */
function rowIdsIn(text: string): string[] {
  return [...text.matchAll(/,(r[\da-f]{20})$/gm)].map(([, row]) => row!);
}
