// Lost without it: a pilot could miss a stage, an owner or a parent.
import { parse } from 'csv-parse/sync';
import { expect, it } from 'vitest';
import { mapping, project, rowsIn, summaryOf } from '../e2e/harness.ts';

it('a pilot has the first records of each entry, every stage and owner where N allows, and every parent, the same each time', async () => {
  const { run, state } = await project('demo');
  const chosen = async (...options: string[]) => {
    const ended = await run('--dry-run', ...options);
    const rows = await rowsIn<{ id: string; parent: string | null; entry: number }>(
      state('dry-run'),
      `select entity || ':' || external_id as id, parent_entity || ':' || parent_id as parent, entry from event
       where is_chosen and state = 'ready' order by id`,
    );
    return { text: ended.stderr.replaceAll(/\s+/g, ' '), pilot: summaryOf(ended).pilot!, rows };
  };
  const few = await chosen('--pilot', '3');
  expect(few.pilot).toMatchObject({ records: 3, stages: { covered: 1 } });
  expect(new Set(few.rows.map(({ entry }) => entry)).size).toBe(3);
  const { text, pilot, rows } = await chosen('--pilot', '12');
  const { stages, owners } = pilot;
  expect([stages.covered, owners.covered]).toEqual([stages.occurring, owners.occurring]);
  expect(stages.occurring).toBeGreaterThan(2);
  expect(text).toContain(`${stages.covered} of ${stages.occurring} stages`);
  expect(text).toContain(`${owners.covered} of ${owners.occurring} owner`);
  expect(rows).toHaveLength(pilot.events);
  const ids = new Set(rows.map(({ id }) => id));
  for (const { parent } of rows) if (parent !== null) expect(ids).toContain(parent);
  expect((await chosen('--pilot', '12')).rows).toEqual(rows);

  const leads = await chosen('--pilot', '8', '--only', 'lead');
  expect(leads.rows.every(({ id }) => id.startsWith('lead:'))).toBe(true);
  expect(leads.pilot).toMatchObject({ records: 8, events: 8, stages: { occurring: 0 } });
});

it('a pilot has no record whose parent is neither selected nor sent, unless there is no other', async () => {
  const { run, sent } = await project({
    'mapping.yaml': mapping({
      people: 'type: lead/created, data: { external_id: id, full_name: name }',
      deals: 'type: deal/created, data: { external_id: id, title: title, amount: amount, lead_external_id: lead }',
    }),
    'people.csv': 'id,name\n1,Ada\n2,Bob\n',
    'deals.csv': 'id,title,amount,lead\n10,Roof,5,1\n20,Door,,2\n',
  });
  const waiting = await run('--only', 'deal', '--pilot', '1');
  expect(summaryOf(waiting)).toMatchObject({ exit: { code: 1, reason: 'waiting' }, pilot: { records: 1 } });
  expect((await run('--pick', 'lead:2', '--only', 'lead')).code).toBe(0);
  // The other deal comes first, but waits for its lead.
  const pilot = await run('--only', 'deal', '--pilot', '1');
  expect(summaryOf(pilot)).toMatchObject({ exit: { code: 0 }, pilot: { records: 1 } });
  expect(sent().map(({ data }) => data.external_id)).toEqual(['2', '20']);
});

it('a pilot ends with how many records to look at and where: pilot.csv names them in both systems', async () => {
  const { service, told, stored, write } = await project('demo');
  const { stdout } = await told('--pilot', '6');
  expect(stdout.replace(/\s+/g, ' ')).toMatch(
    /Next (?:1 )?look at \d+ records in the service, in the order of \S*pilot\.csv/,
  );
  const rows = parse<Record<string, string>>(await stored('pilot.csv'), { columns: true, bom: true });
  expect(rows.map(({ order }) => Number(order))).toEqual(rows.map((_, index) => index + 1));
  expect(rows.length).toBeGreaterThanOrEqual(3);
  const { leads, deals } = service.state();
  for (const { look_at, external_id, service_id, name, state, line } of rows) {
    const there = [...leads, ...deals].find(({ id }) => id === service_id);
    expect(there).toMatchObject({ externalId: external_id });
    expect([look_at, state]).toEqual([deals.some(({ id }) => id === service_id) ? 'deal' : 'lead', 'acknowledged']);
    expect(name).not.toBe('');
    expect(Number(line)).toBeGreaterThan(1);
  }

  // Notes that somebody made in it stay.
  await write({ '.backfill/demo/pilot.csv': 'order,ok\n1,yes\n' });
  const again = await told('--pilot', '50');
  expect(await stored('pilot.csv')).toBe('order,ok\n1,yes\n');
  expect(again.stdout).toContain('pilot.2.csv');
  const more = parse<Record<string, string>>(await stored('pilot.2.csv'), { columns: true, bom: true });
  expect(new Set(more.map(({ look_at, external_id: id }) => `${look_at} ${id}`)).size).toBe(more.length);
  expect(again.stderr.replaceAll(/\s+/g, ' ')).toMatch(/pilot\.csv was changed or created outside this program/);
});

const PEOPLE = `id,name,phone,email
1,Ada,+39 02 8088 1234 ext. 12,a@example.test
2,Grace,+39 02 8088 1235,not an address
`;

it('a rerun shows only the warnings that are new, and ends with how it ended and the next command', async () => {
  const data = 'external_id: id, full_name: name, phone_number: { from: phone, apply: [phone] }, email: email';
  const { told, edit } = await project({
    'mapping.yaml': mapping({ people: `type: lead/created, data: { ${data} }` }),
    'people.csv': PEOPLE,
  });
  const shown = async (...more: string[]): Promise<string> => (await told(...more)).stdout;
  const again = '1 warning, unchanged since the last check';

  // A dry run is there to be read, as often as it is repeated.
  for (const _ of [1, 2]) expect(await shown('--dry-run')).toContain('extension_dropped');

  const sent = await shown();
  expect(sent).toContain(again);
  expect(sent).not.toContain('extension_dropped');
  const lines = sent.trim().split('\n');
  expect(lines.findIndex((line) => line.startsWith('DONE   2 of 2 events acknowledged'))).toBeGreaterThan(0);
  expect(sent).toMatch(/Next [^]* crm-backfill verify/);

  await edit('people.csv', (text) => `${text}3,Alan,+39 02 8088 1236 ext. 7,alan@example.test\n`);
  const added = await shown();
  expect(added).toMatch(/^CHECK$[^]*^ +1 +\S[^]*?\(extension_dropped\)/m);

  await edit('mapping.yaml', (text) => `${text}# another mapping\n`);
  const whole = await shown();
  expect(whole).toMatch(/^CHECK$[^]*^ +2 +\S[^]*?\(extension_dropped\)/m);
});
