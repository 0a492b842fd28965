import type { Secret } from '../redact.ts';
import { longestSeconds, mostRequests, quotasAt, type Quota } from '../timetable.ts';
import { LIMITS, HEADERS } from './contract.ts';
import { ForeignUse } from './foreign-use.ts';
import {
  MARGIN_MS,
  PACE,
  readCount,
  type Limiter,
  type LimiterOptions,
  type LimiterStats,
  type TurnOptions,
  type LimiterWait,
} from './limiter.ts';
import { backoff, backoffCeiling } from './retry.ts';
import { SharedWindow, type TokenReply } from './shared-window.ts';
import { TurnQueue, type Turn } from './turn-queue.ts';

export interface SharedLimiterOptions extends LimiterOptions {
  readonly redis: Secret;
  /** Together with the API key, identifies the window. */
  readonly baseUrl: string;
  readonly apiKey: Secret;
  readonly timeoutSeconds: number;
  /** Called once each time Redis becomes unreachable, and when it is back. */
  readonly notify: (message: string) => void;
}

const RETRY_MS = 500;
/** How soon a higher rate is noticed when its hours begin. */
const FOLLOW_MS = 1_000;
/** Tolerance for clocks and the latency of Redis, added to the age of a request. */
const SLACK_MS = 500;
/** Consecutive refusals after which the wait no longer grows. */
const MAX_WAITS = 8;

/**
 * A limiter that keeps one window in Redis for all processes and machines that use the same API key. Like the local
 * limiter, it returns a token one window after the answer to its request. Throws a `UserError` if Redis cannot be
 * reached.
 *
 * It does not use bottleneck's clustering, which stores only the number of tokens: the tokens of a killed process are
 * lost, and a Redis that lost its data ends the process or grants a whole window again. Here each token is stored with
 * its owner and the time when its request is answered at the latest: after the longest a request can take. The answer moves
 * that time to now; the tokens of a process that dies expire by themselves, one window later.
 *
 * While Redis cannot be reached, nothing is sent.
 */
export async function createSharedLimiter(options: SharedLimiterOptions): Promise<Limiter> {
  const { rate, timeoutSeconds, history, notify } = options;
  const longestMs = longestSeconds(rate) * 1000;
  const window = await SharedWindow.open({
    ...options,
    longestMs: Math.ceil(longestMs + MARGIN_MS),
    timeoutMs: Math.ceil(timeoutSeconds * 1000),
    earlierAges: history?.recent(longestMs) ?? [],
    onStateLost: (waitMs) =>
      notify(
        `Redis has lost its record of recent requests: sending is paused for ${Math.ceil(waitMs / 1000)} s, ` +
          'until they no longer count against the limit',
      ),
  });
  return new SharedLimiter(options, window);
}

class SharedLimiter implements Limiter {
  readonly #options: SharedLimiterOptions;
  readonly #window: SharedWindow;
  readonly #foreign: ForeignUse;
  readonly #stopped = new AbortController();
  readonly #queue = new TurnQueue(this.#stopped.signal);
  readonly #running = new Set<Promise<void>>();
  #isAsking = false;
  #serviceLimit = Infinity;
  #refusals = 0;
  #pausedUntil = 0;
  #isUnreachable = false;
  #waiting: { readonly reason: LimiterWait['reason']; readonly until: number } | undefined;

  constructor(options: SharedLimiterOptions, window: SharedWindow) {
    this.#options = options;
    this.#window = window;
    this.#foreign = new ForeignUse(longestSeconds(options.rate) * 1000, mostRequests(options.rate));
  }

  get stopped(): boolean {
    return this.#stopped.signal.aborted;
  }

  schedule<T>(job: () => Promise<T>, options?: TurnOptions): Promise<T> {
    const ended = this.#queue.wait(job, options);
    void this.#ask();
    return ended;
  }

  refused(retryAfterMs: number | undefined, sentAt: number): void {
    const { clock } = this.#options;
    const waits = Array.from({ length: MAX_WAITS }, (_, index) => {
      return (retryAfterMs ?? backoffCeiling(index + 1)) + backoff(index + 1);
    });
    this.#pause(waits[0]!);
    this.#window
      .refuse(clock.monotonic() - sentAt, waits)
      .then(({ refusals, waitMs }) => {
        this.#refusals = refusals;
        this.#pause(waitMs);
      })
      .catch(() => undefined);
  }

