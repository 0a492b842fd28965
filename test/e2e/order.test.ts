import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/commands/sandbox/index.ts';
import type { Status } from '../../src/figures/read-status.ts';
import { migrate } from '../faults/in-process.ts';
import { readFile } from 'node:fs/promises';
import { backfill, environmentOf, FAST, files, sandbox, start, workspace } from './harness.ts';

const MAPPING = `version: 1
migration: order
sources:
  leads: { path: leads.csv }
  deals: { path: deals.csv }
  notes: { path: notes.csv }
events:
  - type: lead/created
    source: leads
    data: { external_id: id }
  - type: deal/created
    source: deals
    priority: { from: stage, apply: [{ map: { Won: 0, Lost: 0, '*': 1 } }] }
    data: { external_id: id, lead_external_id: lead }
  - type: comment/created
    source: notes
    occurred_at: { from: at, apply: [{ date: iso }] }
    data: { external_id: id, content: text, deal_external_id: deal }
`;

/** Twenty leads with a deal each, of which every fifth is open, and comments on them, the newest first. */
async function migration(comments = 6): Promise<{ cwd: string; mapping: string }> {
  const cwd = await workspace();
  const ids = Array.from({ length: 20 }, (_, n) => n + 1);
  const notes = ids.flatMap((id) =>
    Array.from({ length: comments }, (_, n) => `n${id}-${comments - n},text,d${id},2024-03-0${comments - n}T10:00:00Z`),
  );
  await files(cwd, {
    'mapping.yaml': MAPPING,
    'leads.csv': ['id', ...ids.map((id) => `l${id}`), ''].join('\n'),
    'deals.csv': ['id,lead,stage', ...ids.map((id) => `d${id},l${id},${id % 5 === 0 ? 'New' : 'Won'}`), ''].join('\n'),
    'notes.csv': ['id,text,deal,at', ...notes, ''].join('\n'),
  });
  return { cwd, mapping: join(cwd, 'mapping.yaml') };
}

interface Body {
  readonly data: {
    readonly external_id: string;
    readonly lead_external_id?: string;
    readonly deal_external_id?: string;
  };
}

interface Request {
  readonly at: number;
  readonly endedAt: number | undefined;
  readonly status: number | undefined;
  readonly data: Body['data'];
}

function posts(service: Sandbox): Request[] {
  return service
    .requests()
    .filter(({ method }) => method === 'POST')
    .map(({ at, endedAt, status, body }) => ({ at, endedAt, status, data: (body as Body).data }));
}

/** The ids of a deal's comments in the order in which the service has created them. */
function commentsOf(service: Sandbox, deal: string): string[] {
  return posts(service)
    .filter(({ data, status }) => data.deal_external_id === deal && status === 200)
    .map(({ data }) => data.external_id);
}

const LATENCY = { kind: 'latency', min_ms: 2, max_ms: 30 } as const;

