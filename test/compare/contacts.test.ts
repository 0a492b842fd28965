/** `if_contact_exists`, against a sandbox that has leads already. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Sandbox } from '../../src/commands/sandbox/index.ts';
import { PLAN } from '../../src/store/plan-schema.ts';
import { Database } from '../../src/store/sqlite.ts';
import { backfill, environmentOf, FAST, files, sandbox, summaryOf, workspace } from '../e2e/harness.ts';
import { migrate, type Options } from '../faults/in-process.ts';
import { useFastClock } from '../clock.ts';
import { call, send } from '../sandbox/client.ts';
import type { FaultySandbox } from '../sandbox/faults.ts';

useFastClock();

function mapping(policy: string): string {
  return `version: 1
migration: people
defaults: { region: IT }
sources:
  people: { path: people.csv }
  notes: { path: notes.csv }
events:
  - type: lead/created
    source: people
    if_exists: skip
    ${policy}
    data: { external_id: id, full_name: name, email: email, phone_number: { from: phone, apply: [phone] } }
  - type: comment/created
    source: notes
    data: { external_id: id, content: text, lead_external_id: person }
`;
}

const PEOPLE = `id,name,email,phone
1,Ada,ada@example.test,
2,Bob,,+39 02 1234 5678
3,Cleo,cleo@example.test,+390600000003
4,New,new@example.test,+390600000004
`;

interface Place {
  readonly service: FaultySandbox;
  readonly cwd: string;
  readonly run: (options?: Options) => ReturnType<typeof migrate>;
  /** The cells of `matches.csv` without service ids, sorted. */
  readonly matches: (folder?: string) => Promise<string[]>;
  readonly listed: () => string[];
}

const STATE = '.backfill/people';

async function place(policy = '', people = PEOPLE, service?: FaultySandbox): Promise<Place> {
  const target = service ?? (await sandbox());
  const cwd = await workspace();
  await files(cwd, {
    'mapping.yaml': mapping(policy),
    'people.csv': people,
    'notes.csv': 'id,text,person\nn1,Called,1\nn4,Called,4\n',
  });
  const listed = (): string[] => target.requests().flatMap(({ method, path }) => (method === 'GET' ? [path] : []));
  return {
    service: target,
    cwd,
    run: (options) => migrate(target, join(cwd, 'mapping.yaml'), options),
    listed: () => listed().filter((path) => path.startsWith('/leads?')),
    matches: async (folder = STATE) => {
      const text = await readFile(join(cwd, folder, 'matches.csv'), 'utf8').then((all) =>
        all.replace(/,[^,\n]*people\.csv,/g, ',people.csv,'),
      );
      const [, ...lines] = text.trim().split('\n');
      return lines.map((line) => line.split(',').toSpliced(4, 1).join()).sort();
    },
  };
}

async function person(service: Sandbox, lead: object): Promise<string> {
  const { status, body } = await call(service, 'POST', '/leads', { body: lead });
  expect(status).toBe(201);
  return (body as { id: string }).id;
}

async function withPeople(policy = ''): Promise<Place> {
  const there = await place(policy);
  await person(there.service, { fullName: 'Ada L.', email: 'ADA@Example.test' });
  await person(there.service, { fullName: 'Roberto', phoneNumber: '+390212345678' });
  await person(there.service, { fullName: 'Cleo by mail', email: 'cleo@example.test' });
  await person(there.service, { fullName: 'Cleo twice', email: 'Cleo@example.test', phoneNumber: '+390600000003' });
  await person(there.service, { fullName: 'Nobody' });
  return there;
}

const ALL = [
  '1,people,people.csv,2,email,Ada L.',
  '2,people,people.csv,3,phone_number,Roberto',
  '3,people,people.csv,4,email phone_number,Cleo twice',
  '3,people,people.csv,4,email,Cleo by mail',
];

function contactsIn(directory: string): unknown[] {
  const plan = Database.read(join(directory, 'plan.db'), PLAN)!;
  onTestFinished(() => plan.close());
  return plan.all('select * from contact');
}

function inCwd(lines: readonly string[], cwd: string): string[] {
  return lines.map((line) => line.replace(join(cwd, 'people.csv'), 'people.csv'));
}

describe('people who are in the account already', () => {
  it('are listed with every match, and are sent all the same (report)', async () => {
    const { run, cwd, matches, service } = await withPeople();
    const summary = await run();
    expect(summary).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 6, invalid: 0 } });
    expect(summary.warnings_by_code).toMatchObject({ contact_in_account: 3 });
    expect(await matches()).toEqual(inCwd(ALL, cwd).sort());
    expect(service.state().leads).toHaveLength(9);
    expect((await stat(join(cwd, STATE, 'matches.csv'))).mode & 0o777).toBe(0o600);
  });

  it('are invalid, and their comments blocked (reject)', async () => {
    const { run, service } = await withPeople('if_contact_exists: reject');
    const summary = await run();
    expect(summary.errors_by_code).toEqual({ contact_exists: 3, parent_failed: 1 });
    expect(summary.events).toMatchObject({ acknowledged: 2, invalid: 3, blocked: 1 });
    expect(
      service
        .state()
        .leads.map(({ externalId }) => externalId)
        .filter(Boolean),
    ).toEqual(['4']);
    // What was acknowledged is not a match of itself, and stays acknowledged.
    expect((await run({ refresh: true })).events).toMatchObject({ acknowledged: 2, invalid: 3, blocked: 1 });
  });

  it('are not looked for where no entry looks (ignore)', async () => {
    const { run, cwd, listed } = await withPeople('if_contact_exists: ignore');
    expect((await run()).warnings_by_code).toEqual({});
    expect(listed()).toEqual([]);
    expect(contactsIn(join(cwd, STATE))).toEqual([]);
  });

  it('are those of others: not the leads that this migration made, also those acknowledged without an id', async () => {
    const { run, service, cwd, matches } = await place();
    // Somebody else's lead with our external id is skipped: the acknowledgement has no id.
    await send(service, 'lead/created', { external_id: '1', full_name: 'Ada there', email: 'ada@example.test' });
    await run();
    const theirs = await person(service, { fullName: 'Second Bob', phoneNumber: '+390212345678' });
    await files(cwd, { 'people.csv': `${PEOPLE}5,Ada again,ada@example.test,\n6,Bob again,,+390212345678\n` });
    await run({ refresh: true });
    expect(await matches()).toEqual(
      inCwd(['2,people,people.csv,3,phone_number,Second Bob', '6,people,people.csv,7,phone_number,Second Bob'], cwd),
    );
    expect(await readFile(join(cwd, STATE, 'matches.csv'), 'utf8')).toContain(theirs);
  });
});

