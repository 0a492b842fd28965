// Lost without it: a file that a person has open could end a run.
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { PLAN } from '../../src/store/plan-schema.ts';
import { Database } from '../../src/store/sqlite.ts';
import { mapping, project, rowsIn, summaryOf } from './harness.ts';

const LEADS = {
  'mapping.yaml': mapping({ people: 'type: lead/created, data: { external_id: id, full_name: name }' }),
  'people.csv': 'id,name\n1,Ada\n2,Bob\n3,Cy\n',
};
const REFUSED = { kind: 'status', status: 422, code: 'invalid', when: { event: { external_id: '2' } } } as const;

/** A directory that cannot be replaced by a file: it is not empty. */
async function inTheWay(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  await writeFile(join(path, 'mine'), '');
}

it('files that cannot be replaced at the end are warnings, and the others are written', async () => {
  const { state, run, service } = await project(LEADS);
  service.setFaults({ rules: [REFUSED] });
  for (const name of ['errors.csv', 'ids.csv']) await inTheWay(state(name));
  const ended = await run();
  expect(summaryOf(ended)).toMatchObject({ exit: { code: 1 }, events: { acknowledged: 2, rejected: 1 } });
  expect(ended.code).toBe(1);
  // What is mended in one way is warned about once; the last warning names all.
  const about = ended.stderr.split('\n').filter((line) => /^warning: .*(?:errors|ids)\.csv/.test(line));
  expect(about).toMatchObject(
    [/errors\.csv/, /errors\.csv.*ids\.csv/].map((names) => expect.stringMatching(names) as string),
  );
  expect(ended.stderr).not.toMatch(/^ +at /m);
  const names = await readdir(state());
  expect(names).toEqual(expect.arrayContaining(['left_out.csv', 'rejects', 'report.html']));
  expect(names.filter((name) => name.endsWith('.tmp'))).toEqual([]);
  expect(existsSync(state('rejects/people.csv'))).toBe(true);
});

/** A run whose timers the test drives: one lead is refused, and the next gets no answer until `answer`. */
async function running() {
  const { run, service, posts, state: path } = await project(LEADS);
  service.setFaults({ rules: [REFUSED, { kind: 'hang', when: { event: { external_id: '3' } } }] });
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const ended = run('--timeout', '1');
  const state = path();
  const refused = async (): Promise<number> =>
    (await rowsIn(state, `select 1 from problem where severity = 'error'`)).length;
  await vi.waitFor(async () => expect([posts(), await refused()]).toEqual([3, 1]), { timeout: 120_000 });
  return { state, ended, answer: () => service.setFaults({ rules: [REFUSED] }) };
}

it.each([
  ['is a warning once and at the end', false, 2],
  ['is no matter at the end if it could be written by then', true, 1],
])('one that cannot be replaced while the run sends %s', async (_name, isFreed, warnings) => {
  const { state, ended, answer } = await running();
  await inTheWay(join(state, 'errors.csv'));
  // Each minute again.
  vi.advanceTimersByTime(180_000);
  await setImmediate();
  if (isFreed) await rm(join(state, 'errors.csv'), { recursive: true });
  answer();
  const { code, stderr } = await ended;
  expect(code).toBe(1);
  const about = stderr.split('\n').filter((line) => line.startsWith('warning: ') && line.includes('errors.csv'));
  expect(about).toHaveLength(warnings);
});

it('the timers that count in a plan do not end the run when it cannot be read any more', async () => {
  const { state, ended, answer } = await running();
  const db = Database.open(join(state, 'plan.db'), PLAN);
  db.exec('alter table event rename to gone');
  db.close();
  expect(() => vi.advanceTimersByTime(180_000)).not.toThrow();
  answer();
  // The sender finds it out.
  expect((await ended).code).toBe(3);
});
