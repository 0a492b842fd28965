// Lost without it: comments in one request could be sent twice or not at all.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { useFastClock } from '../clock.ts';
import { mapping, project, rowsIn, summaryOf, type Project } from './harness.ts';

useFastClock();

const PERSON = 'type: lead/created, data: { external_id: id, full_name: name }';
/** `combine`: what the entry of the notes says beside its data. */
const dated = (combine: string): string =>
  mapping(
    {
      people: PERSON,
      notes:
        'type: comment/created, occurred_at: { from: at, apply: [{ date: "yyyy-MM-dd HH:mm" }] }, ' +
        `data: { external_id: id, content: text, author_name: author, lead_external_id: lead }${combine && ', '}${combine}`,
    },
    'defaults: { timezone: Europe/Rome }\n',
  );
const COMBINED = dated('combine: {}');

const PEOPLE = 'id,name\n1,Ada\n2,Grace\n';
const NOTES = `id,lead,at,author,text
n3,1,2024-05-03 09:00,Ann,Third
n1,1,2024-05-01 10:20,Ann,First
n9,2,2024-01-01 00:00,Bob,Alone
n2,1,2024-05-02 08:00,Bob,Second
`;
const OF_ADA = '2024-05-01 10:20 Ann\nFirst\n\n2024-05-02 08:00 Bob\nSecond\n\n2024-05-03 09:00 Ann\nThird';

describe('comments of one parent', () => {
  let p: Project;
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
    const again = await p.summary();
    expect(again).toMatchObject({ exit: { code: 0 }, this_run: { events_sent: 0 } });
    expect(await p.stored('ids.csv')).toContain('comment/created,n2,');
  });

  it('that come later go as a further comment, and those that were sent stay where they are', async () => {
    await p.run();
    await p.write({ 'notes.csv': `${NOTES}n0,1,2024-04-01 00:00,Ann,Zeroth\nn4,1,2024-06-01 00:00,Ann,Fourth\n` });
    expect(await p.summary()).toMatchObject({ exit: { code: 0 }, this_run: { events_sent: 1 } });
    expect(ofAda()).toEqual(['2024-04-01 00:00 Ann\nZeroth\n\n2024-06-01 00:00 Ann\nFourth', OF_ADA]);
    expect(await p.summary()).toMatchObject({ exit: { code: 0 }, this_run: { events_sent: 0 } });
  });

  it('that changed after they were sent are reported one by one, and those that vanished are gone', async () => {
    await p.run();
    await p.write({ 'notes.csv': NOTES.replace('Second', '2nd').replace(/^n3.*\n/m, '') });
    const changed = await p.run();
    expect(summaryOf(changed)).toMatchObject({
      exit: { code: 1 },
      this_run: { events_sent: 0 },
      warnings_by_code: { comment_changed: 1 },
    });
    const [{ message } = { message: '' }] = await rowsIn<{ message: string }>(
      p.state(),
      `select message from problem where code = 'comment_changed'`,
    );
    expect(message).toMatch(/^n2: its text, author or parent changed since it was sent as part of n1\+/);
    expect(await p.stored('gone.csv')).toMatch(/comment,n3,/);
  });

  it('are never sent twice, whatever becomes of `combine`', async () => {
    await p.write({ 'mapping.yaml': dated('') });
    await p.run();
    expect(comments()).toHaveLength(4);
    await p.write({ 'mapping.yaml': COMBINED, 'notes.csv': `${NOTES}n4,1,2024-06-01 00:00,Ann,Fourth\n` });
    expect(await p.summary()).toMatchObject({ exit: { code: 0 }, this_run: { events_sent: 1 } });
    await p.write({ 'mapping.yaml': dated('combine: { heading: "{author}" }') });
    expect(await p.summary()).toMatchObject({ exit: { code: 0 }, this_run: { events_sent: 0 } });
    await p.write({ 'mapping.yaml': dated('') });
    expect(await p.summary()).toMatchObject({ exit: { code: 0 }, this_run: { events_sent: 0 } });
    expect(comments()).toHaveLength(5);
  });

  it('of a refused request are free again, and go with what has come since', async () => {
    const refused = { kind: 'status', status: 422, code: 'invalid', when: { event: { external_id: 'n1+' } } } as const;
    p.service.setFaults({ rules: [refused] });
    expect((await p.run()).code).toBe(1);
    p.service.setFaults({ rules: [] });
    await p.write({ 'notes.csv': `${NOTES}n4,1,2024-06-01 00:00,Ann,Fourth\n` });
    expect((await p.summary()).exit).toMatchObject({ code: 0 });
    expect(ofAda()).toEqual([`${OF_ADA}\n\n2024-06-01 00:00 Ann\nFourth`]);
  });

  it('are recognised after the state was lost, and reported where the export has more of them', async () => {
    await p.run();
    await rm(join(p.cwd, '.backfill'), { recursive: true });
    expect(await p.summary('--adopt')).toMatchObject({
      exit: { code: 0 },
      warnings_by_code: { combined_unknown: 1 },
    });
    await rm(join(p.cwd, '.backfill'), { recursive: true });
    await p.write({ 'notes.csv': `${NOTES}n4,1,2024-06-01 00:00,Ann,Fourth\n` });
    expect(await p.summary('--adopt')).toMatchObject({
      exit: { code: 1 },
      errors_by_code: { already_combined: 1 },
    });
    expect(comments()).toHaveLength(2);
  });

  it('that cannot be read stay errors of their own, and those acknowledged before stay so', async () => {
    await p.write({ 'notes.csv': `${NOTES}n5,1,2024-06-01 00:00,Ann,\n` });
    expect(await p.summary()).toMatchObject({ exit: { code: 1 }, events: { acknowledged: 4, invalid: 1 } });
    await p.write({ 'notes.csv': NOTES.replace('Second', '') });
    expect(await p.summary()).toMatchObject({ this_run: { events_sent: 0 }, events: { invalid: 0 } });
    expect(ofAda()).toEqual([OF_ADA]);
  });

  it('never exceed what one body may have because of their headings', async () => {
    // Of two bytes each.
    const [long, author] = ['é'.repeat(4_850_000), 'Ann'.repeat(70_000)];
    await p.write({
      'notes.csv': `id,lead,at,author,text\nn1,1,2024-05-01 00:00,${author},1${long}\nn2,1,2024-05-02 00:00,${author},2\n`,
    });
    expect((await p.run()).code).toBe(0);
    expect(ofAda().map((text) => text.slice(0, 3))).toEqual(['1éé', '202']);
  });

  it('are saved by a line of the survey where the mapping does not combine', async () => {
    const many = Array.from({ length: 300 }, (_, n) => `m${n},${(n % 2) + 1},2024-05-01 10:20,Ann,Text ${n}\n`).join(
      '',
    );
    await p.write({ 'mapping.yaml': dated(''), 'notes.csv': `id,lead,at,author,text\n${many}` });
    const ended = await p.told('--dry-run', '--rate', '100/60s');
    expect(ended.stdout + ended.stderr).toContain('With `combine`, 300 comments in 6 requests: 2 min would be saved');
  });

  it('have an id of their own where the export has a comment with that of the first and `+`', async () => {
    await p.write({ 'notes.csv': NOTES.replace('n9,', 'n1+,') });
    expect((await p.run()).code).toBe(0);
    expect(comments().map(([id]) => id)).toEqual(['n1++', 'n1+++']);
  });

  it('take a heading, a separator and a number of parts from the mapping', async () => {
    const combine = 'combine: { heading: "{author} ({id}):", separator: " | ", max: 2 }';
    await p.write({ 'mapping.yaml': dated(combine) });
    expect((await p.run()).code).toBe(0);
    expect(ofAda()).toEqual(['Ann (n1):\nFirst | Bob (n2):\nSecond', 'Ann (n3):\nThird']);
  });
});

