/** Comments of one parent in one request. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { backfill, FAST, files, project, rowsIn, start, summaryOf } from './harness.ts';

const mapping = (combine: string): string => `version: 1
migration: notes
defaults: { timezone: Europe/Rome }
sources:
  people: { path: people.csv }
  notes: { path: notes.csv }
events:
  - type: lead/created
    source: people
    data: { external_id: id, full_name: name }
  - type: comment/created
    source: notes
    occurred_at: { from: at, apply: [{ date: "yyyy-MM-dd HH:mm" }] }
    ${combine}
    data: { external_id: id, content: text, author_name: author, lead_external_id: lead }
`;
const COMBINED = mapping('combine: {}');

const PEOPLE = 'id,name\n1,Ada\n2,Grace\n';
const NOTES = `id,lead,at,author,text
n3,1,2024-05-03 09:00,Ann,Third
n1,1,2024-05-01 10:20,Ann,First
n9,2,2024-01-01 00:00,Bob,Alone
n2,1,2024-05-02 08:00,Bob,Second
`;
const OF_ADA = '2024-05-01 10:20 Ann\nFirst\n\n2024-05-02 08:00 Bob\nSecond\n\n2024-05-03 09:00 Ann\nThird';

describe('comments of one parent', () => {
  let p: Awaited<ReturnType<typeof project>>;
  beforeEach(async () => {
    p = await project({ 'mapping.yaml': COMBINED, 'people.csv': PEOPLE, 'notes.csv': NOTES });
  });
  const comments = (): [id: string, content: string][] =>
    p.service.state().comments.map((each) => [each.externalId!, (each as { content?: string }).content ?? '']);
  const ofAda = (): string[] => comments().flatMap(([, content]) => (content.includes('Alone') ? [] : [content]));

  it('go as one comment, in the order of their time, each under its date and author', async () => {
    const ended = await p.run();
    expect(ended.code, ended.stderr).toBe(0);
    expect(Object.fromEntries(comments())).toEqual({ 'n1+': OF_ADA, 'n9+': '2024-01-01 00:00 Bob\nAlone' });
    expect(p.posts()).toBe(4);
    expect(ended.stderr).toContain('4 comments in 2 requests');
    expect(summaryOf(ended)).toMatchObject({
      records: { read: 6, mapped: 6 },
      by_type: { 'comment/created': { total: 2, acknowledged: 2 } },
    });
    const again = summaryOf(await p.run());
    expect(again).toMatchObject({ exit: { code: 0 }, this_run: { events_sent: 0 } });
    expect(await readFile(join(p.cwd, '.backfill/notes/ids.csv'), 'utf8')).toContain('comment/created,n2,');
  });

  it('take a heading, a separator and a number of parts from the mapping', async () => {
    const combine = 'combine: { heading: "{author} ({id}):", separator: " | ", max: 2 }';
    await files(p.cwd, { 'mapping.yaml': mapping(combine) });
    expect((await p.run()).code).toBe(0);
    expect(ofAda()).toEqual(['Ann (n1):\nFirst | Bob (n2):\nSecond', 'Ann (n3):\nThird']);
  });

  it('that come later go as a further comment, and those that were sent stay where they are', async () => {
    await p.run();
    await files(p.cwd, { 'notes.csv': `${NOTES}n0,1,2024-04-01 00:00,Ann,Zeroth\nn4,1,2024-06-01 00:00,Ann,Fourth\n` });
    expect(summaryOf(await p.run())).toMatchObject({ exit: { code: 0 }, this_run: { events_sent: 1 } });
    expect(ofAda()).toEqual(['2024-04-01 00:00 Ann\nZeroth\n\n2024-06-01 00:00 Ann\nFourth', OF_ADA]);
    expect(summaryOf(await p.run())).toMatchObject({ exit: { code: 0 }, this_run: { events_sent: 0 } });
  });

  it('go again as they were, if they got no answer, though the export has more of them by now', async () => {
    const { cwd, env, service } = p;
    const isFirst = { event: { external_id: 'n1+' } };
    service.setFaults({ rules: [{ kind: 'hang', committed: true, when: isFirst }] });
    const killed = start(['run', 'mapping.yaml', ...FAST], { cwd, env });
    await vi.waitFor(() => expect(ofAda()).toHaveLength(1), { timeout: 20_000 });
    killed.child.kill('SIGKILL');
    await killed.ended;
    service.setFaults({ rules: [] });
    await files(p.cwd, { 'notes.csv': `${NOTES}n4,1,2024-06-01 00:00,Ann,Fourth\n` });
    expect(summaryOf(await p.run()).exit).toMatchObject({ code: 0 });
    expect(ofAda()).toEqual([OF_ADA, '2024-06-01 00:00 Ann\nFourth']);
  });

  it('that changed after they were sent are reported one by one, and those that vanished are gone', async () => {
    await p.run();
    await files(p.cwd, { 'notes.csv': NOTES.replace('Second', '2nd').replace(/^n3.*\n/m, '') });
    const changed = await p.run();
    expect(summaryOf(changed)).toMatchObject({
      exit: { code: 1 },
      this_run: { events_sent: 0 },
      warnings_by_code: { comment_changed: 1 },
    });
    const [{ message } = { message: '' }] = await rowsIn<{ message: string }>(
      join(p.cwd, '.backfill/notes'),
      `select message from problem where code = 'comment_changed'`,
    );
    expect(message).toMatch(/^n2: its text, author or parent changed since it was sent as part of n1\+/);
    expect(await readFile(join(p.cwd, '.backfill/notes/gone.csv'), 'utf8')).toMatch(/comment,n3,/);
  });

  it('are never sent twice, whatever becomes of `combine`', async () => {
    await files(p.cwd, { 'mapping.yaml': mapping('') });
    await p.run();
    expect(comments()).toHaveLength(4);
    await files(p.cwd, { 'mapping.yaml': COMBINED, 'notes.csv': `${NOTES}n4,1,2024-06-01 00:00,Ann,Fourth\n` });
    expect(summaryOf(await p.run())).toMatchObject({ exit: { code: 0 }, this_run: { events_sent: 1 } });
    await files(p.cwd, { 'mapping.yaml': mapping('combine: { heading: "{author}" }') });
    expect(summaryOf(await p.run())).toMatchObject({ exit: { code: 0 }, this_run: { events_sent: 0 } });
    await files(p.cwd, { 'mapping.yaml': mapping('') });
    expect(summaryOf(await p.run())).toMatchObject({ exit: { code: 0 }, this_run: { events_sent: 0 } });
    expect(comments()).toHaveLength(5);
  });

  it('of a refused request are free again, and go with what has come since', async () => {
    const refused = { kind: 'status', status: 422, code: 'invalid', when: { event: { external_id: 'n1+' } } } as const;
    p.service.setFaults({ rules: [refused] });
    expect((await p.run()).code).toBe(1);
    p.service.setFaults({ rules: [] });
    await files(p.cwd, { 'notes.csv': `${NOTES}n4,1,2024-06-01 00:00,Ann,Fourth\n` });
    expect(summaryOf(await p.run()).exit).toMatchObject({ code: 0 });
    expect(ofAda()).toEqual([`${OF_ADA}\n\n2024-06-01 00:00 Ann\nFourth`]);
  });

  it('are recognised after the state was lost, and reported where the export has more of them', async () => {
    await p.run();
    await rm(join(p.cwd, '.backfill'), { recursive: true });
    expect(summaryOf(await p.run('--adopt'))).toMatchObject({
      exit: { code: 0 },
      warnings_by_code: { combined_unknown: 1 },
    });
    await rm(join(p.cwd, '.backfill'), { recursive: true });
    await files(p.cwd, { 'notes.csv': `${NOTES}n4,1,2024-06-01 00:00,Ann,Fourth\n` });
    expect(summaryOf(await p.run('--adopt'))).toMatchObject({
      exit: { code: 1 },
      errors_by_code: { already_combined: 1 },
    });
    expect(comments()).toHaveLength(2);
  });

  it('that cannot be read stay errors of their own, and those acknowledged before stay so', async () => {
    await files(p.cwd, { 'notes.csv': `${NOTES}n5,1,2024-06-01 00:00,Ann,\n` });
    expect(summaryOf(await p.run())).toMatchObject({ exit: { code: 1 }, events: { acknowledged: 4, invalid: 1 } });
    await files(p.cwd, { 'notes.csv': NOTES.replace('Second', '') });
    expect(summaryOf(await p.run())).toMatchObject({ this_run: { events_sent: 0 }, events: { invalid: 0 } });
    expect(ofAda()).toEqual([OF_ADA]);
  });

  it('are cut where one body is full, between two of them', async () => {
    const long = 'é'.repeat(2_000_000);
    const rows = [1, 2, 3, 4].map((n) => `n${n},1,2024-05-0${n} 00:00,Ann,${n}${long}\n`).join('');
    await files(p.cwd, { 'notes.csv': `id,lead,at,author,text\n${rows}` });
    expect((await p.run()).code).toBe(0);
    expect(ofAda().map((text) => text.match(/\d(?=é)/g))).toEqual([
      ['1', '2'],
      ['3', '4'],
    ]);
  });

  it('never exceed what one body may have because of their headings', async () => {
    const [long, author] = ['x'.repeat(9_700_000), 'Ann'.repeat(70_000)];
    await files(p.cwd, {
      'notes.csv': `id,lead,at,author,text\nn1,1,2024-05-01 00:00,${author},1${long}\nn2,1,2024-05-02 00:00,${author},2\n`,
    });
    expect((await p.run()).code).toBe(0);
    expect(ofAda().map((text) => text.slice(0, 3))).toEqual(['1xx', '202']);
  });

  it('of a list in one record, and of parents of both kinds, go like all others', async () => {
    const lists = `version: 1
migration: notes
sources: { deals: { path: deals.json } }
events:
  - type: lead/created
    source: deals
    data: { external_id: lead }
  - type: deal/created
    source: deals
    data: { external_id: id, title: title, lead_external_id: lead }
  - type: comment/created
    source: deals
    each: notes
    if_both: deal
    combine: { heading: "{by}" }
    data: { external_id: id, content: text, lead_external_id: $.lead, deal_external_id: $.id }
  - type: comment/created
    source: deals
    each: calls
    combine: {}
    data: { content: ., lead_external_id: $.lead }
`;
    const deal = {
      id: 'd1',
      title: 'Roof',
      lead: 'l1',
      notes: [
        { id: 1, text: 'One', by: 'Ann' },
        { id: 2, text: 'Two', by: 'Bob' },
      ],
      calls: ['Hi', 'Ho'],
    };
    await files(p.cwd, { 'mapping.yaml': lists, 'deals.json': JSON.stringify([deal]) });
    const ended = await p.run();
    expect(summaryOf(ended)).toMatchObject({ exit: { code: 0 }, by_type: { 'comment/created': { acknowledged: 2 } } });
    expect(
      comments()
        .map(([, content]) => content)
        .sort(),
    ).toEqual(['Ann\nOne\n\nBob\nTwo', 'Hi\n\nHo']);
    expect(summaryOf(await p.run())).toMatchObject({ this_run: { events_sent: 0 } });
  });

  it('are skipped with their parent', async () => {
    await files(p.cwd, {
      'mapping.yaml': mapping('if_parent_missing: skip\n    combine: {}'),
      'people.csv': 'id,name\n2,Grace\n',
    });
    expect(summaryOf(await p.run())).toMatchObject({ exit: { code: 0 }, records: { read: 5, mapped: 2, skipped: 3 } });
    const omitted = await readFile(join(p.cwd, '.backfill/notes/omitted.csv'), 'utf8');
    expect(['n1', 'n2', 'n3'].every((id) => omitted.includes(`,${id},`))).toBe(true);
  });

  it('have an id of their own where the export has a comment with that of the first and `+`', async () => {
    await files(p.cwd, { 'notes.csv': NOTES.replace('n9,', 'n1+,') });
    expect((await p.run()).code).toBe(0);
    expect(comments().map(([id]) => id)).toEqual(['n1++', 'n1+++']);
  });

  it('can be explained by the id of each, and are listed in the plan', async () => {
    const { cwd, env } = p;
    await p.run();
    const story = await backfill(['explain', 'mapping.yaml', 'comment:n2'], { cwd, env });
    expect(story.stdout).toContain('comment:n1+');
    expect(story.stdout).toContain('carries 3 comments: n1, n2 and n3');
    await backfill(['plan', 'mapping.yaml', '--csv', 'plan'], { cwd, env });
    expect(await readFile(join(cwd, 'plan/comment-created.csv'), 'utf8')).toContain('n1; n2; n3');
  });

  it('are saved by a line of the survey where the mapping does not combine', async () => {
    const many = Array.from({ length: 300 }, (_, n) => `m${n},${(n % 2) + 1},2024-05-01 10:20,Ann,Text ${n}\n`).join(
      '',
    );
    await files(p.cwd, { 'mapping.yaml': mapping(''), 'notes.csv': `id,lead,at,author,text\n${many}` });
    const { cwd, env } = p;
    const ended = await backfill(['run', 'mapping.yaml', '--dry-run', '--rate', '100/60s'], { cwd, env });
    expect(ended.stdout + ended.stderr).toContain('With `combine`, 300 comments in 6 requests: 2 min would be saved');
  });
});
