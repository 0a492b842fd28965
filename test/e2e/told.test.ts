// Lost without it: a run could say "done" of what was left out.
import { describe, expect, it } from 'vitest';
import { documentIn, mapping, project, summaryOf, type Ended } from './harness.ts';

const PEOPLE = mapping({
  people:
    'type: lead/created, data: { external_id: id, full_name: name, phone_number: { from: phone, apply: [phone] } }',
});
const DEALS = mapping({
  people: 'type: lead/created, data: { external_id: id, full_name: name }',
  deals:
    'type: deal/created, data: { external_id: id, title: title, lead_external_id: lead, amount: { from: amount, apply: [number] } }',
});

/** 20 people, of whom the first `national` have a number without a country code, and the others one with it. */
function people(national: number): string {
  const row = (n: number): string => `${n},Person ${n},${n <= national ? '' : '+39 '}06 1234 ${1000 + n}\n`;
  return `id,name,phone\n${Array.from({ length: 20 }, (_, at) => row(at + 1)).join('')}`;
}

/** As one line, since the terminal wraps it. */
function flat({ stderr }: Ended): string {
  return stderr.replace(/\s+/g, ' ');
}

describe('values left out', () => {
  const CAUSE = '14 of 20 phone numbers have no country code, and `defaults.region` is not set';

  it('beyond --max-omitted stop a run before it sends anything, with the likely cause', async () => {
    const { run, stored, posts } = await project({ 'mapping.yaml': PEOPLE, 'people.csv': people(14) });
    const ended = await run();
    expect(ended.code).toBe(2);
    expect(posts()).toBe(0);
    const summary = summaryOf(ended);
    expect(summary.exit).toEqual({ code: 2, reason: 'too_many_omitted' });
    expect(summary.omitted).toEqual({ 'lead/created': { phone_number: { no_country_code: 14 } } });
    expect(flat(ended)).toMatch(/NOT STARTED.*--max-omitted/);
    expect(flat(ended)).toContain(CAUSE);
    expect(flat(ended)).toContain('set `defaults.region`');
    const omitted = await stored('left_out.csv');
    expect(omitted).toContain('has no country code, and `defaults.region` is not set');
    const report = await stored('report.html');
    expect(report.replace(/<[^>]*>/g, '')).toMatch(
      /A phone number has no country code, and `?defaults\.region`? is not set\./,
    );
  });

  it('are counted at the end of a run that leaves them out, in the same breath as "Done"', async () => {
    const { run, state, posts } = await project({ 'mapping.yaml': PEOPLE, 'people.csv': people(14) });
    const ended = await run('--max-omitted', '70%');
    expect(ended.code).toBe(0);
    expect(posts()).toBe(20);
    expect(flat(ended)).toMatch(/DONE 20 of 20 events acknowledged.*14 values left out \(left_out\.csv\)/);
    expect(flat(ended)).toMatch(/ 14 phone number .*no_country_code/);
    const stored = await documentIn(state(), 'summary');
    expect(stored).toMatchObject({ omitted: { 'lead/created': { phone_number: { no_country_code: 14 } } } });
  });

  it('are counted of what is sent alone: not of a row that was not chosen among duplicates', async () => {
    const { run, stored } = await project({
      'mapping.yaml': PEOPLE.replace('data:', 'duplicates: first, when: { from: name, not_in: [Gone] }, data:'),
      'people.csv': 'id,name,phone\n1,Gone,06 1234 1001\n1,Ada,06 1234 1001\n2,Bo,06 1234 1001\n',
    });
    const ended = await run('--max-omitted', '70%');
    expect(summaryOf(ended)).toMatchObject({
      omitted: { 'lead/created': { phone_number: { no_country_code: 1 } } },
      records: { skipped: 2 },
    });
    expect((await stored('left_out.csv')).match(/phone_number/g)).toHaveLength(1);
  });

  it.each([
    ['fewer than ten do not stop it by a percentage', 9, [], 0],
    ['exactly as many as allowed do not stop it', 14, ['--max-omitted', '14'], 0],
    ['one more than allowed does', 14, ['--max-omitted', '13'], 2],
    ['none may be allowed', 1, ['--max-omitted', '0'], 2],
  ] as const)('%s', async (_, national, options, code) => {
    const { run, posts } = await project({ 'mapping.yaml': PEOPLE, 'people.csv': people(national) });
    expect((await run(...options)).code).toBe(code);
    expect(posts()).toBe(code === 0 ? 20 : 0);
  });

  it('are compared with the values of a name by what it was resolved to', async () => {
    const moved = DEALS.replace(
      'amount: {',
      'stage_id: { from: stage, on_error: omit, apply: [{ map: { a: x } }] }, amount: {',
    );
    const { run } = await project({
      'mapping.yaml': moved,
      'people.csv': 'id,name\n1,Ann\n',
      'deals.csv': `id,title,lead,amount,stage\n${Array.from({ length: 12 }, (_, n) => `${n},Deal,1,1,b\n`).join('')}`,
    });
    const ended = await run();
    expect(ended.code).toBe(2);
    expect(flat(ended)).toContain(
      'deal/created: 12 of 12 values of `stage_id` would be left out: a value is not in its `map`',
    );
  });
});