const notes = (...rows: string[]): string => `id,lead,text\n${rows.map((row) => `${row}\n`).join('')}`;
const [N1, N2, N3] = ['n1,1,First', 'n2,1,Second', 'n3,1,Third'] as const;

/** Its parts are removed, moved, edited or returned before the next run. */
describe('a combined comment without an answer', () => {
  let p: Project;
  beforeEach(async () => {
    p = await project({
      'mapping.yaml': mapping({
        people: PERSON,
        notes:
          'type: comment/created, combine: { heading: "{id}" }, data: { external_id: id, content: text, lead_external_id: lead }',
      }),
      'people.csv': 'id,name\n1,Ada\n2,Grace\n',
      'notes.csv': notes(N1, N2, N3),
    });
  });

  /** The comments of each lead in the service. */
  const inService = (): Record<string, string[]> => {
    const found: Record<string, string[]> = {};
    for (const each of p.service.state().comments as unknown as { content: string }[]) {
      const lead = leadOf(each);
      (found[lead] ??= []).push(each.content.replaceAll('\n', ' ').replaceAll('  ', ' | '));
    }
    return found;
  };
  const leadOf = (comment: object): string => {
    const values = Object.values(comment);
    const leads = p.service.state().leads as unknown as { id: string; externalId: string }[];
    return leads.find(({ id }) => values.includes(id))?.externalId ?? '?';
  };
  /** The request is processed, or not, and nobody learns of it. */
  const loseAnswer = async (committed: boolean): Promise<void> => {
    p.service.setFaults({ rules: [{ kind: 'drop', committed, when: { event: { external_id: 'n1+' } } }] });
    expect((await p.run('--max-outage', '1s')).code).not.toBe(0);
    p.service.setFaults({ rules: [] });
  };
  const runWith = async (...rows: string[]) => {
    await p.write({ 'notes.csv': notes(...rows) });
    return p.run();
  };
  const sumWith = async (...rows: string[]) => summaryOf(await runWith(...rows));

  it('carries only the parts of the request that was answered: one that was not in it is sent when it comes back', async () => {
    await loseAnswer(false);
    expect(await sumWith(N1, N3)).toMatchObject({ exit: { code: 0 }, events: { gone: 0 } });
    expect(inService()).toEqual({ 1: ['n1 First | n3 Third'] });
    expect(await p.stored('ids.csv')).not.toContain('n2');
    expect(await sumWith(N1, N2, N3)).toMatchObject({ exit: { code: 0 } });
    expect(inService()).toEqual({ 1: ['n1 First | n3 Third', 'n2 Second'] });
    expect(await p.stored('ids.csv')).toContain('comment/created,n2,');
  });

  it('and one that cannot be mapped then is sent once it can', async () => {
    await loseAnswer(false);
    expect(await sumWith(N1, 'n2,,Second', N3)).toMatchObject({ exit: { code: 1 }, events: { invalid: 1 } });
    expect(await sumWith(N1, N2, N3)).toMatchObject({ exit: { code: 0 } });
    expect(inService()).toEqual({ 1: ['n1 First | n3 Third', 'n2 Second'] });
  });

  it('leaves a part uncertain that was in the first request alone, if the service has processed one of them', async () => {
    await loseAnswer(true);
    expect(await sumWith(N1, N3)).toMatchObject({ exit: { code: 0 }, events: { gone: 0 } });
    expect(await p.stored('ids.csv')).not.toContain('n2');
    for (const rows of [
      [N1, N2, N3],
      [N2, N3],
    ]) {
      const ended = await sumWith(...rows);
      expect(ended).toMatchObject({
        exit: { code: 1 },
        errors_by_code: { uncertain: 1 },
        this_run: { events_sent: 0 },
      });
    }
    const [problem] = await rowsIn<{ message: string }>(p.state(), 'select message from problem');
    expect(problem!.message).toMatch(/^n2: /);
    expect(inService()).toEqual({ 1: ['n1 First | n2 Second | n3 Third'] });
  });

  it.each([false, true])('is not completed with parts of another parent (processed: %s)', async (isProcessed) => {
    await loseAnswer(isProcessed);
    const moved = ['n1,2,First', N2, N3];
    const first = await sumWith(...moved);
    expect(first).toMatchObject({ exit: { code: 1 }, errors_by_code: { uncertain: 1 } });
    const second = await sumWith(...moved);
    expect(second.exit.code).toBe(isProcessed ? 1 : 0);
    expect(second.events.total).toBe(first.events.total);
    expect(inService()).toEqual(
      isProcessed ? { 1: ['n1 First | n2 Second | n3 Third'] } : { 1: ['n2 Second | n3 Third'], 2: ['n1 First'] },
    );
  });

  it('is uncertain after purge, as a comment of its own is', async () => {
    await p.run();
    expect((await p.command('purge', '--yes')).code).toBe(0);
    const ended = await sumWith(N1, 'n2,1,2nd', N3);
    expect(ended).toMatchObject({ exit: { code: 1 }, errors_by_code: { uncertain: 3 }, this_run: { events_sent: 0 } });
    // Nothing was sent, so the service has rejected nothing.
    const { stdout } = await p.told();
    expect(stdout).toMatch(/^FINISHED .*[^]*; 1 uncertain/m);
    expect(stdout).not.toContain('rejected by the service');
  });

  it('is told from a comment that has its id in a newer export', async () => {
    await p.run();
    const ended = await sumWith(N1, N2, N3, 'n1+,1,Another');
    expect(ended).toMatchObject({
      exit: { code: 1 },
      errors_by_code: { id_of_combined: 1 },
      this_run: { events_sent: 0 },
    });
    expect(await sumWith('n1+,1,Another', 'n7,2,Seventh')).toMatchObject({
      errors_by_code: { id_of_combined: 1 },
      events: { acknowledged: 3, invalid: 1 },
    });
  });

  it.each([
    [false, 0, 'n1 First | n2 2nd'],
    [true, 1, 'n1 First | n2 Second'],
  ])('whose part was edited is as the answer says (processed: %s)', async (isProcessed, code, content) => {
    await runWith('n0,2,Zeroth');
    await p.write({ 'notes.csv': notes(N1, N2) });
    await loseAnswer(isProcessed);
    const ended = await sumWith(N1, 'n2,1,2nd');
    expect(ended.exit.code).toBe(code);
    if (isProcessed) expect(ended.errors_by_code).toEqual({ uncertain: 1 });
    expect(await p.summary()).toMatchObject({ exit: { code }, this_run: { events_sent: 0 } });
    expect(inService()).toMatchObject({ 1: [content] });
  });
});
