import { utimes, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { sectionsOf, type PageSections } from '../../src/pages/html/page.ts';
import { readPageData, type LiveView } from '../../src/pages/page-data.ts';
import { readRunWait } from '../../src/pages/run-wait.ts';
import type { StateDir } from '../../src/state-dir.ts';
import { stateDirectory } from '../state.ts';

vi.stubEnv('TZ', 'UTC');

const MINUTE = 60_000;
const NOW = new Date('2026-03-02T08:30:00Z');

beforeEach(() => void vi.setSystemTime(NOW));
afterEach(() => void vi.useRealTimers());

function ago(minutes: number): string {
  return new Date(NOW.getTime() - minutes * MINUTE).toISOString();
}

/** A run that settled 40 of 1,000 events since its survey two minutes ago. */
function underWay(): Promise<StateDir> {
  return stateDirectory({
    events: [
      { state: 'acknowledged', times: 40, priority: 10 },
      { state: 'ready', times: 960 },
    ],
    survey: { at: ago(2), rate: { requests: 100, seconds: 60 } },
    runs: [
      { at: ago(100), answers: [{ at: ago(99), status: 'rejected', code: 'invalid_payload' }] },
      { at: ago(2), answers: Array.from({ length: 40 }, () => ({ at: ago(1) })) },
    ],
  });
}

const HOLDER = { host: 'here', pid: 1, at: NOW.toISOString() };

async function sections(state: StateDir, more: Partial<LiveView> = {}): Promise<PageSections> {
  const wait = await readRunWait(state, NOW);
  return sectionsOf(
    readPageData(state, state, { withValues: false, live: { holder: HOLDER, wait, ...more }, now: NOW }),
  );
}

async function writeMetrics(state: StateDir, reason: string, seconds: number, at = NOW.toISOString()): Promise<void> {
  const path = state.file('metrics.prom');
  await writeFile(path, `backfill_waiting_seconds{migration="acme",reason="${reason}"} ${seconds}\n`);
  await utimes(path, new Date(at), new Date(at));
}

function factsOf(section: string | undefined): Record<string, string> {
  const facts = [...section!.matchAll(/<dt>(.*?)<\/dt>\s*<dd>(.*?)<\/dd>/gs)];
  return Object.fromEntries(facts.map(([, name, text]) => [name!, text!.replace(/<[^>]*>/g, '').trim()]));
}

it('the live page shows the rate against its limit, and the time left', async () => {
  const found = await sections(await underWay());
  expect(factsOf(found['part-head'])).toMatchObject({
    Rate: '20 a minute recently; --rate allows 100',
    Events: '960 left, about 48 min (until 09:18)',
    'Waits for': 'nothing',
  });
  expect(found['part-head']).toContain('class="state good"');
  expect(found['part-throughput']).toContain('class="limit"');
});

it('the live page shows the progress by priority', async () => {
  const rows = (await sections(await underWay()))['part-outcome']!.split('Events by priority').at(-1)!.split('</tr>');
  expect(rows[1]).toMatch(/>10<.*>40<.*>40</s);
  expect(rows[2]).toMatch(/>0<.*>960<.*>0<.*about /s);
});

it('the live page shows the latest answers first', async () => {
  const rows = (await sections(await underWay()))['part-latest']!.split('</tr>');
  expect(rows[1]).toMatch(/lead\/created.*r41.*acknowledged/s);
  expect(rows).toHaveLength(14);
});

it('the live page says what the run waits for, unless that is old', async () => {
  const state = await underWay();
  await writeMetrics(state, 'credentials', 600);
  const waiting = await sections(state);
  expect(factsOf(waiting['part-head'])['Waits for']).toBe('credentials refused, for 10 min');
  expect(waiting['part-head']).toContain('class="state warn"');
  await writeMetrics(state, 'credentials', 600, ago(2));
  expect(factsOf((await sections(state))['part-head'])['Waits for']).toBe('nothing');
});

it('the live page says how long the service has been down', async () => {
  const state = await underWay();
  await writeMetrics(state, 'outage', 1200);
  expect(factsOf((await sections(state))['part-head'])['Waits for']).toBe(
    'the service has been down for 20 min; the run resumes automatically',
  );
  await writeMetrics(state, 'none', 0);
  expect(factsOf((await sections(state))['part-head'])['Waits for']).toBe('nothing');
});

it('the live page says that a run has died', async () => {
  const { 'part-head': head } = await sections(await underWay(), { holder: undefined });
  expect(head).toContain('class="state bad"');
  expect(head).toContain('the last run ended unexpectedly');
});
