/**
 * A migration of many hours in simulated time: the built program with a simulated clock, against a sandbox with the limit of
 * the service, with everything that may happen in a week without anybody watching.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { PATHS } from '../../src/contract.ts';
import type { Summary } from '../../src/report/figures/summary.ts';
import type { SandboxState } from '../../src/sandbox/index.ts';
import { environmentOf, start, summaryOf, type Running } from '../e2e/harness.ts';
import { inScene } from '../faults/scene.ts';
import { EVENTS_PER_COPY, multiply } from './copies.ts';
import { SharedTime } from './shared-time.ts';
import { withoutTimes } from '../sandbox/client.ts';
import type { FaultySandbox } from '../sandbox/faults.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** A Monday, shortly before the first maintenance. */
const BEGIN = Date.UTC(2026, 0, 5, 0, 59);
const MAINTENANCE = { at: HOUR_MS, lastsMs: HOUR_MS };

const LIMIT = 100;
const LOWERED = 60;
const SLEEP_MS = 3 * HOUR_MS;
/** Until a killed run is started again, and until somebody has replaced the token. */
const RESTART_MS = MINUTE_MS;
const NEW_TOKEN_MS = 20 * MINUTE_MS;

/** Every copy of the fixture has an invalid record. */
const MANY_INVALID = ['--max-errors', '10%'];

/** What happens after which share of the requests. */
const DISTURBANCES = [
  [0.2, 'crash'],
  [0.3, 'lower the limit'],
  [0.45, 'restore the limit'],
  [0.5, 'sleep'],
  [0.6, 'crash'],
  [0.7, 'rotate the token'],
  [0.85, 'crash'],
] as const;

export interface MigrationResult {
  readonly summary: Summary;
  /** Of everything in the service but times. */
  readonly content: Readonly<Record<string, string>>;
}

export interface Week extends MigrationResult {
  /** How each run ended. */
  readonly runs: readonly string[];
  readonly requests: number;
  /** Answered 429. */
  readonly refused: number;
  /** The most requests in any window, and in any while the limit was lowered. */
  readonly most: number;
  readonly mostWhileLowered: number;
  /** Requests divided by the most that the limit allows while the service, the machine and a run were up. */
  readonly utilisation: number;
  readonly simulatedHours: number;
  /** The most memory of any run, in MB. */
  readonly peakMemory: number;
  readonly triggersFired: number;
}

/** The same migration without disturbances, limit and simulated time. */
export function undisturbedWeek(events: number): Promise<MigrationResult> {
  return inScene({}, async ({ cwd, service, start: begin }) => {
    await multiply(cwd, Math.ceil(events / EVENTS_PER_COPY));
    const summary = summaryOf(await begin(...MANY_INVALID).ended);
    return { summary, content: contentOf(service.state()) };
  });
}

/** `say` is called with what happens, and when. */
export async function disturbedWeek(events: number, say: (message: string) => void = () => undefined): Promise<Week> {
  let week: DisturbedWeek | undefined;
  const options = { rate: { requests: LIMIT, seconds: 60 }, clock: (): number => week?.requestArrives() ?? BEGIN };
  return inScene(options, async ({ cwd, service }) => {
    await multiply(cwd, Math.ceil(events / EVENTS_PER_COPY));
    week = new DisturbedWeek(cwd, service, events, say);
    return week.run();
  });
}

class DisturbedWeek {
  readonly #cwd: string;
  readonly #service: FaultySandbox;
  readonly #say: (message: string) => void;
  readonly #time: SharedTime;
  readonly #disturbances: { readonly after: number; readonly kind: (typeof DISTURBANCES)[number][1] }[];
  readonly #arrivals = new Arrivals();
  /** When nothing could be sent, and when the limit was lowered. */
  readonly #down: Interval[] = [];
  readonly #lowered: Interval[] = [];
  #nextMaintenance = Math.floor(BEGIN / DAY_MS) * DAY_MS + MAINTENANCE.at;
  #running: Running | undefined;
  #isCrashing = false;

  constructor(cwd: string, service: FaultySandbox, events: number, say: (message: string) => void) {
    this.#cwd = cwd;
    this.#service = service;
    this.#say = say;
    this.#time = SharedTime.begin(join(cwd, 'time'), BEGIN);
    this.#disturbances = DISTURBANCES.map(([share, kind]) => ({ after: Math.round(share * events), kind }));
  }