describe('"Done"', () => {
  const EXPORTS = {
    'mapping.yaml': DEALS,
    'people.csv': 'id,name\n1,Ann\n2,Bob\n',
    'deals.csv': 'id,title,lead,amount\n10,First,1,1\n20,Second,2,1\n',
  };

  it('is not said of events that wait for parents that were not selected', async () => {
    const { run, posts } = await project(EXPORTS);
    const ended = await run('--only', 'deal');
    expect(ended.code).toBe(1);
    expect(posts()).toBe(0);
    expect(summaryOf(ended)).toMatchObject({
      exit: { code: 1, reason: 'waiting' },
      events: { total: 4, pending: 4 },
      waiting: { 'deal/created': { lead: 2 } },
    });
    expect(flat(ended)).toMatch(/FINISHED.*2 deal\/created events wait for leads/);
    expect(flat(ended)).not.toContain('DONE');
    expect((await run('--only', 'deal', '--dry-run')).code).toBe(1);
  });

  it('names what was not selected, and is said once the parents are there', async () => {
    const { run } = await project(EXPORTS);
    const leads = await run('--only', 'lead');
    expect(leads.code).toBe(0);
    expect(flat(leads)).toMatch(/DONE 2 of 4 events acknowledged.*2 events not selected/);
    const deals = await run('--only', 'deal');
    expect(deals.code).toBe(0);
    expect(flat(deals)).toContain('DONE 4 of 4 events acknowledged');
    expect(flat(deals)).not.toContain('not selected');
  });
});

describe('a dry run', () => {
  it('with warnings does not say that there are no problems, and begins with the largest cause', async () => {
    const { run } = await project({
      'mapping.yaml': DEALS.replace('lead_external_id: lead, ', ''),
      'people.csv': 'id,name\n1,Ann\n2,\n',
      'deals.csv': 'id,title,lead,amount\n10,First,1,1\n20,Second,2,1\n30,Third,2,1\n',
    });
    const ended = await run('--dry-run');
    expect(ended.code).toBe(0);
    expect(flat(ended)).toMatch(/DRY RUN[^:]*: nothing was sent; .*warnings/);
    expect(flat(ended)).not.toContain('no problems');
    const [, first] = flat(ended).split('CHECK');
    expect(first).toContain('no deal is tied to a lead: the mapping sets no `lead_external_id`');
  });

  it('has at most 50 lines, whatever is wrong with however many records', async () => {
    const rows = Array.from({ length: 400 }, (_, n) => `${n},T${n},${n % 3 === 0 ? '' : n},${n % 2 ? 'x' : n}`);
    const { run } = await project({
      'mapping.yaml': DEALS,
      'people.csv': `id,name\n${rows.map((_, n) => `${n},${n % 5 === 0 ? '' : `P${n}`}`).join('\n')}\n`,
      'deals.csv': ['id,title,lead,amount', ...rows, ''].join('\n'),
    });
    for (const more of [[], ['--pilot', '5'], ['--only', 'deal']]) {
      const { stdout, stderr } = await run('--dry-run', ...more);
      expect(stderr.trimEnd().split('\n').length, stderr).toBeLessThanOrEqual(50);
      expect(stdout).toContain('errors.csv');
    }
  });
});

