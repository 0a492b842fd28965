import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RequestEntry } from '../../src/commands/sandbox/index.ts';
import {
  backfill,
  documentIn,
  environmentOf,
  FAST,
  files,
  rowsIn,
  sandbox,
  start,
  summaryOf,
  workspace,
} from './harness.ts';

interface Body {
  readonly id: string;
  readonly type: string;
  readonly suppress_triggers: unknown;
  readonly occurred_at?: string;
  readonly data: Record<string, unknown>;
}

const ORDER = ['lead/created', 'lead/updated', 'deal/created', 'deal/updated', 'comment/created'];

function ingested(requests: readonly RequestEntry[]): RequestEntry[] {
  return requests.filter(({ method, path }) => method === 'POST' && path.startsWith('/webhooks/ingest/'));
}

function bodies(requests: readonly RequestEntry[]): Body[] {
  return ingested(requests).map(({ body }) => body as Body);
}

/** A migration of so many leads. */
async function leads(count: number): Promise<string> {
  const cwd = await workspace();
  const rows = Array.from({ length: count }, (_, index) => `${index},Name ${index}`);
  await files(cwd, {
    'people.csv': `id,name\n${rows.join('\n')}\n`,
    'mapping.yaml': `
version: 1
migration: rate
sources:
  people: { path: people.csv }
events:
  - type: lead/created
    source: people
    data: { external_id: id, full_name: name }
`,
  });
  return cwd;
}