  /** The time at which it arrives. What is due happens before the sandbox looks at it. */
  requestArrives(): number {
    const requests = this.#service.requests();
    this.#time.refresh();
    const now = this.#time.wall();
    this.#arrivals.collect(requests);
    if (now >= this.#nextMaintenance) this.#maintain(now);
    const next = this.#disturbances[0];
    if (next && (requests.at(-1)?.number ?? 0) >= next.after && !this.#isCrashing) {
      this.#disturbances.shift();
      this.#disturb(next.kind, now);
    }
    return now;
  }

  async run(): Promise<Week> {
    const runs: string[] = [];
    const preload = await compiled(join(this.#cwd, 'preload'));
    for (;;) {
      this.#isCrashing = false;
      const env = { ...environmentOf(this.#service), SHARED_TIME: join(this.#cwd, 'time'), TZ: 'UTC' };
      const args = ['run', 'mapping.yaml', '--json', '--quiet', ...MANY_INVALID];
      this.#running = start(args, { cwd: this.#cwd, env: { ...env, NODE_OPTIONS: `--import=${preload}` } });
      const ended = await this.#running.ended;
      this.#time.refresh();
      const maintenance = this.#down.find((each) => includes(each, this.#time.wall()));
      if (ended.code === 2 && maintenance) {
        // A survey does not wait for the service: it is begun again when the maintenance is over.
        this.#time.skip('awake', maintenance.until - this.#time.wall());
        continue;
      }
      if (ended.signal === null && ended.code !== 3) {
        const summary = summaryOf(ended);
        runs.push(summary.exit.reason);
        return this.#result(summary, runs);
      }
      runs.push(ended.signal ?? summaryOf(ended).exit.reason);
      this.#report(`ended: ${runs.at(-1)}`);
      const wait = ended.signal ? RESTART_MS : NEW_TOKEN_MS;
      this.#down.push({ from: this.#time.wall(), until: this.#time.wall() + wait });
      this.#time.skip('awake', wait);
    }
  }

  #report(what: string): void {
    const number = this.#service.requests().at(-1)?.number ?? 0;
    this.#say(`${new Date(this.#time.wall()).toISOString()} ${what} (request ${number})`);
  }

  #maintain(now: number): void {
    const until = this.#nextMaintenance + MAINTENANCE.lastsMs;
    this.#nextMaintenance += DAY_MS;
    if (now >= until) return;
    this.#report('maintenance');
    this.#down.push({ from: now, until });
    const when = { path: '/', times: 1 };
    this.#service.setFaults({ rules: [{ kind: 'outage', status: 503, lasts_ms: until - now, when }] });
  }

  #disturb(kind: (typeof DISTURBANCES)[number][1], now: number): void {
    this.#report(kind);
    switch (kind) {
      case 'crash':
        this.#isCrashing = true;
        this.#running!.child.kill('SIGKILL');
        break;
      case 'lower the limit':
        this.#service.setLimit(LOWERED);
        this.#lowered.push({ from: now, until: Infinity });
        break;
      case 'restore the limit':
        this.#service.setLimit(LIMIT);
        this.#lowered[0] = { ...this.#lowered[0]!, until: now };
        break;
      case 'sleep':
        this.#time.skip('asleep', SLEEP_MS);
        this.#down.push({ from: now, until: now + SLEEP_MS });
        break;
      case 'rotate the token':
        this.#service.rotateToken();
    }
  }

  #result(summary: Summary, runs: readonly string[]): Week {
    this.#arrivals.collect(this.#service.requests(), { all: true });
    const { times, refused } = this.#arrivals;
    const until = this.#time.wall();
    const [from, to] = [this.#lowered[0]!.from + MINUTE_MS, this.#lowered[0]!.until];
    let possible = 0;
    let wasDown = true;
    for (let at = BEGIN; at < until; at += 1000) {
      const isDown = this.#down.some((each) => includes(each, at));
      const limit = this.#lowered.some((each) => includes(each, at)) ? LOWERED : LIMIT;
      // At first, the window is empty.
      if (!isDown) possible += wasDown ? limit : limit / 60;
      wasDown = isDown;
    }
    return {
      summary,
      content: contentOf(this.#service.state()),
      runs,
      requests: times.length,
      refused,
      most: mostInWindow(times),
      mostWhileLowered: mostInWindow(times.filter((at) => at >= from && at < to)),
      utilisation: times.length / possible,
      simulatedHours: (until - BEGIN) / HOUR_MS,
      peakMemory: Math.round(this.#time.get('peakMemory') / 1024),
      triggersFired: this.#service.triggersFired,
    };
  }
}

interface Interval {
  readonly from: number;
  readonly until: number;
}

function includes({ from, until }: Interval, at: number): boolean {
  return at >= from && at < until;
}

/** The requests that count against the limit. The sandbox remembers only the last ones. */
class Arrivals {
  readonly times: number[] = [];
  refused = 0;
  #collected = 0;

  /** Leaves out the last ones, which may not have been answered yet, unless `all`. */
  collect(requests: ReturnType<FaultySandbox['requests']>, { all = false } = {}): void {
    const last = requests.at(-1)?.number ?? 0;
    if (!all && last - this.#collected < 20_000) return;
    const first = last - requests.length + 1;
    const until = all ? requests.length : requests.length - 1_000;
    for (const { path, at, status } of requests.slice(Math.max(0, this.#collected + 1 - first), until)) {
      if (path === PATHS.health) continue;
      this.times.push(at);
      if (status === 429) this.refused += 1;
    }
    this.#collected = first + until - 1;
  }
}

function mostInWindow(times: readonly number[]): number {
  let most = 0;
  let first = 0;
  for (const [index, at] of times.entries()) {
    while (at - times[first]! >= MINUTE_MS) first += 1;
    most = Math.max(most, index - first + 1);
  }
  return most;
}

/** Number and hash of the records of each kind; how often each was written is part of it. */
function contentOf(state: SandboxState): Record<string, string> {
  return Object.fromEntries(
    Object.entries(withoutTimes(state)).map(([kind, records]) => {
      const hash = createHash('sha256');
      for (const record of records) hash.update(JSON.stringify(record));
      return [kind, `${records.length} ${hash.digest('hex')}`];
    }),
  );
}

/** The simulated time as plain JavaScript, so that the program starts as fast as usual. Returns its URL. */
async function compiled(directory: string): Promise<string> {
  await mkdir(directory);
  for (const name of ['shared-time', 'simulated-time']) {
    const source = await readFile(join(import.meta.dirname, `${name}.ts`), 'utf8');
    const compilerOptions = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext };
    const { outputText } = ts.transpileModule(source, { compilerOptions });
    await writeFile(join(directory, `${name}.mjs`), outputText.replaceAll('./shared-time.ts', './shared-time.mjs'));
  }
  return pathToFileURL(join(directory, 'simulated-time.mjs')).href;
}