describe('the leads of the account', () => {
  it('are read once per migration, also by a dry run, and again with --refresh', async () => {
    const { run, listed, service, matches, cwd } = await withPeople();
    await run({ dryRun: true });
    expect(await matches(`${STATE}/dry-run`)).toEqual(inCwd(ALL, cwd).sort());
    await person(service, { fullName: 'Late', email: 'new@example.test' });
    await run({ dryRun: true });
    expect((await run()).warnings_by_code).toMatchObject({ contact_in_account: 3 });
    const before = listed().length;
    expect((await run({ refresh: true })).warnings_by_code).toMatchObject({ contact_in_account: 4 });
    expect(listed().length).toBeGreaterThan(before);
  });

  it('are stored as hashes only', async () => {
    const { run, cwd } = await withPeople();
    await run();
    const rows = contactsIn(join(cwd, STATE));
    expect(rows).toHaveLength(5);
    expect(JSON.stringify(rows)).not.toMatch(/example|Ada|\+39/);
  });

  it('are read on from where an interrupted reading ended', async () => {
    const { run, service, listed } = await place();
    for (let number = 0; number < 250; number += 1) await person(service, { email: `p${number}@example.test` });
    await person(service, { fullName: 'On page three', email: 'new@example.test' });
    // The second page fails six times, so that the run ends with an error.
    service.setFaults({
      rules: [{ kind: 'status', status: 400, when: { path: '/leads', requests: { from: 2, to: 3 } } }],
    } as never);
    await expect(run()).rejects.toThrow('GET /leads');
    service.setFaults({ rules: [] });
    const before = listed().length;
    expect((await run()).warnings_by_code).toEqual({ contact_in_account: 1 });
    expect(listed().slice(before, before + 2)).toEqual(['/leads?page=2&pageSize=100', '/leads?page=3&pageSize=100']);
  });

  it('come from the stored file with --offline, which otherwise says that nobody is found', async () => {
    const { run, cwd } = await withPeople();
    const offline = ['run', 'mapping.yaml', '--dry-run', '--offline'];
    expect((await backfill(offline, { cwd })).stderr).toContain('the leads of the account are not stored yet');
    await run({ dryRun: true });
    const { stdout, stderr } = await backfill(offline, { cwd });
    expect(stdout).toMatch(/3 leads may be in the account already.*\n? *matches\.csv/);
    expect(stderr).not.toContain('are not stored yet');
  });

  it('are read only with --refresh or --yes if there are more than 20,000', async () => {
    const { cwd, service } = await place();
    // A list that says how long it is: one lead, 20,001 in all.
    const total = { leads: [{ id: 'a', email: 'ada@example.test' }], total: 20_001 };
    const { createServer } = await import('node:http');
    const front = createServer((request, response) => {
      const page = new URL(request.url!, 'http://x').searchParams.get('page');
      const isList = request.url!.startsWith('/leads');
      if (!isList) {
        void fetch(`${service.baseUrl}${request.url}`, { headers: request.headers as Record<string, string> }).then(
          async (answer) => {
            response.setHeader('content-type', 'application/json').end(await answer.text());
          },
        );
        return;
      }
      response.setHeader('content-type', 'application/json');
      if (request.url!.startsWith('/leads/')) response.end(JSON.stringify(total.leads[0]));
      else response.end(JSON.stringify(page === '1' ? total : { leads: [], total: 20_001 }));
    });
    await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
    const { port } = front.address() as { port: number };
    try {
      const env = { ...environmentOf(service), BACKFILL_BASE_URL: `http://127.0.0.1:${port}` };
      const args = ['run', 'mapping.yaml', '--dry-run', '--json'];
      const refused = await backfill([...args, ...FAST], { cwd, env });
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain('the account has more than 20,000 leads');
      expect(refused.stderr).toContain('--refresh');
      const slow = await backfill([...args, '--rate', '1/1s'], { cwd, env });
      expect(slow.stderr.replace(/\s+/g, ' ')).toContain('takes about 4 min');
      for (const agreed of ['--refresh', '--yes']) {
        const ended = await backfill([...args, ...FAST, agreed], { cwd, env });
        expect(summaryOf(ended).warnings_by_code).toMatchObject({ contact_in_account: 1 });
      }
    } finally {
      front.close();
    }
  });
});
