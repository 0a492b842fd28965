// Lost without it: the job as a whole: every field sent, once, in order, with triggers suppressed.
import { describe, expect, it } from 'vitest';
import type { RequestEntry } from '../../src/sandbox/index.ts';
import { EVENT_TYPES } from '../../src/kinds/index.ts';
import { backfill, documentIn, environmentOf, FAST, mapping, project, rowsIn, sandbox } from './harness.ts';

describe('a run of the demo', () => {
  it('sends every field as the mapping defines it, with names resolved to ids and absent values omitted', async () => {
    const { service, run, sent, stored } = await project('demo');
    const ended = await run();
    expect(ended.code, ended.stderr).toBe(1);

    const find = (id: string) => sent().find(({ data }) => data.external_id === id)!;
    expect(find('51000301')).toMatchObject({ type: 'lead/created', occurred_at: '2023-01-01T07:00:00.000Z' });
    expect(find('51000301').data).toEqual({
      external_id: '51000301',
      full_name: 'Giulia Ferrari',
      email: 'giulia.ferrari@example.test',
      phone_number: '+390669821000',
      custom_params: { origin: 'hubspot', lifecycle: 'Lead', city: 'Roma' },
    });
    // An invalid phone number and an invalid e-mail address are omitted and listed.
    expect(find('51000634').data).not.toHaveProperty('phone_number');
    expect(find('51000782').data).not.toHaveProperty('email');
    expect(await stored('left_out.csv')).toContain('ask reception');

    const stage = (pipeline: string, name: string) =>
      service.account.pipelines.find((each) => each.name === pipeline)!.stages.find((each) => each.name === name)!.id;
    expect(find('9700121').data).toEqual({
      external_id: '9700121',
      title: 'Annual licence - Esposito',
      amount: 980.5,
      currency: 'EUR',
      lead_external_id: '51000338',
      stage_id: stage('Sales', 'Qualified'),
      owner_id: service.account.users.find(({ email }) => email === 'grace@example.test')!.id,
      custom_fields: { close_date: '2024-02-04' },
    });
    expect(find('9700110').data.stage_id).toBe(stage('Partners', 'Qualified'));
    expect(find('9700330').data).not.toHaveProperty('owner_id');
    expect(find('note-33000000000000007').data).toEqual({
      external_id: 'note-33000000000000007',
      content: 'Met at the fair.\n\nVery interested.',
      author_name: 'Grace Hopper',
      deal_external_id: '9700121',
    });
  });

  it('sends each event once, in the order of types, with triggers suppressed, and accounts for every event and record', async () => {
    const { service, summary, sent, state, stored } = await project('demo');
    const { profile, ...counts } = await summary();
    const { events, records, this_run: run } = counts;
    const isEvent = ({ method }: RequestEntry): boolean => method === 'POST';
    expect(new Set(sent().map(({ id }) => id)).size).toBe(events.acknowledged);
    expect(sent().length).toBe(events.acknowledged);
    const headers = service
      .requests()
      .filter(isEvent)
      .map((request) => request.headers['x-suppress-triggers']);
    expect(headers.every((header) => header === 'true')).toBe(true);
    expect(sent().every((body) => body.suppress_triggers === true)).toBe(true);
    expect(service.triggersFired).toBe(0);
    const order = sent().map(({ type }) => (EVENT_TYPES as readonly string[]).indexOf(type));
    expect(order).toEqual([...order].sort((a, b) => a - b));
    const others = service.requests().filter((request) => !isEvent(request));
    expect(others.every(({ method }) => method === 'GET')).toBe(true);
    expect(others.length).toBeLessThanOrEqual(6);
    expect(run).toMatchObject({ events_sent: sent().length, retries: 0, rate_limited: 0 });

    expect(records).toEqual({ read: 82, mapped: 80, skipped: 1, unreadable: 1 });
    expect(events.total).toBe(
      events.acknowledged + events.duplicates + events.invalid + events.rejected + events.blocked + events.pending,
    );
    expect(events).toMatchObject({ total: 80, rejected: 0, pending: 0, duplicates: 0, gone: 0, changed: 0 });
    const errors = await rowsIn<object>(state(), "select * from problems where severity = 'error'");
    expect(errors.length).toBe(events.invalid + events.blocked + records.unreadable);
    for (const known of [
      { kind: 'read', code: 'too_many_cells', source: 'contacts', line: 32 },
      { kind: 'resolve', code: 'unresolved_stage', external_id: '9700154' },
      { kind: 'blocked', code: 'parent_missing', external_id: '9700275' },
    ]) {
      expect(errors).toContainEqual(expect.objectContaining(known));
    }
    expect((await stored('errors.csv')).trim().split('\n')).toHaveLength(errors.length + 1);
    expect(Object.keys(profile.sources)).toEqual(['contacts', 'deals', 'notes']);
    expect(await documentIn(state(), 'summary')).toEqual(counts);
  });

  it('sends nothing in a dry run, but finds the same problems; nothing in a rerun, and corrected rows once they are fixed', async () => {
    const { service, summary, sent, posts, edit } = await project('demo');
    const dry = await summary('--dry-run');
    expect(dry.exit.code).toBe(1);
    expect(service.requests().every(({ method }) => method === 'GET')).toBe(true);
    const first = await summary();
    expect(dry.errors_by_code).toEqual(first.errors_by_code);
    expect(dry.events.pending).toBe(first.events.acknowledged);
    const before = posts();

    const again = await summary();
    expect(posts()).toBe(before);
    expect(again.events).toEqual(first.events);
    expect(again.this_run).toMatchObject({ events_sent: 0, already_acknowledged: first.events.acknowledged });

    await edit('contacts.csv', (text) => text.replace('2023-02-30 10:15', '2023-02-28 10:15'));
    const corrected = await summary();
    expect(corrected.events.invalid).toBe(first.events.invalid - 1);
    expect(corrected.events.blocked).toBeLessThan(first.events.blocked);
    expect(corrected.this_run.events_sent).toBe(corrected.events.acknowledged - first.events.acknowledged);
    expect(new Set(sent().map(({ id }) => id)).size).toBe(posts());
  });

  it('refuses to send to an account other than the one it started with', async () => {
    const { cwd, run } = await project('demo');
    await run();
    const other = await sandbox();
    const ended = await backfill(['run', 'mapping.yaml', ...FAST], { cwd, env: environmentOf(other) });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain('belongs to another base URL');
    expect(other.requests().filter(({ method }) => method === 'POST')).toEqual([]);
  });

  it('stops immediately if the service has processed the migration but the checkpoint is lost, unless --adopt is set', async () => {
    const { service, run, summary } = await project('demo');
    const first = await summary();
    for (const _ of [1, 2]) {
      const lost = await run('--state', 'elsewhere');
      expect(lost.code).toBe(3);
      expect(lost.stderr).toContain('--adopt');
    }
    const state = service.state();
    expect((await summary('--state', 'elsewhere', '--adopt')).events).toEqual(first.events);
    expect(service.state()).toEqual(state);
  });

  it('is refused while another run uses the state directory', async () => {
    const { service, start, run, posts } = await project('demo', { faults: { rules: [{ kind: 'hang' }] } });
    const first = start();
    await expect.poll(posts, { timeout: 120_000 }).toBeGreaterThan(0);
    const second = await run();
    expect(second.code).toBe(3);
    expect(second.stderr).toContain(`process ${first.child.pid} on `);
    first.child.kill('SIGKILL');
    await first.ended;
    service.setFaults({ rules: [] });
    const third = await run();
    expect(third.code, third.stderr).toBe(1);
  });
});

/** A migration of so many leads, at a limit of the service. */
function leads(count: number, seconds: number) {
  const rows = Array.from({ length: count }, (_, index) => `${index},Name ${index}\n`);
  const people = 'type: lead/created, data: { external_id: id, full_name: name }';
  const contents = { 'people.csv': `id,name\n${rows.join('')}`, 'mapping.yaml': mapping({ people }) };
  return project(contents, { rate: { requests: 100, seconds } });
}

it('140 events at 100 in 3 seconds take 140 requests, and none of them is rate-limited', async () => {
  const { service, run, posts } = await leads(140, 3);
  const ended = await run('--rate', '100/3s');
  expect(ended.code, ended.stderr).toBe(0);
  expect(posts()).toBe(140);
  expect(service.requests().filter(({ status }) => status === 429)).toEqual([]);
});
