import { randomUUID } from 'node:crypto';
import { utimes, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { collectErrors } from '../../src/report/html/collect.ts';
import { readRunWait } from '../../src/report/live/run-wait.ts';
import { liveSections, type LiveSections } from '../../src/report/live/sections.ts';
import { MigrationStatusReader } from '../../src/report/migration-status.ts';
import type { StatusView } from '../../src/report/status-text.ts';
import type { StateDir } from '../../src/state-dir.ts';
import { stateDirectory } from './state.ts';

vi.stubEnv('TZ', 'UTC');

const MINUTE = 60_000;
/** A Monday. */
const NOW = new Date('2026-03-02T08:30:00Z');
const HOURS = [{ requests: 20, seconds: 60, from: 480, until: 540, days: [1], text: '08:00-09:00 mon' }];

beforeEach(() => void vi.setSystemTime(NOW));
afterEach(() => void vi.useRealTimers());

/** A run that settled 40 of 1,000 events since its survey two minutes ago. */
async function underWay(hours = HOURS): Promise<StateDir> {
  const state = await stateDirectory();
  const at = (minutes: number): string => new Date(NOW.getTime() - minutes * MINUTE).toISOString();
  const counts = { total: 1000, acknowledged: 0, duplicates: 0, invalid: 0, rejected: 0, blocked: 0, pending: 1000 };
  const survey = {
    migration: 'acme',
    base_url: 'https://crm.example',
    at: at(2),
    records: { read: 1000, mapped: 1000, skipped: 0, unreadable: 0 },
    by_type: { 'lead/created': counts },
    to_send: 1000,
    rate: { requests: 100, seconds: 60, hours, timezone: 'UTC' },
    priorities: [
      { priority: 10, events: 40, acknowledged: 0, to_send: 40 },
      { priority: 0, events: 960, acknowledged: 0, to_send: 960 },
    ],
  };
  await writeFile(state.file('survey.json'), JSON.stringify(survey));
  const answered = { outcome: 'created', entity_id: randomUUID(), code: null, content_sha: 'x', fields: {}, at: at(1) };
  const lines = Array.from({ length: 40 }, (_, id) =>
    JSON.stringify({
      id: randomUUID(),
      type: 'lead/created',
      external_id: `r${id}`,
      status: 'acknowledged',
      ...answered,
    }),
  );
  await writeFile(state.file('checkpoint.ndjson'), `${lines.join('\n')}\n`);
  return state;
}

async function sections(state: StateDir, more: Partial<StatusView> = {}): Promise<LiveSections> {
  const status = await new MigrationStatusReader(state).read(NOW.getTime());
  const holder = { host: 'here', pid: 1, at: NOW.toISOString() };
  return liveSections({
    status,
    holder,
    downSince: undefined,
    path: state.path,
    now: NOW,
    ...more,
    errors: await collectErrors(state.file('errors.ndjson')),
    latest: [],
    wait: await readRunWait(state, NOW),
  });
}

function factsOf(section: string): Record<string, string> {
  const facts = [...section.matchAll(/<dt>(.*?)<\/dt>\s*<dd>(.*?)<\/dd>/gs)];
  return Object.fromEntries(facts.map(([, name, text]) => [name!, text!.replace(/<[^>]*>/g, '').trim()]));
}

it('the live page shows the rate against the limit of the hour, and the time left with the hours ahead', async () => {
  const found = await sections(await underWay());
  expect(factsOf(found['live-state'])).toMatchObject({
    Rate: '20 a minute recently; --rate allows 20',
    // Half an hour at 20 a minute, the remaining 360 at 100.
    Left: '960 events, about 34 min (until 09:03)',
    'Waits for': 'nothing',
  });
  expect(found['live-state']).toContain('class="state good"');
  expect(found['live-pace']).toContain('class="limit"');
});

it('the live page counts in the seconds of the hours', async () => {
  const found = await sections(await underWay([{ ...HOURS[0]!, requests: 5, seconds: 10 }]));
  expect(factsOf(found['live-state'])).toMatchObject({ Rate: '20 a minute recently; --rate allows 30' });
});

it('the live page shows the progress by priority', async () => {
  const rows = (await sections(await underWay()))['live-priorities'].split('</tr>');
  expect(rows[1]).toMatch(/>10<.*>40<.*>40</s);
  expect(rows[2]).toMatch(/>0<.*>960<.*>0<.*about /s);
});

it('the live page says what the run waits for, unless that is old', async () => {
  const state = await underWay();
  const metrics = state.file('metrics.prom');
  await writeFile(metrics, 'backfill_waiting_seconds{migration="acme",reason="credentials"} 600\n');
  await utimes(metrics, NOW, NOW);
  const waiting = await sections(state);
  expect(factsOf(waiting['live-state'])['Waits for']).toBe('the service refuses the credentials, for 10 min');
  expect(waiting['live-state']).toContain('class="state warn"');
  const old = new Date(NOW.getTime() - 2 * MINUTE);
  await utimes(metrics, old, old);
  expect(factsOf((await sections(state))['live-state'])['Waits for']).toBe('nothing');
});

it('the live page says how long the service has been down', async () => {
  const downSince = new Date(NOW.getTime() - 20 * MINUTE).toISOString();
  const { 'live-state': text } = await sections(await underWay(), { downSince });
  expect(factsOf(text)['Waits for']).toBe('the service has been down for 20 min; the run resumes automatically');
});
