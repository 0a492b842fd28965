/** Combined comments that got no answer, and whose parts are removed, moved, edited or returned before the next run. */
import { copyFile, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { backfill, files, project, rowsIn, summaryOf } from './harness.ts';

const MAPPING = `version: 1
migration: notes
sources:
  people: { path: people.csv }
  notes: { path: notes.csv }
events:
  - type: lead/created
    source: people
    data: { external_id: id, full_name: name }
  - type: comment/created
    source: notes
    combine: { heading: "{id}" }
    data: { external_id: id, content: text, lead_external_id: lead }
`;
const notes = (...rows: string[]): string => `id,lead,text\n${rows.map((row) => `${row}\n`).join('')}`;
const [N1, N2, N3] = ['n1,1,First', 'n2,1,Second', 'n3,1,Third'] as const;

describe('a combined comment without an answer', () => {
  let p: Awaited<ReturnType<typeof project>>;
  beforeEach(async () => {
    p = await project({
      'mapping.yaml': MAPPING,
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
    await files(p.cwd, { 'notes.csv': notes(...rows) });
    return p.run();
  };
  const idsCsv = (): Promise<string> => readFile(join(p.cwd, '.backfill/notes/ids.csv'), 'utf8');

  it('carries only the parts of the request that was answered: one that was not in it is sent when it comes back', async () => {
    await loseAnswer(false);
    expect(summaryOf(await runWith(N1, N3))).toMatchObject({ exit: { code: 0 }, events: { gone: 0 } });
    expect(inService()).toEqual({ 1: ['n1 First | n3 Third'] });
    expect(await idsCsv()).not.toContain('n2');
    expect(summaryOf(await runWith(N1, N2, N3))).toMatchObject({ exit: { code: 0 } });
    expect(inService()).toEqual({ 1: ['n1 First | n3 Third', 'n2 Second'] });
    expect(await idsCsv()).toContain('comment/created,n2,');
  });

  it.each(['n2,1,', 'n2,,Second'])('and one that cannot be mapped then (%s) is sent once it can', async (broken) => {
    await loseAnswer(false);
    expect(summaryOf(await runWith(N1, broken, N3))).toMatchObject({ exit: { code: 1 }, events: { invalid: 1 } });
    expect(summaryOf(await runWith(N1, N2, N3))).toMatchObject({ exit: { code: 0 } });
    expect(inService()).toEqual({ 1: ['n1 First | n3 Third', 'n2 Second'] });
  });

  it('leaves a part uncertain that was in the first request alone, if the service has processed one of them', async () => {
    await loseAnswer(true);
    expect(summaryOf(await runWith(N1, N3))).toMatchObject({ exit: { code: 0 }, events: { gone: 0 } });
    expect(await idsCsv()).not.toContain('n2');
    for (const rows of [
      [N1, N2, N3],
      [N2, N3],
    ]) {
      const ended = summaryOf(await runWith(...rows));
      expect(ended).toMatchObject({
        exit: { code: 1 },
        errors_by_code: { uncertain: 1 },
        this_run: { events_sent: 0 },
      });
    }
    const [problem] = await rowsIn<{ message: string }>(join(p.cwd, '.backfill/notes'), 'select message from problem');
    expect(problem!.message).toMatch(/^n2: /);
    expect(inService()).toEqual({ 1: ['n1 First | n2 Second | n3 Third'] });
  });

  it.each([false, true])('is not completed with parts of another parent (processed: %s)', async (isProcessed) => {
    await loseAnswer(isProcessed);
    const moved = ['n1,2,First', N2, N3];
    const first = summaryOf(await runWith(...moved));
    expect(first).toMatchObject({ exit: { code: 1 }, errors_by_code: { uncertain: 1 } });
    const second = summaryOf(await runWith(...moved));
    expect(second.exit.code).toBe(isProcessed ? 1 : 0);
    expect(second.events.total).toBe(first.events.total);
    expect(inService()).toEqual(
      isProcessed ? { 1: ['n1 First | n2 Second | n3 Third'] } : { 1: ['n2 Second | n3 Third'], 2: ['n1 First'] },
    );
  });

  it('leaves a part uncertain that a later request lacked, where only an older checkpoint is left', async () => {
    const { cwd } = p;
    const state = join(cwd, '.backfill/notes/checkpoint.db');
    await loseAnswer(false);
    await copyFile(state, join(cwd, 'copy.db'));
    expect(summaryOf(await runWith(N1, N3)).exit.code).toBe(0);
    for (const suffix of ['-wal', '-shm']) await rm(`${state}${suffix}`, { force: true });
    await copyFile(join(cwd, 'copy.db'), state);
    expect((await runWith(N1, N2, N3)).code).toBe(3);
    const ended = summaryOf(await p.run('--adopt'));
    expect(ended).toMatchObject({ exit: { code: 1 }, errors_by_code: { uncertain: 1 } });
    expect(inService()).toEqual({ 1: ['n1 First | n3 Third'] });
  });

  it('is not completed at all if all of its parts have another parent', async () => {
    await loseAnswer(true);
    const ended = summaryOf(await runWith('n1,2,First', 'n2,2,Second', 'n3,2,Third'));
    expect(ended).toMatchObject({ exit: { code: 1 }, errors_by_code: { uncertain: 3 }, this_run: { events_sent: 0 } });
    expect(inService()).toEqual({ 1: ['n1 First | n2 Second | n3 Third'] });
  });

  it.each([
    [false, 0, 'n1 First | n2 2nd'],
    [true, 1, 'n1 First | n2 Second'],
  ])('whose part was edited is as the answer says (processed: %s)', async (isProcessed, code, content) => {
    await runWith('n0,2,Zeroth');
    await files(p.cwd, { 'notes.csv': notes(N1, N2) });
    await loseAnswer(isProcessed);
    const ended = summaryOf(await runWith(N1, 'n2,1,2nd'));
    expect(ended.exit.code).toBe(code);
    if (isProcessed) expect(ended.errors_by_code).toEqual({ uncertain: 1 });
    expect(summaryOf(await p.run())).toMatchObject({ exit: { code }, this_run: { events_sent: 0 } });
    expect(inService()).toMatchObject({ 1: [content] });
  });

  it('is told from a comment that has its id in a newer export', async () => {
    await p.run();
    const ended = summaryOf(await runWith(N1, N2, N3, 'n1+,1,Another'));
    expect(ended).toMatchObject({
      exit: { code: 1 },
      errors_by_code: { id_of_combined: 1 },
      this_run: { events_sent: 0 },
    });
    expect(summaryOf(await runWith('n1+,1,Another', 'n7,2,Seventh'))).toMatchObject({
      errors_by_code: { id_of_combined: 1 },
      events: { acknowledged: 3, invalid: 1 },
    });
  });

  it('is uncertain after purge, as a comment of its own is', async () => {
    const { cwd, env } = p;
    await p.run();
    expect((await backfill(['purge', 'mapping.yaml', '--yes'], { cwd, env })).code).toBe(0);
    const ended = summaryOf(await runWith(N1, 'n2,1,2nd', N3));
    expect(ended).toMatchObject({ exit: { code: 1 }, errors_by_code: { uncertain: 3 }, this_run: { events_sent: 0 } });
  });
});
