// Lost without it: a difference in the service could be called equal.
import { randomUUID } from 'node:crypto';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { writeReport } from '../../src/report/print/page.ts';
import { handler as verify } from '../../src/commands/verify.ts';
import type { JsonObject } from '../../src/json.ts';
import { openCheckpoint } from '../../src/store/checkpoint.ts';
import { Lock } from '../../src/store/lock.ts';
import type { EventType } from '../../src/model.ts';
import type { Sandbox } from '../../src/sandbox/index.ts';
import { StateDir } from '../../src/files/state-dir.ts';
import type { Verification } from '../../src/report/figures/verification.ts';
import { call, envFile, type Said } from '../commands/in-process.ts';
import { files, sandbox, workspace } from '../e2e/harness.ts';
import { send } from '../sandbox/client.ts';
import type { FaultyOptions } from '../sandbox/faults.ts';
import { startScripted, type Answer } from '../service/scripted-server.ts';
import { StateOf } from '../state.ts';

/** The clock of the service: it does not move unless a test moves it. */
let now = 0;
beforeEach(() => {
  now = Date.parse('2026-01-31T12:00:00Z');
});
const DAY_MS = 86_400_000;

async function service(options: FaultyOptions = {}): Promise<Sandbox> {
  return sandbox({ clock: () => now, ...options });
}

const MAPPING = `version: 1
migration: people
sources:
  people: { path: people.csv }
events:
  - type: lead/created
    source: people
    data: { external_id: id, full_name: name }
`;

/** A migration into a service, with its state directory. */
class Migration {
  readonly cwd: string;
  readonly target: Sandbox;
  readonly given: StateOf;

  private constructor(cwd: string, target: Sandbox, given: StateOf) {
    this.cwd = cwd;
    this.target = target;
    this.given = given;
  }

  static async into(target: Sandbox): Promise<Migration> {
    const cwd = await workspace();
    await files(cwd, { 'mapping.yaml': MAPPING, 'people.csv': 'id,name\n' });
    const given = await StateOf.create(join(cwd, 'state'));
    const account = { ...target.account, base_url: target.baseUrl };
    given.account(account, 'people').source('people');
    return new Migration(cwd, target, given);
  }

  /** An event that the service has taken. `now`: the content that the input has now; null if it has none. */
  async sent(type: EventType, id: string, data: JsonObject, current: JsonObject | null = data): Promise<void> {
    await send(this.target, type, { external_id: id, ...data });
    if (current) this.given.event(type, id, current);
    const isLead = type.startsWith('lead');
    const { leads, deals } = this.target.state();
    const serviceId = (isLead ? leads : deals).find(({ externalId }) => externalId === id)!.id;
    const outcome = type.endsWith('created') ? 'created' : 'updated';
    this.given.request(type, id, data, { serviceId, outcome, at: new Date(now).toISOString() });
  }

  async say(options: Argv = {}, target = this.target): Promise<Said> {
    const argv = { mapping: join(this.cwd, 'mapping.yaml'), state: this.given.dir.path, rate: '100000/1s' };
    return call(verify, { ...argv, credentials: await envFile(target), ...options });
  }

  async check(options: Argv = {}): Promise<Said & { found: Verification }> {
    this.given.close();
    const said = await this.say({ sample: 'all', json: true, ...options });
    expect(said.stdout, said.stderr).not.toBe('');
    return { ...said, found: JSON.parse(said.stdout) as Verification };
  }
}

/** So many leads that a service has taken. */
async function migrated(count: number, options: FaultyOptions = {}): Promise<Migration> {
  const job = await Migration.into(await service(options));
  for (let id = 0; id < count; id += 1) {
    await job.sent('lead/created', String(id), { full_name: `Name ${id}`, email: `p${id}@example.test` });
  }
  return job;
}

type Argv = Readonly<Record<string, unknown>>;

function reads(target: Sandbox, path: string): string[] {
  const requests = target.requests();
  const lastWrite = requests.findLastIndex(({ method }) => method === 'POST');
  return requests
    .slice(lastWrite + 1)
    .filter((request) => request.method === 'GET' && request.path.startsWith(path))
    .map((request) => request.path);
}

