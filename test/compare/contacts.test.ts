// Lost without it: people who are in the account already could be doubled in silence.
import { stat } from 'node:fs/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it } from 'vitest';
import { useFastClock } from '../clock.ts';
import { backfill, mapping, project, rowsIn, summaryOf } from '../e2e/harness.ts';
import { call, send } from '../sandbox/client.ts';
import { serve } from '../service/scripted-server.ts';

useFastClock();

const PEOPLE = `id,name,email,phone
1,Ada,ada@example.test,
2,Bob,,+39 02 1234 5678
3,Cleo,cleo@example.test,+390600000003
4,New,new@example.test,+390600000004
`;

async function place(policy = '') {
  const data = 'external_id: id, full_name: name, email: email, phone_number: { from: phone, apply: [phone] }';
  const p = await project({
    'mapping.yaml': mapping(
      {
        people: `type: lead/created, if_exists: skip, ${policy && `${policy}, `}data: { ${data} }`,
        notes: 'type: comment/created, data: { external_id: id, content: text, lead_external_id: person }',
      },
      'defaults: { region: IT }\n',
    ),
    'people.csv': PEOPLE,
    'notes.csv': 'id,text,person\nn1,Called,1\nn4,Called,4\n',
  });
  return {
    ...p,
    /** Somebody makes a lead in the service. */
    person: async (lead: object): Promise<string> => {
      const { status, body } = await call(p.service, 'POST', '/leads', { body: lead });
      expect(status).toBe(201);
      return (body as { id: string }).id;
    },
    /** As if the leads of the account had been read more than a day ago. */
    old: async (): Promise<void> => {
      const db = new DatabaseSync(p.state('plan.db'));
      db.exec(`update setting set value = json_set(value, '$.at', 0) where name = 'contacts'`);
      db.close();
    },
    /** The pages of leads that were read. */
    listed: () => p.service.requests().flatMap(({ path }) => (path.startsWith('/leads?') ? [path] : [])),
    /** The cells of `matches.csv` without service ids, sorted. */
    matches: async (folder = '') => {
      const [, ...lines] = (await p.stored(`${folder}matches.csv`)).trim().split('\n');
      return lines.map((line) => line.split(',').toSpliced(4, 1).join()).sort();
    },
  };
}

async function withPeople(policy = '') {
  const there = await place(policy);
  await there.person({ fullName: 'Ada L.', email: 'ADA@Example.test' });
  await there.person({ fullName: 'Roberto', phoneNumber: '+390212345678' });
  await there.person({ fullName: 'Cleo by mail', email: 'cleo@example.test' });
  await there.person({ fullName: 'Cleo twice', email: 'Cleo@example.test', phoneNumber: '+390600000003' });
  await there.person({ fullName: 'Nobody' });
  return there;
}

const ALL = [
  '1,people,people.csv,2,email,Ada L.',
  '2,people,people.csv,3,phone_number,Roberto',
  '3,people,people.csv,4,email phone_number,Cleo twice',
  '3,people,people.csv,4,email,Cleo by mail',
];

describe('people who are in the account already', () => {
  it('are listed with every match, and are sent all the same (report)', async () => {
    const { summary, matches, service, state } = await withPeople();
    expect(await summary()).toMatchObject({
      exit: { code: 0 },
      events: { acknowledged: 6, invalid: 0 },
      warnings_by_code: { contact_in_account: 3 },
    });
    expect(await matches()).toEqual(ALL);
    expect(service.state().leads).toHaveLength(9);
    expect((await stat(state('matches.csv'))).mode & 0o777).toBe(0o600);
    // Stored as hashes only.
    const rows = await rowsIn(state(), 'select * from contact');
    expect(rows).toHaveLength(5);
    expect(JSON.stringify(rows)).not.toMatch(/example|Ada|\+39/);
  });

  it('are invalid, and their comments blocked (reject)', async () => {
    const { summary, service, old } = await withPeople('if_contact_exists: reject');
    const { errors_by_code: codes, events } = await summary();
    expect(codes).toEqual({ contact_exists: 3, parent_failed: 1 });
    expect(events).toMatchObject({ acknowledged: 2, invalid: 3, blocked: 1 });
    expect(service.state().leads.flatMap(({ externalId }) => externalId ?? [])).toEqual(['4']);
    // What was acknowledged is not a match of itself, and stays acknowledged.
    await old();
    expect((await summary()).events).toMatchObject({ acknowledged: 2, invalid: 3, blocked: 1 });
  });

  it('are those of others: not the leads that this migration made, also those acknowledged without an id', async () => {
    const { run, service, write, matches, person, stored, old } = await place();
    // Somebody else's lead with our external id is skipped: the acknowledgement has no id.
    await send(service, 'lead/created', { external_id: '1', full_name: 'Ada there', email: 'ada@example.test' });
    await run();
    const theirs = await person({ fullName: 'Second Bob', phoneNumber: '+390212345678' });
    await write({ 'people.csv': `${PEOPLE}5,Ada again,ada@example.test,\n6,Bob again,,+390212345678\n` });
    await old();
    await run();
    expect(await matches()).toEqual([
      '2,people,people.csv,3,phone_number,Second Bob',
      '6,people,people.csv,7,phone_number,Second Bob',
    ]);
    expect(await stored('matches.csv')).toContain(theirs);
  });
});

describe('the leads of the account', () => {
  it('are read once a day, also by a dry run', async () => {
    const { summary, listed, person, matches, old } = await withPeople();
    await summary('--dry-run');
    expect(await matches('dry-run/')).toEqual(ALL);
    await person({ fullName: 'Late', email: 'new@example.test' });
    await summary('--dry-run');
    expect((await summary()).warnings_by_code).toMatchObject({ contact_in_account: 3 });
    const before = listed().length;
    await old();
    expect((await summary()).warnings_by_code).toMatchObject({ contact_in_account: 4 });
    expect(listed().length).toBeGreaterThan(before);
  });

  it('are read only with --yes if there are more than 20,000', async () => {
    const { cwd, env } = await place();
    // A list that says how long it is: one lead, 20,001 in all.
    const lead = { id: 'a', email: 'ada@example.test' };
    const { baseUrl } = await serve(({ url }) => {
      if (url.startsWith('/leads/')) return { status: 200, body: lead };
      if (!url.startsWith('/leads')) return { status: 200, body: [] };
      return { status: 200, body: { leads: url.includes('page=1&') ? [lead] : [], total: 20_001 } };
    });
    const dry = (...more: string[]) =>
      backfill(['run', 'mapping.yaml', '--dry-run', '--json', ...more], {
        cwd,
        env: { ...env, BACKFILL_BASE_URL: baseUrl },
      });
    const refused = await dry('--rate', '1/1s');
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('the account has more than 20,000 leads');
    expect(refused.stderr).toContain('--yes');
    expect(refused.stderr.replace(/\s+/g, ' ')).toContain('takes about 4 min');
    expect(summaryOf(await dry('--yes')).warnings_by_code).toMatchObject({ contact_in_account: 1 });
  });
});
