import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { PLAN } from '../../src/store/plan-schema.ts';
import { Database } from '../../src/store/sqlite.ts';
import { backfill, environmentOf, FAST, files, sandbox, start, summaryOf, workspace, type Ended } from './harness.ts';
import type { FaultySandbox } from '../sandbox/faults.ts';

const MAPPING = `version: 1
migration: fix
sources:
  people: { path: people.csv }
events:
  - type: lead/created
    source: people
    data: { external_id: id, full_name: name, email: { from: email, on_error: reject } }
`;

const PEOPLE = 'id,name,email\n1,Ada,ada@example.test\n2,Bob,bob(at)example.test\n3,Cy,cy example.test\n';
const STATE = '.backfill/fix';
const REJECTS = `${STATE}/rejects`;

let service: FaultySandbox;
let cwd: string;

beforeEach(async () => {
  service = await sandbox();
  cwd = await workspace();
  await files(cwd, { 'mapping.yaml': MAPPING, 'people.csv': PEOPLE });
});

function run(...more: string[]): Promise<Ended> {
  return backfill(['run', 'mapping.yaml', '--json', ...FAST, ...more], { cwd, env: environmentOf(service) });
}

/** Names the files in the mapping as corrections of the people. */
function fixWith(...names: readonly string[]): Promise<void> {
  const fixes = `path: $1, fixes: [${names.join(', ')}] }`;
  const path = join(cwd, 'mapping.yaml');
  return readFile(path, 'utf8').then((text) => writeFile(path, text.replace(/path: ([^,} ]+).* \}/, fixes)));
}

function read(path: string): Promise<string> {
  return readFile(join(cwd, path), 'utf8');
}

async function names(path: string): Promise<string[]> {
  return (await readdir(join(cwd, path))).filter((name) => !name.startsWith('.')).sort();
}

function leads(): string[] {
  return service.state().leads.map(({ fullName, email }) => [fullName, email].join(' '));
}

async function correct(path: string, from: string, to: string): Promise<string> {
  const text = await read(path);
  expect(text).toContain(from);
  await writeFile(join(cwd, path), text.replace(from, to));
  return text.replace(from, to);
}