describe('an acknowledged record that can no longer be mapped', () => {
  it('stays acknowledged with an error beside it, and is not gone', async () => {
    const { write, run } = await project({
      'mapping.yaml': DEALS,
      'people.csv': 'id,name\n1,Ann\n',
      'deals.csv': 'id,title,lead,amount\n10,First,1,1\n20,Second,1,2\n30,Third,1,3\n',
    });
    expect((await run()).code).toBe(0);
    await write({ 'deals.csv': 'id,title,lead,amount\n10,First,1,1.2.3\n20,Second,1,2\n' });
    const ended = await run();
    const { events, exit, errors_by_code: errors } = summaryOf(ended);
    expect(events).toMatchObject({ total: 3, acknowledged: 3, invalid: 0, gone: 1 });
    expect(errors).toEqual({ bad_number: 1 });
    expect(exit).toEqual({ code: 1, reason: 'unmapped' });
    expect(flat(ended)).toContain('acknowledged earlier can no longer be mapped');
  });

  it('is not gone if its row cannot be read, and may be in a row that does not say which one it is', async () => {
    const header = 'id,title,lead,amount\n';
    const { write, run, summary, stored } = await project({
      'mapping.yaml': DEALS,
      'people.csv': 'id,name\n1,Ann\n',
      'deals.csv': `${header}10,First,1,1\n20,Second,1,2\n30,Third,1,3\n40,Fourth,1,4\n`,
    });
    expect((await run()).code).toBe(0);
    await write({ 'deals.csv': `${header}10,First,1,1,500\n40,Fourth,1,4\n` });
    expect(await summary('--yes')).toMatchObject({ events: { gone: 2 }, changes: { gone: 2, unread: 0 } });
    await write({ 'deals.csv': `${header}First,10,1,1,500\n40,Fourth,1,4\n` });
    const ended = await run('--yes');
    expect(summaryOf(ended)).toMatchObject({ events: { gone: 2 }, changes: { gone: 2, unread: 1 } });
    expect(flat(ended)).toMatch(/gone or unreadable 1 .*gone\.csv/);
    const listed = await stored('gone.csv');
    expect(listed.match(/deals\.csv:2$/gm)).toHaveLength(3);
  });
});

describe('an error', () => {
  it('of one value names only rows with that value, and frees only events that have no other error', async () => {
    const { run } = await project({
      'mapping.yaml': DEALS.replace('title: title', 'title: title, currency: currency'),
      'people.csv': 'id,name\n1,Ann\n',
      'deals.csv':
        'id,title,lead,amount,currency\n10,First,1,1.2.3,\n20,Second,1,4.5.6,\n30,Third,1,1.2.3,\n40,Both,1,7.8.9,Crowns\n',
    });
    const text = flat(await run('--dry-run'));
    expect(text).toMatch(/`1\.2\.3` is not a number.* .*deals\.csv:2, :4.* 3 bad_number/);
    expect(text).toMatch(/`Crowns`.*deals\.csv:5 .*1 more event has several of these errors/);
  });

  it('of a corrected record cites the fix file and its line', async () => {
    const { write, run, stored } = await project({
      'mapping.yaml': DEALS,
      'people.csv': 'id,name\n1,Ann\n',
      'deals.csv': 'id,title,lead,amount\n10,First,1,1\n20,Second,1,1.2.3\n30,Third,1,4.5.6\n',
    });
    await run();
    const rejects = await stored('rejects/deals.csv');
    const fixedBy = (fixes: string): string => DEALS.replace('path: deals.csv', `path: deals.csv, fixes: ${fixes}`);
    await write({
      'mine.csv': rejects.replace('1.2.3', '7.8.9').replace('4.5.6', '3'),
      'mapping.yaml': fixedBy('mine.csv'),
    });
    const ended = await run('--dry-run');
    expect(flat(ended)).toMatch(/`7\.8\.9` is not a number.* mine\.csv:2/);
    expect(await stored('dry-run/errors.csv')).toMatch(/^deals,[^,]*mine\.csv,2,/m);
    const again = await stored('dry-run/rejects/deals.csv');
    expect((await run()).code).toBe(1);
    await write({ 'again.csv': again.replace('7.8.9', '2'), 'mapping.yaml': fixedBy('[mine.csv, again.csv]') });
    expect((await run()).code).toBe(0);
  });
});
