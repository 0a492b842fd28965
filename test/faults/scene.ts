/** A small but complete migration (fixtures/faults) against a sandbox with faults, and what its result must be. */
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { makeDirectory } from '../directory.ts';
import type { Summary } from '../../src/report/figures/summary.ts';
import type { RequestEntry } from '../../src/sandbox/index.ts';
import { serviceNow } from '../clock.ts';
import { backfill, environmentOf, FAST, FIXTURES, start, type Ended, type Running } from '../e2e/harness.ts';
import { withoutTimes } from '../sandbox/client.ts';
import { startFaulty, type FaultyOptions, type FaultyRequest, type FaultySandbox } from '../sandbox/faults.ts';
import { migrate, type Options } from './in-process.ts';

export interface Scene {
  readonly service: FaultySandbox;
  readonly cwd: string;
  readonly run: (options?: Options) => Promise<Summary>;
  /** The same by its command line. Such runs go one after the other. */
  readonly command: (...options: string[]) => Promise<Ended>;
  /** The same in a process of its own. */
  readonly start: (...options: string[]) => Running;
}

/**
 * A directory with the fixture and a sandbox, for as long as `act` takes. Concurrent tests cannot use hooks to
 * clean up: after the first await, it is unknown which test a hook belongs to.
 */
export async function inScene<T>(options: FaultyOptions, act: (scene: Scene) => Promise<T>): Promise<T> {
  const cwd = makeDirectory();
  const service = await startFaulty({ rate: { requests: 100_000, seconds: 1 }, clock: serviceNow, ...options });
  try {
    await cp(join(FIXTURES, 'faults'), cwd, { recursive: true });
    const args = ['run', 'mapping.yaml', '--json', ...FAST];
    return await act({
      service,
      cwd,
      run: async (given) => (await migrate(environmentOf(service), join(cwd, 'mapping.yaml'), given)).summary,
      command: (...given) => backfill([...args, ...given], { cwd, env: environmentOf(service) }),
      start: (...given) => start([...args, ...given], { cwd, env: environmentOf(service) }),
    });
  } finally {
    await service.close();
    await rm(cwd, { recursive: true, force: true });
  }
}

export interface Undisturbed {
  readonly state: ReturnType<typeof withoutTimes>;
  readonly summary: Summary;
}

/** The same migration without faults; `prepare` changes the fixture first. */
export function undisturbed(prepare?: (cwd: string) => Promise<void>): Promise<Undisturbed> {
  return inScene({}, async ({ cwd, service, run }) => {
    await prepare?.(cwd);
    const summary = await run();
    return { state: withoutTimes(service.state()), summary };
  });
}

/** Requests of the ingestion webhook, in the order of arrival. */
export function ingested(service: FaultySandbox): FaultyRequest[] {
  return service.requests().filter(({ method }) => method === 'POST');
}

export interface Body {
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export function bodyOf({ body }: RequestEntry): Body {
  return body as Body;
}

/**
 * Exactly once: the same records with the same number of writes each, the same totals and errors, no automation
 * triggered, and events about the same record sent one after another.
 */
export function expectUndisturbed(service: FaultySandbox, summary: Summary, calm: Undisturbed): void {
  expect(withoutTimes(service.state())).toEqual(calm.state);
  expect(summary.events).toEqual(calm.summary.events);
  expect(summary.by_type).toEqual(calm.summary.by_type);
  expect(summary.errors_by_code).toEqual(calm.summary.errors_by_code);
  expect(summary.exit).toEqual(calm.summary.exit);
  expect(service.triggersFired).toBe(0);
  expect(togetherInFlight(ingested(service))).toEqual([]);
}

/** Pairs of different events of one type about one record that were in flight at the same time. */
function togetherInFlight(requests: readonly RequestEntry[]): string[] {
  const found: string[] = [];
  for (const [index, later] of requests.entries()) {
    const { id, type, data } = bodyOf(later);
    if (data.external_id === undefined) continue;
    for (const earlier of requests.slice(0, index)) {
      const other = bodyOf(earlier);
      const sameRecord = other.type === type && other.data.external_id === data.external_id && other.id !== id;
      if (sameRecord && (earlier.endedAt ?? Infinity) > later.at) found.push(`${other.id} and ${id}`);
    }
  }
  return found;
}
