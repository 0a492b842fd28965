// Lost without it: bars could count what is never sent.
import { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Console } from '../../../src/report/print/console.ts';
import { planCounter } from '../../../src/report/print/progress-tracker.ts';
import { startProgress } from '../../../src/report/print/progress.ts';
import { attachCheckpoint } from '../../../src/store/open.ts';
import { PLAN, PLAN_FILE } from '../../../src/store/plan-schema.ts';
import { Database } from '../../../src/store/sqlite.ts';
import { stateDirectory, type GivenEvent } from '../../state.ts';

beforeEach(() => {
  vi.stubEnv('TZ', 'UTC');
  vi.useFakeTimers({ now: new Date('2026-03-02T10:41:00Z') });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

interface Shown {
  /** Everything written to stderr. */
  readonly text: () => string;
  /** So many events are acknowledged, one after the other within a minute, and the run ends. */
  readonly send: (count: number) => void;
}

/** The progress of a run, on a terminal of so many columns or in a log. */
async function progressOf(events: readonly GivenEvent[], columns?: number): Promise<Shown> {
  const began = Date.now();
  const state = await stateDirectory({ events, runs: [{ at: new Date(began).toISOString(), answers: [] }] });
  const db = Database.open(state.file(PLAN_FILE), PLAN);
  attachCheckpoint(db, state);
  let text = '';
  const stderr = Object.assign(
    new Writable({
      write: (chunk, _encoding, done) => {
        text += String(chunk);
        done();
      },
    }),
    columns === undefined ? {} : { isTTY: true, columns, getColorDepth: () => 1 },
  );
  const rate = { requests: 2, seconds: 60 };
  const progress = startProgress(new Console({ stdout: stderr, stderr }), {
    rate,
    count: planCounter(db, rate),
    deliverer: { counters: { events_sent: 0 }, waiting: () => undefined },
  });
  return {
    text: () => text.trim(),
    send: (count) => {
      const sent = db.all<{ id: number }>(
        "select id from event where state = 'ready' order by priority desc, id limit ?",
        count,
      );
      for (const { id } of sent) {
        db.run("update event set state = 'acknowledged' where id = ?", id);
        db.run(
          `insert into checkpoint.request (n, id, run, type, entity, external_id, status, sent_at, settled_at)
           select ?1, 'e' || id, 1, type, entity, external_id, 'acknowledged', ?2, ?2 from event where id = ?1`,
          id,
          new Date(began + 1_000).toISOString(),
        );
      }
      vi.advanceTimersByTime(60_000);
      // The run closes the plan before its command stops the progress.
      db.close();
      progress.stop();
    },
  };
}

/** The line that a log gets after a minute in which the first `count` events to send were acknowledged. */
async function lineAfter(events: readonly GivenEvent[], count: number): Promise<string> {
  const shown = await progressOf(events);
  shown.send(count);
  return shown.text();
}

/** What stands on a terminal of so many columns in the end. */
async function screenAfter(events: readonly GivenEvent[], count: number, columns: number): Promise<string[]> {
  const shown = await progressOf(events, columns);
  shown.send(count);
  // Before a bar is drawn again, the cursor moves up.
  const lines = stripVTControlCharacters(shown.text().replace(/\u001b\[\d+A/g, '\n'))
    .trim()
    .split(/[\r\n]+/);
  return lines.slice(-1 - new Set(events.map(({ type }) => type)).size);
}

const FAMILIES: readonly GivenEvent[] = [
  { state: 'ready', times: 4, priority: 1 },
  { state: 'ready', times: 4, type: 'deal/created' },
  { state: 'ready', times: 4, type: 'comment/created' },
];

it('counts a rejected event as settled, and not as acknowledged', async () => {
  expect(await lineAfter([{ state: 'ready', times: 3 }, { state: 'rejected' }], 1)).toMatch(
    /^10:42 lead\/created 1\/4 \(1 rejected\); 1\/min, 2 left/,
  );
});

it('on a terminal has a bar for each type, as wide as there is room', async () => {
  expect(await screenAfter(FAMILIES, 5, 80)).toEqual([
    `lead/created     ${'█'.repeat(33)}  4/4 100 %`,
    `deal/created     ${'█'.repeat(8)}${'░'.repeat(25)}  1/4  25 %`,
    `comment/created  ${'░'.repeat(33)}  0/4   0 %`,
    expect.stringMatching(/^5\/min, 7 left, about \d min \(until 10:4\d\)$/),
  ]);
  expect(await screenAfter(FAMILIES, 5, 50)).toEqual([
    'lead/created    4/4 100 %',
    'deal/created    1/4  25 %',
    'comment/created 0/4   0 %',
    expect.stringContaining('5/min, 7 left'),
  ]);
});

it.each([21, 40, 59, 60, 80, 200])('never wraps on a terminal of %i columns', async (columns) => {
  for (const line of await screenAfter(FAMILIES, 5, columns)) expect(line.length).toBeLessThan(columns);
});
