/** Lost without it: open deals could go last, or a comment after a refused one. What kills do to the order, `test/simulate` has. */
import { describe, expect, it } from 'vitest';
import type { FaultyOptions, FaultySandbox } from '../sandbox/faults.ts';
import { useFastClock } from '../clock.ts';
import { mapping, project, summaryOf, type Project } from './harness.ts';

useFastClock();

const MAPPING = mapping({
  leads: 'type: lead/created, data: { external_id: id }',
  deals:
    "type: deal/created, priority: { from: stage, apply: [{ map: { Won: 0, Lost: 0, '*': 1 } }] }, data: { external_id: id, lead_external_id: lead }",
  notes:
    'type: comment/created, occurred_at: { from: at, apply: [{ date: iso }] }, data: { external_id: id, content: text, deal_external_id: deal }',
});

/** Twenty leads with a deal each, of which every fifth is open, and comments on them, the newest first. */
function migration(options: FaultyOptions = {}, comments = 6): Promise<Project> {
  const ids = Array.from({ length: 20 }, (_, n) => n + 1);
  const notes = ids.flatMap((id) =>
    Array.from({ length: comments }, (_, n) => `n${id}-${comments - n},text,d${id},2024-03-0${comments - n}T10:00:00Z`),
  );
  const files = {
    'mapping.yaml': MAPPING,
    'leads.csv': ['id', ...ids.map((id) => `l${id}`), ''].join('\n'),
    'deals.csv': ['id,lead,stage', ...ids.map((id) => `d${id},l${id},${id % 5 === 0 ? 'New' : 'Won'}`), ''].join('\n'),
    'notes.csv': ['id,text,deal,at', ...notes, ''].join('\n'),
  };
  return project(files, options);
}

interface Data {
  readonly external_id: string;
  readonly lead_external_id?: string;
  readonly deal_external_id?: string;
}

const posts = (service: FaultySandbox) =>
  service
    .requests()
    .filter(({ method }) => method === 'POST')
    .map(({ body, ...request }) => ({ ...request, data: (body as { data: Data }).data }));

/** The ids of a deal's comments in the order in which the service has created them. */
function commentsOf(service: FaultySandbox, deal: string): string[] {
  return posts(service)
    .filter(({ data, status }) => data.deal_external_id === deal && status === 200)
    .map(({ data }) => data.external_id);
}

describe('a run', () => {
  it('sends open deals with their leads and comments before everything else, and says when', async () => {
    const { service, summary: run } = await migration();
    const summary = await run();
    expect(summary.exit.code).toBe(0);
    const family = ({ data }: { data: Data }): number => Number(/\d+/.exec(data.external_id)![0]);
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
    const { stoppedAfter, told, command, stored } = await migration();
    const { stdout } = await told('--dry-run', '--rate', '16/60s');
    expect(stdout).toMatch(/^By priority +events +done$/m);
    expect(stdout).toMatch(/^ {2}1 +32 +about .*\d\d:\d\d$/m);
    expect(stdout.replace(/\s+/g, ' ')).toContain('--rate 100000/60s');
    expect(stdout).toMatch(/^ {2}0 +128 +about .*\d\d:\d\d$/m);
    expect((await stoppedAfter(100)).exit.code).toBe(3);
    const status = await command('status');
    expect(status.stdout).toMatch(/^ {2}1 +32 +32 +/m);
    expect(status.stdout).toMatch(/^ {2}0 +128 +\d+ +–$/m);
    expect(await stored('report.html')).toContain('By priority');
  });

  it('goes on with the comments after one that is rejected, and says what that means for their order', async () => {
    const rejected = { kind: 'status', status: 422, code: 'odd', when: { event: { external_id: 'n3-2' } } } as const;
    const { service, summary, stored } = await migration({ faults: { rules: [rejected] } });
    expect((await summary()).events).toMatchObject({ rejected: 1, acknowledged: 159 });
    expect(commentsOf(service, 'd3')).toEqual(['n3-1', 'n3-3', 'n3-4', 'n3-5', 'n3-6']);
    expect(await stored('errors.csv')).toContain('comments are dated on arrival');
    service.setFaults({ rules: [] });
    expect((await summary()).exit.code).toBe(0);
    expect(commentsOf(service, 'd3').at(-1)).toBe('n3-2');
  });
});

