// Lost without it: the plan that a customer signs could differ from what is sent.
import { appendFile, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { handler as plan } from '../../src/commands/plan.ts';
import { Console } from '../../src/report/print/console.ts';
import { StateDir } from '../../src/files/state-dir.ts';
import { readState } from '../../src/store/open.ts';
import { project, workspace } from '../e2e/harness.ts';
import { StateOf } from '../state.ts';
import { call, type Said } from './in-process.ts';

const WON = '11111111-1111-4111-8111-111111111111';
const ADA = '22222222-2222-4222-8222-222222222222';

const ACCOUNT: Parameters<StateOf['account']>[0] = {
  base_url: 'http://127.0.0.1:1',
  pipelines: [{ id: 'p1', name: 'Sales', type: 'DEAL', stages: [{ id: WON, name: 'Won' }] }],
  users: [{ id: ADA, names: ['Ada Lovelace'], email: 'ada@example.test' }],
};

function planned(state: StateOf): void {
  state.account(ACCOUNT, 'acme').source('people', ['Id', 'Name', 'Name']).source('deals');
  const one = { full_name: 'Ada', phone_number: '+390669821000', custom_params: { origin: '=1+1' } };
  const ada = state.event('lead/created', '00123', one, { raw: ['00123', 'Ada', '=HYPERLINK("x")'], state: 'ready' });
  state.omission(ada, 'email', 'at home', '`at home` is not an e-mail address');
  const bob = state.event('lead/created', '2', null, { raw: ['2', 'Bob', ''], state: 'invalid' });
  state.problem(bob, 'missing_value', 'a value is missing', { field: 'full_name' });
  const deal = { amount: 12.5, stage_id: WON, owner_id: ADA };
  state.event('deal/created', '7', deal, { source: 'deals', raw: { id: 7, notes: ['a', 'b'] }, state: 'held' });
}

async function stateWith(fill: (state: StateOf) => void = planned, under = 'state'): Promise<string> {
  const path = join(await workspace(), under);
  const state = await StateOf.create(path);
  fill(state);
  state.close();
  return path;
}

function show(state: string, options: Readonly<Record<string, unknown>> = {}): Promise<Said> {
  return call(plan, { mapping: 'm.yaml', state, ...options });
}

describe('plan', () => {
  it('prints with --json a line per event with the columns of the view, in the order of reading', async () => {
    const state = await stateWith();
    const lines = (await show(state, { json: true })).stdout.trimEnd().split('\n');
    const db = readState(await StateDir.existing(state));
    const rows = db.all<Record<string, string | null>>('select * from events');
    db.close();
    const expected = rows.map(({ data, raw, ...row }) => ({
      ...row,
      data: JSON.parse(data ?? 'null') as unknown,
      raw: JSON.parse(raw ?? 'null') as unknown,
    }));
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(expected);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      ...{
        type: 'lead/created',
        external_id: '00123',
        state: 'pending',
        source: 'people',
        file: 'people.csv',
        line: 2,
      },
      data: { external_id: '00123', full_name: 'Ada' },
      raw: ['00123', 'Ada', '=HYPERLINK("x")'],
    });
    expect(lines.map((line) => (JSON.parse(line) as { record: number }).record)).toEqual([1, 2, 3]);
  });

  it('waits with --json for whoever reads it, so that memory does not grow with the plan', async () => {
    const events = 4_000;
    const state = await stateWith((to) => {
      to.source('people');
      to.plan.transaction(() => {
        for (let id = 0; id < events; id += 1) to.event('lead/created', String(id), { full_name: 'x'.repeat(500) });
      });
    });
    let [most, lines] = [0, 0];
    const stdout = new Writable({
      write(chunk: Buffer, _encoding, done) {
        lines += chunk.toString('utf8').split('\n').length - 1;
        most = Math.max(most, stdout.writableLength);
        setImmediate(done);
      },
    });
    expect(await plan({ mapping: 'm.yaml', state, json: true }, new Console({ stdout }))).toBe(0);
    await new Promise((resolve) => stdout.end(resolve));
    expect(lines).toBe(events);
    expect(most).toBeLessThan(500_000);
  });
});

describe('plan --csv', () => {
  it('writes the old columns beside the new fields, a file per event type, and what is left out', async () => {
    const state = await stateWith();
    const directory = join(await workspace(), 'new/plan');
    const { code, stdout } = await show(state, { csv: directory });
    expect(code).toBe(0);
    const names = ['deal-created.csv', 'lead-created.csv', 'left_out.csv'];
    expect((await readdir(directory)).sort()).toEqual(names);
    for (const name of names) {
      expect(stdout).toContain(name);
      expect((await stat(join(directory, name))).mode & 0o777).toBe(0o600);
    }
    const leads = await readFile(join(directory, 'lead-created.csv'), 'utf8');
    expect(leads).toBe(
      '\ufefffile,line,state,problems,old: Id,old: Name,old: Name#2,new: external_id,new: custom_params.origin,' +
        'new: full_name,new: phone_number,new: occurred_at,priority\n' +
        `people.csv,2,pending,,00123,Ada,"'=HYPERLINK(""x"")",00123,'=1+1,Ada,'+390669821000,,0\n` +
        'people.csv,3,invalid,a value is missing,2,Bob,,2,,,,,0\n',
    );
    const deals = await readFile(join(directory, 'deal-created.csv'), 'utf8');
    expect(deals.split('\n').slice(0, 2)).toEqual([
      '\ufefffile,line,state,problems,old: id,old: notes,new: external_id,new: amount,new: owner,new: owner_id,' +
        'new: stage,new: stage_id,new: occurred_at,priority',
      `deals.json,4,pending,,7,"[""a"",""b""]",7,12.5,Ada Lovelace,${ADA},Sales / Won,${WON},,0`,
    ]);
    expect(await readFile(join(directory, 'left_out.csv'), 'utf8')).toContain(
      'people,people.csv,2,00123,email,at home,`at home` is not an e-mail address\n',
    );
  });

  it('is in the folder of a dry run, too, where a file that a person has changed is not replaced', async () => {
    const { run, told, stored, state } = await project('demo');
    await run('--dry-run');
    const leads = await stored('dry-run/plan/lead-created.csv');
    expect(leads.split('\n')[0]).toContain('old: ');
    await appendFile(state('dry-run/plan/lead-created.csv'), 'signed: Ada\n');
    expect((await told('--dry-run')).stderr).toContain('lead-created.2.csv');
    expect(await stored('dry-run/plan/lead-created.csv')).toBe(`${leads}signed: Ada\n`);
    expect(await stored('dry-run/plan/lead-created.2.csv')).toBe(leads);
  });
});
