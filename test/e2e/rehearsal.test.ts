// Lost without it: a rehearsal could delete the state of a migration, or reach the service.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { backfill, FAST, mapping, project, rowsIn, summaryOf, type Ended, type Project } from './harness.ts';

const MAPPING = mapping({ people: 'type: lead/created, data: { external_id: id, full_name: name, email: email }' });
const PEOPLE = 'id,name,email\n1,Ada,a@example.com\n2,Alan,b@example.com\n';
const many = (count: number): string =>
  `id,name,email\n${Array.from({ length: count }, (_, id) => `${id},Person ${id},p${id}@example.com\n`).join('')}`;

let p: Project;
beforeEach(async () => {
  p = await project({ 'mapping.yaml': MAPPING, 'people.csv': PEOPLE });
});

/** Without the environment of a service, unless `env` says so. */
function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return backfill(['run', 'mapping.yaml', '--json', ...FAST, ...args], { cwd: p.cwd, env });
}

it('a rehearsal keeps the rate, and the sandbox refuses none of its requests', async () => {
  await p.write({ 'people.csv': many(30) });
  const ended = await backfill(['run', 'mapping.yaml', '--json', '--sandbox', '--rate', '10/1s'], { cwd: p.cwd });
  expect(ended.stderr.replace(/\s+/g, ' ')).toContain('10 requests per 1 s');
  const { this_run: sent } = summaryOf(ended);
  expect(sent).toMatchObject({ events_sent: 30, rate_limited: 0 });
  expect(sent.seconds).toBeGreaterThan(1.9);
});

it('a rehearsal fires no automation, and reads its records back without waiting for a window to end', async () => {
  await p.write({ 'people.csv': many(300) });
  expect((await p.told('--sandbox')).stdout).toMatch(/every\s+event\s+suppressed\s+automations/);
  const began = performance.now();
  const verified = await p.command('verify', '--sandbox', '--sample', '200');
  expect(verified.code, verified.stderr).toBe(0);
  // At the limit of the service, the second hundred requests would wait for a minute.
  expect(performance.now() - began).toBeLessThan(50_000);
});

describe('run --sandbox --fresh', () => {
  it('sends everything again to an empty sandbox, and keeps files that the program did not write', async () => {
    await run(['--sandbox']);
    const notes = '.backfill/test.sandbox/notes.txt';
    await p.write({ [notes]: 'mine' });
    expect(summaryOf(await run(['--sandbox'])).this_run.events_sent).toBe(0);
    const again = summaryOf(await run(['--sandbox', '--fresh']));
    expect(again).toMatchObject({ exit: { code: 0 }, outcomes: { created: 2 }, this_run: { events_sent: 2 } });
    expect(await p.read(notes)).toBe('mine');
  });

  it('works after purge, which keeps the list of ids', async () => {
    await run(['--sandbox']);
    expect((await p.command('purge', '--sandbox', '--yes')).stderr).toContain('to keep: ids.csv');
    const again = summaryOf(await run(['--sandbox', '--fresh']));
    expect(again).toMatchObject({ exit: { code: 0 }, this_run: { events_sent: 2 } });
  });

  it.each([
    ['state', [], 'the state of a migration to http'],
    ['dry run', ['--dry-run'], 'not the state of a rehearsal'],
  ] as const)('deletes nothing of the %s of a migration to the service', async (_what, options, why) => {
    await run(['--state', 'real', ...options], p.env);
    const real = join(p.cwd, 'real');
    const now = async (): Promise<unknown> => [
      await readdir(real),
      options.length === 0 && (await rowsIn(real, 'select * from checkpoint.sent')),
    ];
    const before = await now();
    const refused = await run(['--state', 'real', '--sandbox', '--fresh']);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(why);
    expect(await now()).toEqual(before);
  });
});

describe('acknowledged records that differ from what was sent', () => {
  const BLAMED = /2 acknowledged records differ from what was sent \(people.csv:2: email; people.csv:3: email\);/;
  it.each([
    [
      'because the mapping has changed, are named with their fields',
      { 'mapping.yaml': MAPPING.replace('email: email', 'email: { from: email, apply: [uppercase] }') },
      [BLAMED],
    ],
    [
      'because the export has changed are told once',
      { 'people.csv': PEOPLE.replace('Alan', 'Alan T') },
      [
        /^(?!.*full_name changed)(?!.*not sent)[^]*1 acknowledged record differs from what was sent \(people.csv:3: full_name\); changes.csv/,
      ],
    ],
    [
      'because a value is gone from the export are named at the end, where the screen stops',
      { 'people.csv': PEOPLE.replace('a@example.com', '') },
      [
        /1 acknowledged record differs from what was sent \(people.csv:2: email\); fields that the export no longer has/,
        /changes\.csv/,
      ],
    ],
  ])('%s', async (_what, changes, texts) => {
    await p.told('--sandbox');
    await p.write(changes);
    for (const more of [['--dry-run'], []]) {
      const { code, stdout } = await p.told('--sandbox', ...more);
      expect(code).toBe(1);
      for (const text of texts) expect(stdout.replace(/\s+/g, ' ')).toMatch(text);
    }
  });
});