const THREE = mapping({
  leads: 'type: lead/created, data: { external_id: id, full_name: name }',
  deals: 'type: deal/created, data: { external_id: id, title: title, lead_external_id: lead }',
  notes: 'type: comment/created, data: { external_id: id, content: text, deal_external_id: deal }',
});

it('records whose parent is nowhere are left out, and listed, with what belongs to them', async () => {
  const { service, summary, write, stored } = await project({
    'mapping.yaml': THREE.replaceAll(/(deal|comment)\/created/g, '$&, if_parent_missing: skip'),
    'leads.csv': 'id,name\n1,Ada\n',
    'deals.csv': 'id,title,lead\n10,One,1\n20,Two,2\n',
    'notes.csv': 'id,text,deal\nn1,Called,10\nn2,Wrote,20\nn3,Met,30\n',
  });
  expect(await summary()).toMatchObject({
    exit: { code: 0 },
    events: { total: 3, acknowledged: 3 },
    records: { read: 6, mapped: 3, skipped: 3, unreadable: 0 },
  });
  const { deals, comments } = service.state();
  expect([deals, comments].map((list) => list.map(({ externalId }) => externalId))).toEqual([['10'], ['n1']]);
  expect((await stored('left_out.csv')).match(/^(deals|notes)(?=,)/gm)).toEqual(['deals', 'notes', 'notes']);

  // The parent comes later: then it is a record like any other.
  await write({ 'leads.csv': 'id,name\n1,Ada\n2,Grace\n' });
  expect(await summary()).toMatchObject({ exit: { code: 0 }, events: { total: 6 } });
  expect(service.state().comments).toHaveLength(2);
});

it('a dry run with --pick shows the picked record with its parents and children, and no other', async () => {
  const rows = Array.from({ length: 9 }, (_, at) => at);
  const { told } = await project({
    'mapping.yaml': THREE,
    'leads.csv': `id,name\n${rows.map((at) => `L${at},Lead ${at}\n`).join('')}`,
    'deals.csv': `id,title,lead\n${rows.map((at) => `D${at},Deal ${at},L${at}\n`).join('')}`,
    'notes.csv': `id,text,deal\n${rows.map((at) => `N${at},Note ${at},D${at < 5 ? 8 : at}\n`).join('')}`,
  });
  const lines = (await told('--dry-run', '--pick', 'deal:D8')).stdout.matchAll(
    /^ {2}(leads|deals|comments) +9 +(\d) +(\d)$/gm,
  );
  const counts = new Map(Array.from(lines, ([, kind, sent, left]) => [kind, [sent, left]]));
  expect(Object.fromEntries(counts)).toEqual({ leads: ['1', '8'], deals: ['1', '8'], comments: ['6', '3'] });
});

/** More rows than are read at once. */
it('11,001 rows of one record are one event, with the values of the last one', async () => {
  const last = 11_000;
  const rows = Array.from({ length: last + 1 }, (_, n) => `p2,Grace,${n},${n === 0 ? 'once' : ''}\n`);
  const data =
    'external_id: id, full_name: { template: "{name} {score}" }, custom_params: { score: score, seen: seen }';
  const {
    run,
    posts: sent,
    service,
  } = await project({
    'mapping.yaml': mapping({
      people: 'type: lead/created, data: { external_id: id, full_name: name }',
      scores: `type: lead/updated, priority: { from: score }, data: { ${data} }`,
    }),
    'people.csv': 'id,name\np1,Ada\np2,Grace\np3,Alan\n',
    'scores.csv': `id,name,score,seen\np1,Ada,1,\n${rows.join('')}p3,Alan,3,\n`,
  });
  expect(summaryOf(await run())).toMatchObject({ exit: { code: 0 }, events: { total: 3, acknowledged: 3 } });
  expect(sent()).toBe(3);
  expect(
    service
      .state()
      .leads.map(({ fullName }) => fullName)
      .sort(),
  ).toEqual(['Ada 1', 'Alan 3', `Grace ${last}`]);
  expect(summaryOf(await run())).toMatchObject({ exit: { code: 0 }, this_run: { events_sent: 0 } });
});