  observe(status: number, headers: Readonly<Record<string, string>>, sentAt: number): void {
    const { clock, rate } = this.#options;
    const limit = readCount(headers[HEADERS.limit]) || undefined;
    const remaining = readCount(headers[HEADERS.remaining]);
    if (limit === undefined && this.#refusals === 0) return;
    if (limit !== undefined) this.#serviceLimit = limit;
    // If the configured rate is below the service's limit, its window may differ from the service's window.
    const isOfService = mostRequests(rate) >= (limit ?? 0);
    const sinceMs = (isOfService ? longestSeconds(rate) * 1000 : this.#longestWindow()) + SLACK_MS;
    this.#window
      .observe({ ageMs: clock.monotonic() - sentAt, isRefused: status === 429, limit, sinceMs })
      .then(({ refusals, own }) => {
        this.#refusals = refusals;
        if (limit === undefined || remaining === undefined) return;
        // All requests of these processes that may be in the service's window count as in flight.
        this.#foreign.observe({ now: clock.monotonic(), sentAt, used: limit - remaining, inFlight: own, limit });
      })
      .catch(() => undefined);
  }

  waiting(): LimiterWait | undefined {
    const now = this.#options.clock.monotonic();
    return this.#waiting && { reason: this.#waiting.reason, nextInMs: Math.max(0, this.#waiting.until - now) };
  }

  stats(): LimiterStats {
    const { clock } = this.#options;
    const limit = Math.min(...this.#quotas().map(({ requests }) => requests), this.#serviceLimit);
    const allowed = Math.max(1, limit - this.#withheld());
    return { allowed, foreign: this.#foreign.estimate(clock.monotonic()), inFlight: this.#running.size };
  }

  async stop(): Promise<void> {
    if (this.stopped) return;
    this.#stopped.abort();
    await Promise.all(this.#running);
    await this.#window.close();
  }

  /** Only one call runs at a time: it gets a token first, then starts the request that is next by then. */
  async #ask(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    while (this.#queue.size > 0 && !this.stopped && this.#running.size < this.#options.concurrency) {
      const token = await this.#token();
      if (token === undefined) continue;
      const turn = this.#next();
      if (!turn) {
        await this.#window.giveBack(token);
        continue;
      }
      const running = this.#run(turn, token).finally(() => {
        this.#running.delete(running);
        void this.#ask();
      });
      this.#running.add(running);
    }
    this.#isAsking = false;
  }

  /** The next token; undefined when no request needs one any more. */
  async #token(): Promise<string | undefined> {
    const { clock, rate } = this.#options;
    const token = this.#window.newToken();
    while (this.#queue.size > 0 && !this.stopped) {
      const paused = this.#pausedUntil - clock.monotonic();
      const quotas = this.#quotas();
      const reply = paused > 0 ? ({ kind: 'paused', waitMs: paused } as const) : await this.#take(token, quotas);
      if (reply.kind === 'granted') {
        // By now, hours with another rate may have begun.
        if (!this.#quotas().every((quota) => quotas.includes(quota))) {
          await this.#window.giveBack(token);
          continue;
        }
        this.#waiting = undefined;
        return token;
      }
      const reason = reply.kind === 'redis' || reply.kind === 'rate' ? reply.kind : 'rate_limited';
      this.#waiting = { reason, until: clock.monotonic() + reply.waitMs };
      const waitMs = rate.hours ? Math.min(reply.waitMs, FOLLOW_MS) : reply.waitMs;
      await clock.sleep(Math.max(1, waitMs), this.#stopped.signal);
    }
    this.#waiting = undefined;
    return undefined;
  }

  async #take(
    token: string,
    quotas: readonly Quota[],
  ): Promise<Pick<TokenReply, 'waitMs'> & { readonly kind: TokenReply['kind'] | 'redis' }> {
    const { notify } = this.#options;
    try {
      const reply = await this.#window.take(token, {
        windows: quotas.map(({ requests, seconds }) => ({ requests, windowMs: Math.ceil(seconds * 1000 + MARGIN_MS) })),
        withheld: this.#withheld(),
        distanceMs: this.#interval(quotas),
        rememberedMs: Math.ceil(this.#longestWindow() + this.#options.timeoutSeconds * 1000 + SLACK_MS),
      });
      this.#refusals = reply.refusals;
      if (reply.limit > 0) this.#serviceLimit = reply.limit;
      if (this.#isUnreachable) notify('Redis is reachable again: sending resumes');
      this.#isUnreachable = false;
      return reply;
    } catch {
      if (!this.#isUnreachable && !this.stopped) notify('Redis cannot be reached: sending is paused until it is back');
      this.#isUnreachable = true;
      return { kind: 'redis', waitMs: RETRY_MS };
    }
  }

  #next(): Turn | undefined {
    for (let turn = this.#queue.first; turn; turn = this.#queue.first) {
      if (turn.mayStart()) return turn;
      turn.withdraw();
    }
    return undefined;
  }

  async #run(turn: Turn, token: string): Promise<void> {
    const { history } = this.#options;
    history?.sent();
    await turn.run();
    history?.answered();
    await this.#window.settle(token);
  }

  #pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#options.clock.monotonic() + ms);
  }

  #withheld(): number {
    const { reserve, clock } = this.#options;
    return Math.max(reserve, this.#foreign.withhold(clock.monotonic()));
  }

  /** Minimum interval between the requests of all processes, in milliseconds; 0 while nobody else uses the API key. */
  #interval(quotas: readonly Quota[]): number {
    const { reserve, clock } = this.#options;
    const isShared = reserve > 0 || this.#refusals > 0 || this.#foreign.estimate(clock.monotonic()) > 0;
    if (!isShared) return 0;
    return Math.max(
      ...quotas.map((each) => (PACE * each.seconds * 1000) / Math.min(each.requests, this.#serviceLimit)),
    );
  }

  #quotas(): readonly Quota[] {
    const { rate, clock } = this.#options;
    return quotasAt(rate, clock.wall());
  }

  #longestWindow(): number {
    return Math.max(longestSeconds(this.#options.rate), LIMITS.windowSeconds) * 1000;
  }
}