/** The stages of the first pipeline by name. */
function stagesOf(target: Sandbox): Readonly<Record<string, string>> {
  return Object.fromEntries(target.account.pipelines[0]!.stages.map(({ id, name }) => [name, id]));
}

describe('verify', () => {
  it('finds no differences after a migration, changes nothing, and exits with 0', async () => {
    const job = await migrated(3);
    const { target } = job;
    const deal = {
      title: 'Roof',
      amount: 12.5,
      currency: 'EUR',
      stage_id: stagesOf(target).Won!,
      lead_external_id: '1',
    };
    await job.sent('deal/created', '7', { ...deal, owner_id: target.account.users[0]!.id });
    const writes = target.requests().filter(({ method }) => method !== 'GET').length;
    const { code, found, stdout, stderr } = await job.check();
    expect(code).toBe(0);
    expect(found.exit).toEqual({ code: 0, reason: 'same' });
    const [lead, deals] = [found.entities.lead!, found.entities.deal!];
    expect(lead).toMatchObject({ acknowledged: 3, read_back: 3, missing: 0, without_id: 0, not_in_input: 0 });
    expect(lead.fields.full_name).toEqual({ same: 3 });
    for (const name of ['amount', 'currency', 'stage_id', 'pipeline', 'lead_external_id']) {
      expect(deals.fields[name], name).toEqual({ same: 1 });
    }
    expect(found.first_differences).toEqual([]);
    expect(target.requests().filter(({ method }) => method !== 'GET')).toHaveLength(writes);
    expect(stderr).toMatch(/Leads +3 +3 +3 +0 +0\n/);
    expect(deals.fields.owner_id).toEqual({ same: 1 });
    expect(stderr.replace(/\s+/g, ' ')).toMatch(/VERIFIED: 4 of 4 records match .* Not readable: title of deals \(/);
    expect(stdout + stderr).not.toContain(target.apiKey.reveal());
    expect((await readFile(found.files.verify, 'utf8')).split('\n')).toHaveLength(2);
    expect((await stat(found.files.verify)).mode & 0o777).toBe(0o600);
  });

  it('finds an owner that is not the one that was sent, where the service shows owners', async () => {
    const job = await migrated(0);
    const { target } = job;
    const [first, second] = target.account.users;
    await job.sent('deal/created', '7', { amount: 5, owner_id: first!.id });
    await job.sent('deal/created', '8', { amount: 5, owner_id: first!.id });
    Object.assign(
      target.state().deals.find(({ externalId }) => externalId === '8')!,
      { ownerId: second!.id },
    );
    const { code, found, stderr } = await job.check();
    expect([code, found.exit.reason]).toEqual([1, 'different']);
    expect(found.entities.deal!.fields.owner_id).toEqual({ same: 1, different: 1 });
    expect(found.entities.deal!.equal).toBe(1);
    expect(stderr).toContain('1 of 2 records match');
  });

  it('leaves its result in the state, for the report: counts without values, and the plan that it compared with', async () => {
    const job = await migrated(2);
    job.given.close();
    const page = async (): Promise<string> =>
      readFile(writeReport(job.given.dir, job.given.dir, { withValues: false }).path, 'utf8');
    expect(await page()).toContain('Not verified yet');
    await job.say({ sample: 'all' });
    const written = await readFile(job.given.dir.file('report.html'), 'utf8');
    const text = written.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
    expect(text).toContain('2 of 2 records match in every field that can be read back.');
    expect(text).toContain('Compared with the plan that was sent');
    expect(text).not.toContain('p0@example.test');
  });

  it('names the plan that it compared with', async () => {
    const job = await migrated(1);
    job.given.plan.run(`insert into setting (name, value) values ('digest', 'aaaa1111bbbb'), ('listed', '1')`);
    const { found, stderr } = await job.check();
    expect(found.plan).toEqual({ digest: 'aaaa1111bbbb', is_dry_run: false });
    expect(stderr).toContain('Compared with the plan that was sent (aaaa1111bbbb).');
  });

  it('prints its result to stdout', async () => {
    const job = await migrated(1);
    job.given.close();
    const { stdout } = await job.say();
    expect(stdout).toMatch(/^VERIFIED: 1 of 1 record matches/);
  });

  it('reports every deal with a wrong stage, with the names of both stages', async () => {
    const job = await migrated(0);
    const { target } = job;
    const { Qualified, Won } = stagesOf(target);
    for (const id of ['1', '2']) await job.sent('deal/created', id, { stage_id: Qualified! }, { stage_id: Won! });
    const { code, found, stderr } = await job.check();
    expect(code).toBe(1);
    expect(found.exit.reason).toBe('different');
    expect(found.entities.deal!.fields.stage_id).toEqual({ changed: 2 });
    expect(found.entities.deal!.fields.pipeline).toEqual({ same: 2 });
    expect(await readFile(found.files.verify, 'utf8')).toMatch(/^deal,1,.*,stage_id,changed,/m);
    expect(stderr).toContain('now `Sales / Won`, shown `Sales / Qualified`');
  });

  it('distinguishes values that differ from values edited later', async () => {
    const job = await migrated(4);
    const { target } = job;
    await send(target, 'lead/updated', { external_id: '1', full_name: 'Not As Sent' });
    now += DAY_MS;
    await send(target, 'lead/updated', { external_id: '2', full_name: '=Edited', email: 'P2@example.test' });
    const { code, found } = await job.check();
    expect(code).toBe(1);
    expect(found.entities.lead!.fields.full_name).toEqual({ same: 2, different: 1, edited: 1 });
    expect(found.entities.lead!.fields.email).toEqual({ same: 3, normalised: 1 });
    expect(
      found.first_differences.map(({ external_id: id, field, verdict }) => `${id} ${field} ${verdict}`).sort(),
    ).toEqual(['1 full_name different', '2 email normalised', '2 full_name edited']);
    expect(await readFile(found.files.verify, 'utf8')).toContain(`full_name,edited,Name 2,'=Edited,`);
  });

  it('takes another form of most records for the form of the service, not for edits', async () => {
    const job = await migrated(0);
    const { target } = job;
    for (let id = 0; id < 6; id += 1) {
      await job.sent('lead/created', String(id), { full_name: `Rossi & Co ${id}`, email: `p${id}@example.test` });
    }
    now += DAY_MS;
    for (let id = 0; id < 5; id += 1) {
      await send(target, 'lead/updated', { external_id: String(id), full_name: `Rossi &amp; Co ${id}` });
    }
    const { code, found, stderr } = await job.check();
    expect(code).toBe(1);
    expect(found.exit.reason).toBe('other_form');
    expect(found.entities.lead!.fields.full_name).toEqual({ same: 1, other_form: 5 });
    expect(stderr).toMatch(/leads, name: .* with so many, +5\n.*service/);
    expect(stderr).toContain('sent `Rossi & Co 0`, shown `Rossi &amp; Co 0`');
  });

  it('is no success where no record is as it was sent, although all were edited later', async () => {
    const job = await migrated(2);
    now += DAY_MS;
    for (const id of ['0', '1']) await send(job.target, 'lead/updated', { external_id: id, full_name: 'Edited' });
    const { code, found, stderr } = await job.check();
    expect([code, found.exit.reason]).toEqual([1, 'none_equal']);
    expect(stderr).toMatch(/NOT VERIFIED: 0 of 2 records match/);
  });

  it('lists records that no longer exist', async () => {
    const job = await migrated(3);
    job.given.event('lead/created', 'lost', { full_name: 'Lost' });
    job.given.request('lead/created', 'lost', { full_name: 'Lost' }, { serviceId: randomUUID() });
    const { code, found, stderr } = await job.check();
    expect(code).toBe(1);
    expect(found.exit.reason).toBe('missing');
    expect(found.entities.lead!).toMatchObject({ read_back: 4, missing: 1 });
    expect(found.entities.lead!.fields.full_name).toEqual({ same: 3 });
    expect(found.first_differences).toMatchObject([{ external_id: 'lost', verdict: 'missing' }]);
    expect(stderr).toMatch(/leads: no longer in the service +1 +lead lost\n/);
  });

  it.each([1, 5])('reports a record that may not be read, and compares all others (%i of them)', async (others) => {
    const serviceId = randomUUID();
    const faults = { rules: [{ kind: 'status' as const, status: 403, when: { path: `/leads/${serviceId}` } }] };
    const job = await migrated(others, { faults });
    const { target } = job;
    job.given.event('lead/created', 'theirs', { full_name: 'Theirs' });
    job.given.request('lead/created', 'theirs', { full_name: 'Theirs' }, { serviceId });
    const { code, found, stderr } = await job.check();
    expect(code).toBe(1);
    expect(found.exit.reason).toBe('refused');
    expect(found.entities.lead!).toMatchObject({ read_back: others, missing: 0, refused: 1 });
    expect(found.entities.lead!.fields.full_name).toMatchObject({ same: others });
    expect(found.first_differences).toMatchObject([
      { external_id: 'theirs', verdict: 'refused', service_id: serviceId },
    ]);
    expect(stderr).toMatch(/lead theirs: GET \/leads\/\S+ was refused\s+\(403/);
    expect(reads(target, `/leads/${serviceId}`)).toHaveLength(1);
  });

  it('reports values changed in the input since they were sent, and records that it lacks', async () => {
    const job = await migrated(0);
    await job.sent('lead/created', '1', { full_name: 'Name 1' }, { full_name: 'Other Name' });
    await job.sent('lead/created', '2', { full_name: 'Name 2' });
    await job.sent('lead/created', '3', { full_name: 'Name 3' }, null);
    const { code, found, stderr } = await job.check();
    expect(code).toBe(1);
    expect(found.entities.lead!.not_in_input).toBe(1);
    expect(found.entities.lead!.fields.full_name).toEqual({ same: 1, changed: 1 });
    expect(stderr).toContain('lead 1: now `Other Name`, shown `Name 1`');
  });
});

describe('verify, of comments,', () => {
  /** Two comments that were sent, and a service that answers GET /comments so. */
  async function noted(comments: Answer): Promise<Said & { found: Verification }> {
    const listed = await startScripted(({ url }) => {
      if (url.startsWith('/comments?')) return comments;
      return url.startsWith('/comments') ? { status: 405 } : { status: 200, body: [] };
    });
    onTestFinished(() => listed.close());
    const cwd = await workspace();
    const state = await StateOf.create(join(cwd, 'state'));
    const account = { pipelines: [], users: [], base_url: listed.baseUrl };
    state.account(account, 'people').source('people');
    for (const id of ['1', '2']) {
      const data = { content: `Called ${id}`, lead_external_id: 'ada' };
      state.event('comment/created', id, data);
      state.request('comment/created', id, data, { serviceId: `s${id}` });
    }
    state.close();
    await files(cwd, {
      ...{ 'mapping.yaml': MAPPING, 'people.csv': 'id,name\n' },
      env: `BACKFILL_BASE_URL=${listed.baseUrl}\nBACKFILL_API_KEY=key-of-a-test\n`,
    });
    const argv = { mapping: join(cwd, 'mapping.yaml'), state: join(cwd, 'state'), rate: '100000/1s', json: true };
    const said = await call(verify, { ...argv, credentials: join(cwd, 'env') });
    expect(said.stdout, said.stderr).not.toBe('');
    return { ...said, found: JSON.parse(said.stdout) as Verification };
  }
  const BOTH = [
    { id: 's1', content: 'Called 1', leadId: 'x' },
    { id: 's2', content: 'Somebody wrote this' },
    { id: 'theirs', content: 'Not ours' },
  ];

  it.each([
    ['a bare array', BOTH],
    ['a named list', { comments: BOTH, total: 3 }],
    ['texts under another name', BOTH.map(({ content: text, ...rest }) => ({ text, ...rest }))],
  ])('compares them where a list shows their text: %s', async (_, body) => {
    const { code, found, stderr } = await noted({ status: 200, body });
    expect([code, found.exit.reason]).toEqual([1, 'different']);
    expect(found.entities.comment!).toMatchObject({ read_back: 2, equal: 1, missing: 0, not_shown: null });
    expect(found.entities.comment!.fields.content).toEqual({ same: 1, different: 1 });
    expect(stderr).toMatch(/comments, text: not as it was sent +1\n +comment 2: sent `Called 2`/);
  });

  it.each([
    ['there is no list', { status: 404, body: { error: 'no such route' } }, /GET\s+\/comments was\s+refused \(404/],
    ['the list has none of them', { status: 200, body: [{ id: 'x' }] }, /GET\s+\/comments shows none of them/],
    ['the key may not list them', { status: 403, body: { error: 'no' } }, /403/],
    ['the answer is no list', { status: 200, body: { hello: 'world' } }, /no list/],
  ])('says that they cannot be read, and where it looked, if %s', async (_, answer, why) => {
    const { code, found, stderr } = await noted(answer);
    expect([code, found.exit.reason]).toEqual([1, 'not_compared']);
    expect(stderr).toMatch(/^NOT VERIFIED: nothing was compared/m);
    expect(found.entities.comment!.not_shown).toMatch(why);
    expect(stderr).toMatch(why);
    expect(stderr).toContain('Not readable: 2 comments');
  });

  it('says that a list has no texts', async () => {
    const { code, found, stderr } = await noted({ status: 200, body: [{ id: 's1' }, { id: 's2' }] });
    expect(code).toBe(1);
    expect(found.entities.comment!).toMatchObject({ read_back: 2, equal: 0, unreadable: 2 });
    expect(stderr).toMatch(/^NOT VERIFIED: nothing was compared/m);
    expect(stderr).toMatch(/Not readable: text of comments/);
  });
});

describe('verify --sample', () => {
  it('reads a small sample one by one, always the same records, spread over the export', async () => {
    const job = await migrated(300);
    const { target } = job;
    const first = await job.check({ sample: '4' });
    expect(first.found.entities.lead!).toMatchObject({ acknowledged: 300, read_back: 4 });
    const asked = reads(target, '/leads');
    expect(asked).toHaveLength(4);
    expect(asked.every((path) => /^\/leads\/[\da-f-]+$/.test(path))).toBe(true);
    await job.say({ sample: '4' });
    expect(reads(target, '/leads').slice(4).sort()).toEqual(asked.toSorted());
  });
});

describe('verify, when it cannot,', () => {
  it('reports that nothing has been sent yet, or that there is no plan', async () => {
    const job = await migrated(1);
    job.given.close();
    await rm(join(job.given.dir.path, 'plan.db'));
    const without = await job.say();
    expect(without.code).toBe(2);
    expect(without.stderr).toContain('there is no plan to compare with');
    for (const suffix of ['', '-wal', '-shm'])
      await rm(join(job.given.dir.path, `checkpoint.db${suffix}`), { force: true });
    const said = await job.say();
    expect(said.code).toBe(2);
    expect(said.stderr).toContain('nothing to verify');

    // The checkpoint of a run that ended before its first event.
    openCheckpoint(job.given.dir).close();
    expect((await job.say()).stderr).toContain('no event has been sent yet');
  });

  it('does not start while a run uses the state directory', async () => {
    const job = await migrated(1);
    const lock = Lock.acquire(await StateDir.existing(job.given.close().path));
    onTestFinished(() => lock.release());
    const said = await job.say();
    expect(said.code).toBe(3);
    expect(said.stderr).toContain('another run is using');
  });

  it.each([
    ['a service other than the one that events were sent to', '', 'another base URL'],
    ['another account at the same base URL', `pipeline_ids = '["theirs"]'`, 'another account'],
    ['the state of another migration', `name = 'theirs'`, 'belongs to another migration: theirs, not people'],
  ])('refuses %s', async (_what, change, why) => {
    const job = await migrated(1);
    if (change !== '') job.given.checkpoint.run(`update migration set ${change}`);
    job.given.close();
    const said = await job.say({}, change === '' ? await service() : job.target);
    expect(said.code).toBe(2);
    expect(said.stderr).toContain(why);
  });
});