describe('what people do in rejects/', () => {
  it('stays through reruns, which write beside it under one name and say so', async () => {
    await run();
    const mine = await correct(`${REJECTS}/people.csv`, 'bob(at)', 'bob@');
    const second = await run();
    expect(await read(`${REJECTS}/people.csv`)).toBe(mine);
    expect(second.stderr).toContain(
      `${REJECTS}/people.csv was changed or created outside this program, so it was not overwritten`,
    );
    expect(second.stderr).toMatch(/not overwritten.*\/people\.2\.csv/);
    await run();
    expect(await names(REJECTS)).toEqual(['people.2.csv', 'people.csv']);
    expect(await read(`${REJECTS}/people.csv`)).toBe(mine);

    await fixWith(`${REJECTS}/people.csv`);
    const third = summaryOf(await run());
    expect(third.events).toMatchObject({ acknowledged: 2, invalid: 1 });
    expect(await read(`${REJECTS}/people.csv`)).toBe(mine);
    expect(await read(`${REJECTS}/people.2.csv`)).not.toContain('Bob');
  });

  it('stays in a dry run that is handed its own rejects, corrected in place', async () => {
    await run('--dry-run');
    const path = `${STATE}/dry-run/rejects/people.csv`;
    const mine = await correct(path, 'bob(at)', 'bob@');
    await fixWith(path);
    const again = summaryOf(await run('--dry-run'));
    expect(again.events).toMatchObject({ pending: 2, invalid: 1 });
    expect(await read(path)).toBe(mine);
    expect(await names(`${STATE}/dry-run/rejects`)).toEqual(['people.2.csv', 'people.csv']);
  });

  it('stays where it is a file or a folder with another name, or with the name of the rejects', async () => {
    await mkdir(join(cwd, REJECTS, 'people.csv'), { recursive: true });
    await files(join(cwd, REJECTS), { 'notes.txt': 'ask Bob', 'people.csv/mine.csv': 'x' });
    expect((await run()).code).toBe(1);
    await run();
    expect(await names(REJECTS)).toEqual(['notes.txt', 'people.2.csv', 'people.csv']);
    expect(await read(`${REJECTS}/people.csv/mine.csv`)).toBe('x');
    expect(await read(`${REJECTS}/notes.txt`)).toBe('ask Bob');
  });

  it('is the only thing that stays once nothing is rejected any more', async () => {
    await run();
    const copy = await read(`${REJECTS}/people.csv`);
    await writeFile(join(cwd, REJECTS, 'copy.csv'), copy);
    await files(cwd, { 'people.csv': PEOPLE.replace('(at)', '@').replace('cy ', 'cy@') });
    expect((await run()).code).toBe(0);
    expect(await names(REJECTS)).toEqual(['copy.csv']);
  });

  it('stays after kills, which lead to no new names', async () => {
    await run();
    const mine = await correct(`${REJECTS}/people.csv`, 'bob(at)', 'bob@');
    await files(cwd, { 'people.csv': `${PEOPLE}4,Di,di@example.test\n` });
    service.setFaults({ rules: [{ kind: 'hang' }] });
    for (let time = 0; time < 2; time += 1) {
      const before = service.requests().filter(({ method }) => method === 'POST').length;
      const args = ['run', 'mapping.yaml', '--json', ...FAST];
      const killed = start(args, { cwd, env: environmentOf(service) });
      await expect
        .poll(() => service.requests().filter(({ method }) => method === 'POST').length, { timeout: 20_000 })
        .toBeGreaterThan(before);
      killed.child.kill('SIGKILL');
      await killed.ended;
    }
    expect(await names(REJECTS)).toEqual(['people.csv']);
    service.setFaults({ rules: [] });
    expect(summaryOf(await run()).events).toMatchObject({ acknowledged: 2, invalid: 2 });
    await run();
    expect(await names(REJECTS)).toEqual(['people.2.csv', 'people.csv']);
    expect((await names(STATE)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    expect(await read(`${REJECTS}/people.csv`)).toBe(mine);
  });
});

describe('a correction', () => {
  it('belongs to its record wherever that stands in a newer export, and is listed once the record is gone', async () => {
    await run();
    await files(cwd, { 'bob.csv': (await read(`${REJECTS}/people.csv`)).replace('bob(at)', 'bob@') });
    await fixWith('bob.csv');
    expect(summaryOf(await run()).events).toMatchObject({ acknowledged: 2, invalid: 1 });

    // A new record on top, where Bob's correction would go by position.
    const [header, ...rows] = PEOPLE.trimEnd().split('\n');
    await files(cwd, { 'people.csv': `${[header, '0,Zed,zed@example.test', ...rows].join('\n')}\n` });
    const newer = await run();
    expect(summaryOf(newer).events).toMatchObject({ total: 4, acknowledged: 3, invalid: 1, gone: 0 });
    expect(newer.stderr).not.toContain('unused_fix');
    expect(leads().sort()).toEqual(['Ada ada@example.test', 'Bob bob@example.test', 'Zed zed@example.test']);

    // The old CRM has corrected Bob itself.
    await files(cwd, { 'people.csv': `${[header, rows[0], '2,Robert,bob@example.test'].join('\n')}\n` });
    const last = await run();
    expect(summaryOf(last)).toMatchObject({
      events: { total: 2, acknowledged: 2, invalid: 0, changed: 1 },
      warnings_by_code: { unused_fix: 1 },
    });
    expect(last.stderr).toMatch(/bob\.csv:2[^]*unused_fix/);
  });

  it('that is rejected in turn is corrected again, and a file for other records drops none', async () => {
    await run();
    const original = await read(`${REJECTS}/people.csv`);
    await files(cwd, { 'one.csv': original.replace('bob(at)', 'bob[at]').replace('cy example', 'cy@example') });
    await fixWith('one.csv');
    expect(summaryOf(await run()).events).toMatchObject({ acknowledged: 2, invalid: 1 });
    const again = await read(`${REJECTS}/people.csv`);
    expect(again).toContain('bob[at]');
    expect(rowsIn(again)).toEqual(rowsIn(original).slice(0, 1));

    await files(cwd, { 'two.csv': again.replace('bob[at]', 'bob@') });
    await fixWith('one.csv', 'two.csv');
    expect(summaryOf(await run())).toMatchObject({
      exit: { code: 0 },
      events: { acknowledged: 3, changed: 0 },
      warnings_by_code: { fixed_again: 1 },
    });
    expect(summaryOf(await run())).toMatchObject({ exit: { code: 0 }, this_run: { events_sent: 0 } });
    expect(leads().sort()).toEqual(['Ada ada@example.test', 'Bob bob@example.test', 'Cy cy@example.test']);
  });

  it('of JSON keeps the digits and the own `_row` and `_error` of its record', async () => {
    await files(cwd, {
      'mapping.yaml': MAPPING.replace('people.csv', 'people.ndjson').replace(
        'name,',
        'name, custom_params: { row: _row, error: _error },',
      ),
      'people.ndjson':
        '{"id":12345678901234567890,"_row":5.10,"name":"Bob","_error":"old","email":"bob(at)example.test"}\n',
    });
    await run();
    const rejects = await read(`${REJECTS}/people.ndjson`);
    expect(JSON.parse(rejects)).toMatchObject({ _error: 'old', __file: 'people.ndjson', __line: 1 });
    await files(cwd, { 'bob.ndjson': rejects.replaceAll('(at)', '@') });
    await fixWith('bob.ndjson');
    expect(summaryOf(await run()).exit.code).toBe(0);
    const sent = firstPlanned();
    expect(sent).toContain('"external_id":"12345678901234567890"');
    expect(sent).toContain('"error":"old"');
    expect(sent).toContain('"row":5.10');
  });

  it('of a table with own columns `_file`, `_line`, `_record`, `_error` and `_row` keeps them', async () => {
    const params = '{ f: _file, l: _line, n: _record, e: _error, r: _row }';
    await files(cwd, {
      'mapping.yaml': MAPPING.replace('name,', `name, custom_params: ${params},`),
      'people.csv': 'id,_file,_line,_record,_error,_row,name,email\n2,a.pdf,7,rec,none,r1,Bob,bob(at)example.test\n',
    });
    await run();
    await files(cwd, { 'bob.csv': (await read(`${REJECTS}/people.csv`)).replace('(at)', '@') });
    await fixWith('bob.csv');
    expect(summaryOf(await run()).exit.code).toBe(0);
    expect(JSON.parse(firstPlanned())).toMatchObject({
      custom_params: { f: 'a.pdf', l: '7', n: 'rec', e: 'none', r: 'r1' },
    });
  });

  it.each([
    ['has another column', (text: string) => text.replace('name,', 'nickname,'), 'unknown column `nickname`'],
    ['lacks `_row`', (text: string) => text.replaceAll('_row', 'row'), 'missing column `_row`'],
    ['names no record', (text: string) => text.replace(/r[\da-f]{20}/, '17'), '`_row` does not name a record: "17"'],
    ['is empty', () => '', 'is empty'],
    ['is binary', () => 'PK\x03\x04\0\0', 'zip'],
  ])('in a file that %s is refused', async (_, change, message) => {
    await run();
    await files(cwd, { 'bob.csv': change(await read(`${REJECTS}/people.csv`)) });
    await fixWith('bob.csv');
    const refused = await run();
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(message);
    expect(refused.stderr).toContain('bob.csv');
  });

  it('in a file with lines in two encodings are read in both, since reading them in one would damage names', async () => {
    await run();
    const saved = (await read(`${REJECTS}/people.csv`))
      .replace('Bob,bob(at)', 'Žofie,zofie@')
      .replace('Cy,cy ', 'Zo\xeb,cy@');
    await writeFile(
      join(cwd, 'saved.csv'),
      Buffer.concat([Buffer.from(saved.replace(/^3,[^]*/m, '')), Buffer.from(/^3,[^]*/m.exec(saved)![0], 'latin1')]),
    );
    await fixWith('saved.csv');
    const fixed = await run();
    expect(fixed.stderr).toMatch(/saved\.csv: [^]*windows-1252[^]*doubtful_encoding/);
    expect(leads()).toEqual(['Ada ada@example.test', 'Žofie zofie@example.test', 'Zoë cy@example.test']);
  });

  it('may come in the code page of a spreadsheet, packed and with another delimiter', async () => {
    await run();
    // Without the byte-order mark, which a code page does not have.
    const saved = (await read(`${REJECTS}/people.csv`))
      .slice(1)
      .replace('2,Bob,bob(at)', '2,Žofie,zofie@')
      .replace('cy ', 'cy@');
    const bytes = Buffer.from(saved.replaceAll(',', ';').replace('Ž', '\x8e'), 'latin1');
    await writeFile(join(cwd, 'saved.csv.gz'), gzipSync(bytes));
    await fixWith('saved.csv.gz');
    const fixed = await run();
    expect(fixed.code).toBe(0);
    expect(fixed.stderr).toMatch(/saved\.csv\.gz: [^]*windows-1252[^]*doubtful_encoding/);
    expect(leads()).toEqual(['Ada ada@example.test', 'Žofie zofie@example.test', 'Cy cy@example.test']);
    expect(summaryOf(await run())).toMatchObject({ exit: { code: 0 }, this_run: { events_sent: 0 } });
  });

  it('of JSON may come in another encoding too', async () => {
    const people = PEOPLE.trimEnd()
      .split('\n')
      .slice(1)
      .map((row) => row.split(','));
    const text = people.map(([id, name, email]) => `${JSON.stringify({ id, name, email })}\n`).join('');
    await files(cwd, { 'mapping.yaml': MAPPING.replace('people.csv', 'people.ndjson'), 'people.ndjson': text });
    await run();
    const saved = (await read(`${REJECTS}/people.ndjson`))
      .replace('"email":"bob(at)', '"email":"bob@')
      .replace('"email":"cy ', '"email":"cy@');
    await writeFile(join(cwd, 'saved.ndjson'), saved.replace('Bob', 'Zo\xeb'), 'latin1');
    await fixWith('saved.ndjson');
    expect((await run()).code).toBe(0);
    expect(leads()).toEqual(['Ada ada@example.test', 'Zoë bob@example.test', 'Cy cy@example.test']);
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
    await writeFile(join(cwd, copy), await read(`${state}/rejects/people.csv`));
    await files(cwd, { 'mapping.yaml': MAPPING });
    await fixWith(...copies, copy);
    return correct(copy, from, to);
  }

  /** Runs a command line as a shell does: `cp` itself, and the program with the words that the shell makes of the line. */
  async function paste(line: string): Promise<Ended> {
    const npx = `npx() { shift; printf '%s\\0' "$@"; }`;
    const { stdout: words } = await promisify(execFile)('/bin/sh', ['-c', `${npx}; ${line}`], { cwd });
    if (words === '') return { code: 0, stdout: '', stderr: '' };
    return backfill(words.split('\0').slice(0, -1), { cwd, env: environmentOf(service) });
  }

  it.each([[[]], [['--dry-run']], [['--sandbox']], [['--sandbox', '--dry-run']]])(
    'applies corrections again and again after a run with %s',
    async (options: readonly string[]) => {
      const first = await run(...options);
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

  it.each([[[]], [['--dry-run']]])(
    'can be run after corrections in another encoding and with %s',
    async (options: readonly string[]) => {
      await run();
      const rejects = (await read(`${REJECTS}/people.csv`)).slice(1);
      const saved = rejects.replace('bob(at)', 'bob@').replace('Cy', 'Zo\xeb');
      await writeFile(join(cwd, 'saved.csv'), saved, 'latin1');
      await fixWith('saved.csv');
      const fixed = await run(...options);
      expect(summaryOf(fixed).events).toMatchObject({ invalid: 1 });
      await correct('saved.csv', 'cy ', 'cy@');
      const after = await next(fixed);
      expect(summaryOf(after).events).toMatchObject({ invalid: 0 });
    },
  );

  it.each([[[]], [['--sandbox']], [['--only', 'lead']]])(
    'leads from a dry run with %s over a pilot to the end',
    async (options: readonly string[]) => {
      await files(cwd, { 'people.csv': PEOPLE.replace('(at)', '@').replace('cy ', 'cy@') });
      const dry = await run('--dry-run', ...options);
      const pilot = await run(...options, '--pilot', '1');
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

  it('reads back what was sent with the same files and the same account', async () => {
    await files(cwd, {
      'other.csv': 'id,name,email\n1,Ada,ada@example.test\n',
      'prod.env': Object.entries(environmentOf(service))
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
    });
    const args = ['run', 'mapping.yaml', ...FAST, '--source', 'people=other.csv', '--env-file', 'prod.env'];
    const ended = await backfill(args, { cwd });
    expect(ended.code).toBe(0);
    expect(ended.stdout).toContain('crm-backfill verify mapping.yaml');
    expect((await next(ended)).code).toBe(0);
  });
});

describe('a state directory that is removed during a run', () => {
  it('stops it at once with exit code 3, and --adopt goes on', async () => {
    const rows = Array.from({ length: 60 }, (_, id) => `${id},Name,a${id}@example.test\n`);
    await files(cwd, { 'people.csv': `id,name,email\n${rows.join('')}` });
    service.setFaults({ rules: [{ kind: 'latency', min_ms: 50, max_ms: 60 }] });
    const running = start(['run', 'mapping.yaml', '--json', ...FAST, '--concurrency', '2'], {
      cwd,
      env: environmentOf(service),
    });
    await expect.poll(() => service.state().leads.length, { timeout: 20_000 }).toBeGreaterThan(8);
    await rm(join(cwd, STATE), { recursive: true, force: true });
    const known = service.state().leads.length;
    const ended = await running.ended;
    expect(ended.code).toBe(3);
    expect(summaryOf(ended).exit.reason).toBe('state_removed');
    expect(ended.stderr).toMatch(/STOPPED at [^]*checkpoint\.db\s+was\s+removed\s+during\s+the\s+run/);
    expect(ended.stderr).toMatch(/service\s+recognises\s+every\s+event/);
    // Two in flight, and two whose request had begun.
    expect(service.state().leads.length).toBeLessThanOrEqual(known + 4);
    expect(await readdir(join(cwd, '.backfill'))).toEqual([]);

    const resume = /^ +npx crm-backfill (.*)/m.exec(ended.stderr)![1]!;
    expect(resume).toContain('--adopt');
    service.setFaults({ rules: [] });
    const rest = await backfill(resume.split(' '), { cwd, env: environmentOf(service) });
    expect(summaryOf(rest)).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 60 } });
    expect(service.state().leads.length).toBe(60);
  });

  it('stops it too if only its lock is, since another run may begin', async () => {
    const rows = Array.from({ length: 60 }, (_, id) => `${id},Name,a${id}@example.test\n`);
    await files(cwd, { 'people.csv': `id,name,email\n${rows.join('')}` });
    service.setFaults({ rules: [{ kind: 'latency', min_ms: 50, max_ms: 60 }] });
    const running = start(['run', 'mapping.yaml', '--json', ...FAST, '--concurrency', '2'], {
      cwd,
      env: environmentOf(service),
    });
    await expect.poll(() => service.state().leads.length, { timeout: 20_000 }).toBeGreaterThan(8);
    await rm(join(cwd, STATE, 'run.lock'));
    const known = service.state().leads.length;
    const ended = await running.ended;
    expect([ended.code, summaryOf(ended).exit.reason]).toEqual([3, 'lock_removed']);
    expect(ended.stderr).toMatch(/run\.lock\s+was\s+removed/);
    expect(service.state().leads.length).toBeLessThanOrEqual(known + 4);
    service.setFaults({ rules: [] });
    const rest = await backfill(['run', 'mapping.yaml', '--json', ...FAST], { cwd, env: environmentOf(service) });
    expect(summaryOf(rest)).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 60 } });
    expect(service.state().leads.length).toBe(60);
  });

  it('stops it during an outage too', async () => {
    const rows = Array.from({ length: 60 }, (_, id) => `${id},Name,a${id}@example.test\n`);
    await files(cwd, { 'people.csv': `id,name,email\n${rows.join('')}` });
    service.setFaults({ rules: [{ kind: 'outage', lasts_ms: 60_000, when: { requests: { from: 5 }, times: 1 } }] });
    const running = start(['run', 'mapping.yaml', '--json', ...FAST], {
      cwd,
      env: environmentOf(service),
    });
    await expect
      .poll(() => readFile(join(cwd, STATE, 'run.log'), 'utf8').catch(() => ''), { timeout: 20_000 })
      .toContain('"event":"outage"');
    await rm(join(cwd, STATE), { recursive: true, force: true });
    const ended = await running.ended;
    expect(ended.code, ended.stderr).toBe(3);
    expect(summaryOf(ended).exit.reason).toBe('state_removed');
    expect(ended.stderr).toMatch(/^ +npx crm-backfill run .* --adopt$/m);
  });
});

/** The data of the first event of the plan. */
function firstPlanned(): string {
  const plan = Database.read(join(cwd, STATE, 'plan.db'), PLAN)!;
  const { data } = plan.get<{ data: string }>('select data from events limit 1')!;
  plan.close();
  return data;
}

/** What `_row` contains in each line of a rejects file. */
function rowsIn(text: string): string[] {
  return [...text.matchAll(/,(r[\da-f]{20})$/gm)].map(([, row]) => row!);
}
