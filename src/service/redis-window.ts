import { createHmac, randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import type { Clock } from '../clock.ts';
import { codeOf, messageOf, UserError } from '../errors.ts';
import type { Secret } from '../redact.ts';
import type { Allowance, LimiterWait, Shared, Taken, TokenWindow } from './token-window.ts';
import { WINDOW_SCRIPT, type WindowReply, type WindowRequest } from './window-script.ts';

export interface RedisWindowOptions {
  readonly redis: Secret;
  /** Together with the API key, identifies the window. */
  readonly baseUrl: string;
  readonly apiKey: Secret;
  readonly windowMs: number;
  /** The longest duration of a request. */
  readonly timeoutSeconds: number;
  readonly clock: Clock;
  /** Ages of the answers of earlier runs. They count if Redis has no state at all. */
  readonly earlierAges: readonly number[];
  /** Called once each time Redis becomes unreachable or has lost its state, and when it is back. */
  readonly notify: (message: string) => void;
}

const CONNECT_MS = 5_000;
const COMMAND_MS = 5_000;
const LONGEST_RECONNECT_MS = 1_000;
/** Redis is asked again at least this often: the limit, the rate or the pause may have changed. */
const ASK_AGAIN_MS = 1_000;
const UNREACHABLE_MS = 500;
/** Tolerance for clocks and the latency of Redis, added to the age of a request. */
const SLACK_MS = 500;

/**
 * One window in Redis for all processes and machines with the same API key and base URL. Bottleneck's clustering stores
 * only the number of tokens: those of a killed process are lost, and a Redis that lost its data grants a whole window again.
 * Here each token is a lease, stored with the time when its request is answered at the latest. The answer moves that time to
 * now; the leases of a process that dies run out by themselves.
 *
 * While Redis cannot be reached, nothing is sent. If it has lost its state (a restart without persistence), every process
 * detects this by the `epoch`, and nothing is sent until all earlier requests have left the window.
 */
export class RedisWindow implements TokenWindow {
  readonly #options: RedisWindowOptions;
  readonly #redis: Redis;
  readonly #keys: readonly [tokens: string, state: string];
  readonly #owner = randomUUID();
  readonly #stopped = new AbortController();
  #allowance: Allowance = { requests: 1, windowMs: 0, distanceMs: 0 };
  #tokens = 0;
  /** The number of changes that other processes were told. */
  #told = 0;
  /** The token asked for. After a lost reply it is asked for again. */
  #next = '';
  #epoch = '';
  #isUnreachable = false;
  #wait: { readonly reason: LimiterWait['reason']; readonly until: number } = { reason: 'rate', until: 0 };

  private constructor(options: RedisWindowOptions, redis: Redis) {
    this.#options = options;
    this.#redis = redis;
    const name = createHmac('sha256', options.apiKey.reveal()).update(options.baseUrl).digest('hex').slice(0, 32);
    this.#keys = [`crm-backfill:{${name}}:tokens`, `crm-backfill:{${name}}:state`];
  }

  /** Throws a `UserError` if Redis cannot be reached or refuses access. */
  static async open(options: RedisWindowOptions): Promise<RedisWindow> {
    let isOpen = false;
    const redis = new Redis(options.redis.reveal(), {
      lazyConnect: true,
      // A queued command would be answered for a later time: ask again instead.
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      connectTimeout: CONNECT_MS,
      commandTimeout: COMMAND_MS,
      retryStrategy: (times) => (isOpen ? Math.min(times * 100, LONGEST_RECONNECT_MS) : null),
    });
    let failure: unknown;
    redis.on('error', (error) => (failure ??= error));
    const window = new RedisWindow(options, redis);
    try {
      await redis.connect();
      const earlier = options.earlierAges.map((age) => [window.#newToken(), -Math.floor(age)]);
      const { isNew } = await window.#call({});
      if (isNew) await window.#call({ tokens: Object.fromEntries(earlier) as WindowRequest['tokens'] });
      isOpen = true;
      return window;
    } catch (error) {
      redis.disconnect();
      const why = codeOf(failure ?? error) ?? messageOf(failure ?? error);
      throw new UserError(`cannot use the Redis server that shares the rate limit: ${why}`, {
        hint: 'check --redis or BACKFILL_REDIS_URL; without Redis, only one process may use the API key',
      });
    }
  }

  allow(allowance: Allowance): void {
    this.#allowance = allowance;
  }

  async take(): Promise<Taken> {
    const { clock, notify } = this.#options;
    const told = this.#told;
    const token = (this.#next ||= this.#newToken());
    let reply: WindowReply | undefined;
    try {
      reply = await this.#call({ want: token });
      if (this.#isUnreachable) notify('Redis is reachable again: sending resumes');
      this.#isUnreachable = false;
      const reason = reply.kind === 'rate' ? 'rate' : 'rate_limited';
      this.#wait = { reason, until: clock.monotonic() + reply.waitMs };
    } catch {
      if (!this.#isUnreachable && !this.#stopped.signal.aborted) {
        notify('Redis cannot be reached: sending is paused until it is back');
      }
      this.#isUnreachable = true;
    }
    const isGranted = reply?.kind === 'granted';
    if (isGranted) this.#next = '';
    else if (!reply?.pauseMs) {
      const waitMs = reply ? Math.max(1, reply.waitMs) : UNREACHABLE_MS;
      await clock.sleep(Math.min(waitMs, ASK_AGAIN_MS), this.#stopped.signal);
    }
    return {
      tokens: isGranted ? [token] : [],
      // This process has told something since, which is newer than the reply.
      ...(reply && told === this.#told && { shared: { ...reply, limit: reply.limit || undefined } }),
    };
  }

  giveBack(token: string, isUsed: boolean): void {
    // If Redis cannot be reached, the lease runs out by itself.
    this.#call({ tokens: { [token]: isUsed ? 0 : 'unused' } }).catch(() => undefined);
  }

  async own(sinceMs: number): Promise<number> {
    return (await this.#call({ sinceMs: Math.ceil(sinceMs + SLACK_MS) })).own;
  }

  tell({ pauseMs, ...shared }: Shared): void {
    this.#told += 1;
    const rounded = pauseMs === undefined ? {} : { pauseMs: Math.ceil(pauseMs) };
    this.#call({ ...shared, ...rounded }).catch(() => undefined);
  }

  waiting(): LimiterWait | undefined {
    if (this.#isUnreachable) return { reason: 'redis', nextInMs: UNREACHABLE_MS };
    const nextInMs = this.#wait.until - this.#options.clock.monotonic();
    return nextInMs > 0 ? { reason: this.#wait.reason, nextInMs } : undefined;
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#redis.quit().catch(() => undefined);
    this.#redis.disconnect();
  }

  #newToken(): string {
    this.#tokens += 1;
    return `${this.#owner}:${this.#tokens}`;
  }

  async #call(request: Partial<WindowRequest>): Promise<WindowReply> {
    const { windowMs, timeoutSeconds, notify } = this.#options;
    const full: WindowRequest = {
      tokens: {},
      ...request,
      epoch: this.#epoch,
      newEpoch: randomUUID(),
      requests: this.#allowance.requests,
      distanceMs: Math.round(this.#allowance.distanceMs),
      windowMs,
      timeoutMs: Math.ceil(timeoutSeconds * 1000),
    };
    const json = await this.#redis.eval(WINDOW_SCRIPT, this.#keys.length, ...this.#keys, JSON.stringify(full));
    const reply = JSON.parse(String(json)) as WindowReply;
    if (reply.epoch !== this.#epoch && this.#epoch !== '') {
      const seconds = Math.ceil(reply.pauseMs / 1000);
      const why = 'until they no longer count against the limit';
      notify(`Redis has lost its record of recent requests: sending is paused for ${seconds} s, ${why}`);
    }
    this.#epoch = reply.epoch;
    return reply;
  }
}
