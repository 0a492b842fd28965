// Lost without it: the page of a run could be signed before it has ended.
import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Summary } from '../../../src/report/figures/summary.ts';
import { writeReport } from '../../../src/report/print/page.ts';
import { stateDirectory, type GivenState } from '../../state.ts';

const MINUTE = 60_000;
const NOW = new Date('2026-03-02T08:30:00Z');

beforeEach(() => void vi.setSystemTime(NOW));
afterEach(() => void vi.useRealTimers());

function ago(minutes: number): string {
  return new Date(NOW.getTime() - minutes * MINUTE).toISOString();
}

const SENT = {
  total: 40,
  acknowledged: 40,
  duplicates: 0,
  invalid: 0,
  rejected: 0,
  blocked: 0,
  pending: 0,
  gone: 0,
  changed: 0,
};
const HOLDER = { host: 'here', pid: 1, at: ago(3), command: 'run' };

/** The page of a run that settled 40 of 1,000 events since its first answer two minutes ago. */
async function pageOf(given: Partial<GivenState> = {}, options: { holder?: undefined } = {}): Promise<string> {
  const state = await stateDirectory({
    events: [
      { state: 'acknowledged', times: 40, priority: 10 },
      { state: 'ready', times: 960 },
    ],
    survey: { at: ago(2), rate: { requests: 100, seconds: 60 } },
    runs: [
      { at: ago(100), answers: [{ at: ago(99), status: 'rejected', code: 'invalid_payload' }] },
      { at: ago(2), answers: Array.from({ length: 40 }, (_, n) => ({ at: ago(n === 0 ? 1.9995 : 0.5) })) },
    ],
    holder: HOLDER.at,
    ...given,
  });
  return readFile(writeReport(state, state, { withValues: false, holder: HOLDER, ...options }).path, 'utf8');
}

/** The same, while it waits. */
function waiting(reason: string, at: string): Promise<string> {
  return pageOf({ runs: [{ at, answers: [{ at }], waits: { reason, since: ago(10) } }] });
}

it('the page of a run says that it is held up, unless one that was killed before it was', async () => {
  const page = await waiting('credentials', ago(2));
  expect(page).toContain('Held up for the moment: ');
  expect(page).toContain('class="state warn"');
  expect(await waiting('outage', ago(5))).not.toContain('Held up');
});

it('the page says that the counts are those of the run before, while another one surveys', async () => {
  const page = await pageOf({ summary: { exit: { code: 3, reason: 'until' } } });
  expect(page).toContain('the counts are from the previous run');
});

it.each<[string, Partial<Summary>, string | undefined]>([
  ['a run that was stopped', { exit: { code: 3, reason: 'until' } }, undefined],
  ['a pilot', { exit: { code: 0, reason: 'done' }, events: { ...SENT, pending: 9 } }, undefined],
  [
    'a rehearsal',
    { exit: { code: 1, reason: 'invalid' }, base_url: 'sandbox', events: SENT },
    'a rehearsal of plan abc',
  ],
  ['a migration', { exit: { code: 0, reason: 'done' }, events: SENT }, 'accept what was sent of plan abc'],
  ['a dry run', { exit: { code: 1, reason: 'invalid' }, dry_run: true }, 'plan abc may be sent'],
])('the page of %s has a box to sign only for what is finished or planned', async (_, summary, signed) => {
  const survey = { at: ago(2), base_url: summary.base_url ?? 'https://crm.example' };
  const plan = { digest: 'abc', events: 9 };
  const page = await pageOf({ survey, summary: { ...summary, plan } }, { holder: undefined });
  const [, box] = /<section id="sign".*?<p>(.*?)<\/p>/s.exec(page) ?? [];
  if (signed === undefined) expect(box).toBeUndefined();
  else expect(box).toContain(signed);
});