describe('a run', () => {
  it('sends every field as the mapping defines it, with names resolved to ids and absent values omitted', async () => {
    const service = await sandbox();
    const cwd = await workspace('demo');
    const ended = await backfill(['run', 'mapping.yaml', '--json', ...FAST], { cwd, env: environmentOf(service) });
    expect(ended.code, ended.stderr).toBe(1);

    const sent = bodies(service.requests());
    const find = (id: string): Body | undefined => sent.find(({ data }) => data.external_id === id);
    expect(find('51000301')).toMatchObject({
      type: 'lead/created',
      suppress_triggers: true,
      occurred_at: '2023-01-01T07:00:00.000Z',
    });
    expect(find('51000301')!.data).toEqual({
      external_id: '51000301',
      full_name: 'Giulia Ferrari',
      email: 'giulia.ferrari@example.test',
      phone_number: '+390669821000',
      custom_params: { origin: 'hubspot', lifecycle: 'Lead', city: 'Roma' },
    });
    // An invalid phone number and an invalid e-mail address are omitted and listed.
    expect(find('51000634')!.data).not.toHaveProperty('phone_number');
    expect(find('51000782')!.data).not.toHaveProperty('email');
    expect(await readFile(join(cwd, '.backfill/demo/omitted.csv'), 'utf8')).toContain('ask reception');

    const sales = service.account.pipelines.find(({ name }) => name === 'Sales')!;
    const partners = service.account.pipelines.find(({ name }) => name === 'Partners')!;
    const stage = (pipeline: typeof sales, name: string) => pipeline.stages.find((each) => each.name === name)!.id;
    const owner = (email: string) => service.account.users.find((user) => user.email === email)!.id;
    expect(find('9700121')!.data).toEqual({
      external_id: '9700121',
      title: 'Annual licence - Esposito',
      amount: 980.5,
      currency: 'EUR',
      lead_external_id: '51000338',
      stage_id: stage(sales, 'Qualified'),
      owner_id: owner('grace@example.test'),
      custom_fields: { close_date: '2024-02-04' },
    });
    expect(find('9700110')!.data.stage_id).toBe(stage(partners, 'Qualified'));
    expect(find('9700330')!.data).not.toHaveProperty('owner_id');
    expect(find('note-33000000000000007')!.data).toEqual({
      external_id: 'note-33000000000000007',
      content: 'Met at the fair.\n\nVery interested.',
      author_name: 'Grace Hopper',
      deal_external_id: '9700121',
    });
  });

  it('sends each event once, in the order of types, with triggers suppressed in body and header, and with few other requests', async () => {
    const service = await sandbox();
    const cwd = await workspace('demo');
    const env = environmentOf(service);
    const summary = summaryOf(await backfill(['run', 'mapping.yaml', '--json', ...FAST], { cwd, env }));

    const sent = ingested(service.requests());
    expect(new Set(bodies(sent).map(({ id }) => id)).size).toBe(sent.length);
    expect(sent.length).toBe(summary.events.acknowledged);
    expect(sent.every(({ headers }) => headers['x-suppress-triggers'] === 'true')).toBe(true);
    expect(bodies(sent).every((body) => body.suppress_triggers === true)).toBe(true);
    expect(service.triggersFired).toBe(0);
    const order = bodies(sent).map(({ type }) => ORDER.indexOf(type));
    expect(order).toEqual([...order].sort((a, b) => a - b));

    const others = service.requests().filter((request) => !sent.includes(request));
    expect(others.every(({ method }) => method === 'GET')).toBe(true);
    expect(others.length).toBeLessThanOrEqual(6);
    expect(summary.this_run).toMatchObject({ events_sent: sent.length, retries: 0, rate_limited: 0 });
  });

  it('accounts for every event, and lists every event that was not accepted', async () => {
    const service = await sandbox();
    const cwd = await workspace('demo');
    const summary = summaryOf(
      await backfill(['run', 'mapping.yaml', '--json', ...FAST], { cwd, env: environmentOf(service) }),
    );
    const { events, records } = summary;
    expect(records).toEqual({ read: 82, mapped: 80, skipped: 1, unreadable: 1 });
    expect(events.total).toBe(
      events.acknowledged + events.duplicates + events.invalid + events.rejected + events.blocked + events.pending,
    );
    expect(events).toMatchObject({ total: 80, rejected: 0, pending: 0, duplicates: 0, gone: 0, changed: 0 });
    const state = join(cwd, '.backfill/demo');
    const errors = await rowsIn<object>(state, "select * from problems where severity = 'error'");
    expect(errors.length).toBe(events.invalid + events.blocked + records.unreadable);
    for (const known of [
      { kind: 'read', code: 'too_many_cells', source: 'contacts', line: 32 },
      { kind: 'resolve', code: 'unresolved_stage', external_id: '9700154' },
      { kind: 'blocked', code: 'parent_missing', external_id: '9700275' },
    ]) {
      expect(errors).toContainEqual(expect.objectContaining(known));
    }
    expect((await readFile(join(state, 'errors.csv'), 'utf8')).trim().split('\n')).toHaveLength(errors.length + 1);
    const { profile, ...counts } = summary;
    expect(Object.keys(profile.sources)).toEqual(['contacts', 'deals', 'notes']);
    expect(await documentIn(state, 'summary')).toEqual(counts);
  });

  it('sends nothing on a rerun, and sends corrected rows once they are fixed', async () => {
    const service = await sandbox();
    const cwd = await workspace('demo');
    const env = environmentOf(service);
    const first = summaryOf(await backfill(['run', 'mapping.yaml', '--json', ...FAST], { cwd, env }));
    const before = ingested(service.requests()).length;

    const again = summaryOf(await backfill(['run', 'mapping.yaml', '--json', ...FAST], { cwd, env }));
    expect(ingested(service.requests()).length).toBe(before);
    expect(again.events).toEqual(first.events);
    expect(again.this_run).toMatchObject({ events_sent: 0, already_acknowledged: first.events.acknowledged });

    const contacts = await readFile(join(cwd, 'contacts.csv'), 'utf8');
    await files(cwd, { 'contacts.csv': contacts.replace('2023-02-30 10:15', '2023-02-28 10:15') });
    const corrected = summaryOf(await backfill(['run', 'mapping.yaml', '--json', ...FAST], { cwd, env }));
    expect(corrected.events.invalid).toBe(first.events.invalid - 1);
    expect(corrected.events.blocked).toBeLessThan(first.events.blocked);
    expect(corrected.this_run.events_sent).toBe(corrected.events.acknowledged - first.events.acknowledged);
    const ids = bodies(service.requests()).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('sends nothing in a dry run, but finds the same problems', async () => {
    const service = await sandbox();
    const cwd = await workspace('demo');
    const env = environmentOf(service);
    const dry = await backfill(['run', 'mapping.yaml', '--dry-run', '--json', ...FAST], { cwd, env });
    expect(dry.code).toBe(1);
    expect(service.requests().every(({ method }) => method === 'GET')).toBe(true);
    const rehearsed = summaryOf(dry);
    const real = summaryOf(await backfill(['run', 'mapping.yaml', '--json', ...FAST], { cwd, env }));
    expect(rehearsed.errors_by_code).toEqual(real.errors_by_code);
    expect(rehearsed.events.pending).toBe(real.events.acknowledged);
  });

  it('uses 140 requests for 140 events, and none of them is rate-limited', async () => {
    const rate = { requests: 100, seconds: 3 };
    const service = await sandbox({ rate });
    const cwd = await leads(140);
    const ended = await backfill(['run', 'mapping.yaml', '--json', '--rate', '100/3s'], {
      cwd,
      env: environmentOf(service),
    });
    expect(ended.code, ended.stderr).toBe(0);
    expect(ingested(service.requests()).length).toBe(140);
    expect(service.requests().filter(({ status }) => status === 429)).toEqual([]);
  });

  it('takes as long as the limit of the service allows where --rate is above it', async () => {
    const service = await sandbox({ rate: { requests: 100, seconds: 60 } });
    const place = { cwd: await leads(250), env: environmentOf(service) };
    const ended = await backfill(['run', 'mapping.yaml', '--dry-run', '--json', '--rate', '10000/1s'], place);
    expect(ended.stderr.replace(/\s+/g, ' ')).toContain('about 2 min (100 requests per 60 s)');
    expect(summaryOf(ended).estimate_seconds).toBe(120);
  });

  it('refuses to send to an account other than the one it started with', async () => {
    const cwd = await workspace('demo');
    const service = await sandbox();
    await backfill(['run', 'mapping.yaml', ...FAST], { cwd, env: environmentOf(service) });
    const other = await sandbox();
    const ended = await backfill(['run', 'mapping.yaml', ...FAST], { cwd, env: environmentOf(other) });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain('belongs to another base URL');
    expect(ingested(other.requests())).toEqual([]);
  });

  it('stops immediately if the service has processed the migration but the checkpoint is lost, unless --adopt is set', async () => {
    const cwd = await workspace('demo');
    const service = await sandbox();
    const env = environmentOf(service);
    const first = summaryOf(await backfill(['run', 'mapping.yaml', '--json', ...FAST], { cwd, env }));
    for (const _ of [1, 2]) {
      const lost = await backfill(['run', 'mapping.yaml', '--state', 'elsewhere', ...FAST], { cwd, env });
      expect(lost.code).toBe(3);
      expect(lost.stderr).toContain('--adopt');
    }
    const state = service.state();
    const adopted = await backfill(['run', 'mapping.yaml', '--state', 'elsewhere', '--adopt', '--json', ...FAST], {
      cwd,
      env,
    });
    expect(summaryOf(adopted).events).toEqual(first.events);
    expect(service.state()).toEqual(state);
  });

  it('reports an error in the mapping before missing credentials', async () => {
    const cwd = await workspace('demo');
    const missing = await backfill(['run', 'maping.yaml'], { cwd });
    expect(missing.code).toBe(2);
    expect(missing.stderr).toContain('maping.yaml');
    expect(missing.stderr).not.toContain('BACKFILL_API_KEY');
    const secretless = await backfill(['run', 'mapping.yaml'], { cwd });
    expect(secretless.code).toBe(2);
    expect(secretless.stderr).toContain('BACKFILL_API_KEY');
  });

  it('is refused while another run uses the state directory', async () => {
    const cwd = await workspace('demo');
    const service = await sandbox({ faults: { rules: [{ kind: 'hang' }] } });
    const env = environmentOf(service);
    const first = start(['run', 'mapping.yaml', ...FAST], { cwd, env });
    await expect.poll(() => ingested(service.requests()).length, { timeout: 20_000 }).toBeGreaterThan(0);
    const second = await backfill(['run', 'mapping.yaml', ...FAST], { cwd, env });
    expect(second.code).toBe(3);
    expect(second.stderr).toContain(`process ${first.child.pid} on `);
    first.child.kill('SIGKILL');
    await first.ended;
    service.setFaults({ rules: [] });
    const third = await backfill(['run', 'mapping.yaml', ...FAST], { cwd, env });
    expect(third.code, third.stderr).toBe(1);
  });
});