describe('a run', () => {
  it('sends open deals with their leads and comments before everything else, and says when', async () => {
    const service = await sandbox();
    const { mapping } = await migration();
    const summary = await migrate(service, mapping);
    expect(summary.exit.code).toBe(0);
    const family = ({ data }: Request): number => Number(/\d+/.exec(data.external_id)![0]);
    const sent = posts(service);
    for (const kind of ['l', 'd']) {
      const isOpen = sent.filter(({ data }) => data.external_id.startsWith(kind)).map((each) => family(each) % 5 === 0);
      expect(isOpen.slice(0, isOpen.length / 5)).not.toContain(false);
    }
    // Comments of closed deals fill the gaps between those of one open deal.
    expect(family(sent.at(-1)!) % 5).not.toBe(0);
    expect(summary.priorities).toEqual([
      { priority: 1, events: 32, acknowledged: 32, done_at: expect.any(String) as string },
      { priority: 0, events: 128, acknowledged: 128, done_at: expect.any(String) as string },
    ]);
    const [first, second] = summary.priorities.map(({ done_at: at }) => Date.parse(at!));
    expect(first).toBeLessThanOrEqual(second!);
    expect(second).toBeLessThanOrEqual(Date.parse(summary.finished_at));
  });

  it('says in the survey, in status and in the report how many events each priority has, and when it is done', async () => {
    const service = await sandbox();
    const { cwd } = await migration();
    const env = environmentOf(service);
    const dry = await backfill(['run', 'mapping.yaml', '--dry-run', '--rate', '16/60s'], { cwd, env });
    expect(dry.stdout).toMatch(/^By priority +events +acknowledged +done$/m);
    expect(dry.stdout).toMatch(/^ {2}1 +32 +0 +about .*\d\d:\d\d$/m);
    expect(dry.stdout).toMatch(/^ {2}0 +128 +0 +about .*\d\d:\d\d$/m);
    expect((await backfill(['run', 'mapping.yaml', '--max-requests', '60', ...FAST], { cwd, env })).code).toBe(3);
    const status = await backfill(['status', 'mapping.yaml'], { cwd });
    expect(status.stdout).toMatch(/^ {2}1 +32 +32 +/m);
    expect(status.stdout).toMatch(/^ {2}0 +128 +\d+ +–$/m);
    expect(await readFile(join(cwd, '.backfill/order/report.html'), 'utf8')).toContain('Events by priority');
  });

  it('never sends a child before its parent is acknowledged, nor two comments of one deal together', async () => {
    const service = await sandbox({ faults: { rules: [LATENCY] } });
    const { mapping } = await migration();
    await migrate(service, mapping);
    const sent = posts(service);
    const endOf = new Map(sent.map((each) => [each.data.external_id, each.endedAt!]));
    for (const { at, data } of sent) {
      const parent = data.deal_external_id ?? data.lead_external_id;
      if (parent !== undefined) expect(endOf.get(parent)).toBeLessThanOrEqual(at);
    }
    for (const deal of ['d1', 'd5', 'd20']) {
      const own = sent.filter(({ data }) => data.deal_external_id === deal);
      expect(own.map(({ data }) => data.external_id)).toEqual([1, 2, 3, 4, 5, 6].map((n) => `n${deal.slice(1)}-${n}`));
      for (const [n, { at }] of own.entries()) expect(own[n - 1]?.endedAt ?? 0).toBeLessThanOrEqual(at);
    }
  });

  it('goes on with the comments after one that is rejected, and says what that means for their order', async () => {
    const rejected = { kind: 'status', status: 422, code: 'odd', when: { event: { external_id: 'n3-2' } } } as const;
    const service = await sandbox({ faults: { rules: [rejected] } });
    const { cwd, mapping } = await migration();
    const summary = await migrate(service, mapping);
    expect(summary.events).toMatchObject({ rejected: 1, acknowledged: 159 });
    expect(commentsOf(service, 'd3')).toEqual(['n3-1', 'n3-3', 'n3-4', 'n3-5', 'n3-6']);
    const errors = await readFile(join(cwd, '.backfill/order/errors.csv'), 'utf8');
    expect(errors).toContain('comments are dated on arrival');
    service.setFaults({ rules: [] });
    expect((await migrate(service, mapping)).exit.code).toBe(0);
    expect(commentsOf(service, 'd3').at(-1)).toBe('n3-2');
  });

  it('keeps the order of the comments wherever it is killed', { timeout: 120_000 }, async () => {
    const service = await sandbox({ faults: { rules: [LATENCY] } });
    const { cwd, mapping } = await migration(9);
    const env = environmentOf(service);
    let killed = 0;
    for (let round = 0; round < 20 && killed < 4; round += 1) {
      const before = posts(service).length;
      const run = start(['run', 'mapping.yaml', ...FAST], { cwd, env });
      const ended = run.ended.then(() => true);
      while (posts(service).length < before + 30 && !(await Promise.race([ended, sleep(2).then(() => false)])));
      run.child.kill('SIGKILL');
      if ((await run.ended).signal === 'SIGKILL') killed += 1;
    }
    expect(killed).toBeGreaterThan(0);
    const status = await backfill(['status', 'mapping.yaml', '--json'], { cwd });
    const { basis, events, priorities } = JSON.parse(status.stdout) as Pick<Status, 'basis' | 'events' | 'priorities'>;
    expect(basis).toBe('under way');
    expect(priorities.map(({ acknowledged }) => acknowledged).reduce((a, b) => a + b)).toBe(events.acknowledged);
    expect((await migrate(service, mapping)).exit.code).toBe(0);
    for (let deal = 1; deal <= 20; deal += 1) {
      const stored = service.state().comments.filter((comment) => comment.externalId?.startsWith(`n${deal}-`));
      expect(stored.map(({ externalId }) => externalId)).toEqual(
        Array.from({ length: 9 }, (_, n) => `n${deal}-${n + 1}`),
      );
    }
  });
});
