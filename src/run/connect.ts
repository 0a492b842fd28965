import { join } from 'node:path';
import { systemClock } from '../clock.ts';
import type { RestCredentials } from '../settings/credentials.ts';
import type { Account } from '../service/account.ts';
import type { Client } from '../service/client.ts';
import type { Limiter } from '../service/limiter.ts';
import { LONGEST_RETRY_AFTER_MS, longPause } from '../service/retry.ts';
import type { Pace } from '../settings/run-settings.ts';
import { DRY_RUN, type StateDir } from '../files/state-dir.ts';
import { readDocument } from '../report/files/documents.ts';
import { durationText } from '../report/words/times.ts';
import { openRateHistory, type HistoryOptions, type OpenHistory } from '../store/rate-history.ts';
import { storedPlanFiles } from '../store/stored-plans.ts';
import { PLAN } from '../store/plan-schema.ts';
import { Database } from '../store/sqlite.ts';
import { allowed, within, type Rate } from '../rate.ts';
import { TOOL } from '../version.ts';

/** The service that events are sent to, and its account. */
export interface Target {
  /** The URL that the checkpoint is bound to. */
  readonly baseUrl: string;
  readonly client: Client;
  readonly limiter: Limiter;
  readonly account: Account;
  /** What `--rate` and the limit of the service allow. */
  readonly rate: Rate;
  /** What the limit of the service allows, where that is more. */
  readonly allowed: Rate | undefined;
  readonly history: Pick<OpenHistory, 'writeIn'>;
  /** Closes all connections and the limiter's file. */
  close(): Promise<void>;
}

/** Where the times of answers are stored, so that the next run stays within the limit. */
export interface Histories extends Pick<HistoryOptions, 'isBeside'> {
  readonly state: StateDir;
  /** By default `state`. */
  readonly output?: StateDir;
}

/** Connects and reads the account, with GET requests only. `warn` is called with messages for the user. */
export async function connect(
  settings: Pace,
  credentials: RestCredentials,
  { state, output = state, isBeside = false }: Histories,
  warn: (message: string) => void = () => undefined,
): Promise<Target> {
  // The HTTP modules load in a tenth of a second. An offline survey does without them.
  const [{ createClient }, { Limiter }, { readAccount }] = await Promise.all([
    import('../service/client.ts'),
    import('../service/limiter.ts'),
    import('../service/directory.ts'),
  ]);
  const other = output === state ? { file: (name: string) => join(state.file(DRY_RUN), name) } : state;
  const history = openRateHistory(output, systemClock, { other, isBeside });
  const limiter = new Limiter({
    rate: settings.rate,
    concurrency: settings.concurrency,
    clock: systemClock,
    history,
    notify: warn,
  });
  const pausedMs = limiter.waiting()?.reason === 'rate_limited' ? limiter.waiting()!.nextInMs : 0;
  if (pausedMs > LONGEST_RETRY_AFTER_MS) {
    await limiter.stop();
    history.close();
    throw longPause(pausedMs, systemClock.wall());
  }
  if (pausedMs > 0) warn(`waits for ${durationText(pausedMs / 1000)}, as the service has asked in a 429 (Retry-After)`);
  const client = createClient({
    ...credentials,
    timeoutSeconds: settings.timeout,
    concurrency: settings.concurrency,
    limiter,
    userAgent: TOOL,
    retiring: (route, what) => warn(`the service is retiring a route that this run uses, ${route} (${what})`),
  });
  const close = async (): Promise<void> => {
    try {
      await client.close();
    } finally {
      history.close();
    }
  };
  try {
    const account = await readAccount(client, { warn });
    const [{ limit }, { rate }, { boundTo = credentials.baseUrl }] = [limiter, settings, credentials];
    const paces = { rate: within(limit, rate), allowed: allowed(limit, rate) };
    return { baseUrl: boundTo, client, limiter, account, ...paces, history, close };
  } catch (error) {
    // An open connection would keep the process running.
    await close();
    throw error;
  }
}

/** The account as the last run or dry run stored it, or undefined. */
export function storedAccountOf(state: StateDir): Account | undefined {
  for (const path of storedPlanFiles(state)) {
    const account = Database.ask(path, PLAN, (plan) => readDocument(plan, 'account'));
    if (account) return account;
  }
  return undefined;
}
