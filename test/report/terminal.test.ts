// Lost without it: a run on a real terminal could not ask, not stop, or leave it broken.
import { describe, expect, it } from 'vitest';
import { environmentOf, sandbox, workspace } from '../e2e/harness.ts';
import { hasTmux, onTerminal } from './terminal.ts';

/** A zone in which it is day: an hour of the next day is written with its day, for which 80 columns have no room. */
const DAYTIME = new Date().getUTCHours() < 12 ? 'Etc/GMT-6' : 'Etc/GMT+6';

const tmux = hasTmux();
const WAIT = { timeout: 120_000 };

describe.skipIf(!tmux)(tmux ? 'on a terminal' : 'on a terminal (SKIPPED: no tmux on the PATH)', () => {
  it.each([
    [80, { NO_COLOR: '1' }],
    [200, {}],
  ])('of %i columns a run draws bars that do not wrap, and says how to resume', async (columns, extra) => {
    const service = await sandbox();
    const cwd = await workspace('demo');
    const env = { ...environmentOf(service), TZ: DAYTIME, ...extra };
    const screen = await onTerminal(columns, 'run mapping.yaml --rate 20/600s --yes', { cwd, env });
    await expect.poll(() => screen.text(), WAIT).toMatch(/limit reached, next in/);
    const drawn = await screen.text();
    expect(drawn).toMatch(/^lead\/created {5}█+░+ +\d+\/27 +\d+ %$/m);
    expect(drawn).toMatch(/^deal\/created {5}░+ +0\/19 +0 %$/m);
    expect(drawn).toMatch(/^comment\/created {2}░+ +0\/21 +0 %$/m);
    expect(drawn).toMatch(/^\d+\/min, \d+ left, about \d+ min \(until .*\); limit reached, next in .*$/m);

    await screen.keys('C-c');
    await expect.poll(() => screen.text(), WAIT).toContain('ended 130');
    const ended = await screen.text();
    expect(ended).toMatch(/Ctrl-C \(SIGINT\): waiting for the requests in flight/);
    expect(ended.indexOf('SIGINT')).toBeLessThan(ended.lastIndexOf('lead/created  '));
    expect(ended.match(/^comment\/created {2}░/gm)).toHaveLength(1);
    expect(ended).toMatch(/Resume[^]* npx crm-backfill run mapping.yaml --rate 20\/600s/);
    expect(await screen.cursorIsShown()).toBe(true);
  });

  it('asks before the first live run, and sends nothing unless the answer is y', async () => {
    const service = await sandbox();
    const cwd = await workspace('demo');
    const env = environmentOf(service);
    const sent = (): number => service.requests().filter(({ method }) => method === 'POST').length;
    const refused = await onTerminal(120, 'run mapping.yaml --rate 100000/1s', { cwd, env });
    await expect.poll(() => refused.text(), WAIT).toContain('Send them? [y/N]');
    await refused.keys('Enter');
    await expect.poll(() => refused.text(), WAIT).toContain('ended 2');
    expect(sent()).toBe(0);
    const interrupted = await onTerminal(120, 'run mapping.yaml --rate 100000/1s', { cwd, env });
    await expect.poll(() => interrupted.text(), WAIT).toContain('Send them? [y/N]');
    await interrupted.keys('C-c');
    await expect.poll(() => interrupted.text(), WAIT).toContain('ended 130');
    expect(sent()).toBe(0);
    const agreed = await onTerminal(120, 'run mapping.yaml --rate 100000/1s', { cwd, env });
    await expect.poll(() => agreed.text(), WAIT).toContain('Send them? [y/N]');
    await agreed.keys('y', 'Enter');
    await expect.poll(() => agreed.text(), WAIT).toContain('ended 1');
    expect(sent()).toBeGreaterThan(0);
    const again = await onTerminal(120, 'run mapping.yaml --rate 100000/1s', { cwd, env });
    await expect.poll(() => again.text(), WAIT).toContain('ended 1');
    expect(await again.text()).not.toContain('Send them?');
  });

  it.each([
    ['has colours', {}, true],
    ['has none on a terminal without them', { TERM: 'dumb' }, false],
  ])('%s', async (_, env, hasColours) => {
    const cwd = await workspace('demo');
    const ends = async (args: string): Promise<string> => {
      const screen = await onTerminal(100, args, { cwd, env });
      await expect.poll(() => screen.text(), WAIT).toMatch(/^ended/m);
      return screen.painted();
    };
    const finished = await ends('run mapping.yaml --sandbox --rate 100000/1s');
    const mistaken = await ends('run nothing.yaml');
    // The word alone: a whole line in yellow cannot be read on white.
    expect(/\u001b\[(?:1;)?33mFINISHED\u001b/.test(finished)).toBe(hasColours);
    expect(finished.includes('\u001b[1mnpx crm-backfill')).toBe(hasColours);
    expect(mistaken.includes('\u001b[31merror:\u001b[39m mapping file not found')).toBe(hasColours);
    if (!hasColours) for (const text of [finished, mistaken]) expect(text).not.toContain('\u001b');
    expect(/█/.test(finished)).toBe(!('TERM' in env));
  });
});
