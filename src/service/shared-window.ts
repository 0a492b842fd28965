import { createHmac, randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import type { Clock } from '../clock.ts';
import { codeOf, messageOf, UserError } from '../errors.ts';
import type { Secret } from '../redact.ts';
import { JOIN, OBSERVE, REFUSE, SETTLE, TAKE } from './window-scripts.ts';

export interface SharedWindowOptions {
  readonly redis: Secret;
  readonly baseUrl: string;
  readonly apiKey: Secret;
  /** How long a request counts after its answer, at most. */
  readonly longestMs: number;
  /** The longest time a request can take. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Ages of the answers of earlier runs. Their tokens count as in use if Redis has no state at all. */
  readonly earlierAges: readonly number[];
  /** Called when Redis has lost its state: nothing is sent for `waitMs` milliseconds. */
  readonly onStateLost: (waitMs: number) => void;
}

/** The parameters with which a process asks for a token. */
export interface TokenRequest {
  /** The quotas that hold. A request counts until `windowMs` after its answer. */
  readonly windows: readonly { readonly requests: number; readonly windowMs: number }[];
  /** How many of the requests of each window are withheld. */
  readonly withheld: number;
  /** Minimum interval since the previous request of any process. */
  readonly distanceMs: number;
  /** How long a token is kept after its answer, because its request may still be in a window, or in the service's. */
  readonly rememberedMs: number;
}

export interface TokenReply {
  readonly kind: 'granted' | 'rate' | 'paused' | 'probe';
  readonly waitMs: number;
  /** Consecutive 429s. */
  readonly refusals: number;
  /** The X-RateLimit-Limit most recently seen by any process; 0 if none has seen it. */
  readonly limit: number;
}

const CONNECT_MS = 5_000;
const COMMAND_MS = 5_000;
const LONGEST_RETRY_MS = 1_000;

/**
 * One process's client for the window shared by all processes with the same API key and base URL. Calls reject while
 * Redis cannot be reached; the next call tries again.
 *
 * Redis may lose its state (a restart without persistence). Every process detects this by the `epoch` and registers its
 * own tokens again, and nothing is sent until all earlier requests have left the service's window.
 */
export class SharedWindow {
  readonly #options: SharedWindowOptions;
  readonly #redis: Redis;
  readonly #keys: readonly [tokens: string, state: string];
  readonly #owner = randomUUID();
  /** Tokens in use by this process, and when each was or will be answered at the latest, by the monotonic clock. */
  readonly #own = new Map<string, number>();
  #taken = 0;
  #epoch = '';
  /** Whether all tokens of this process are registered in Redis. */
  #hasJoined = false;

  private constructor(options: SharedWindowOptions, redis: Redis) {
    this.#options = options;
    this.#redis = redis;
    const name = createHmac('sha256', options.apiKey.reveal()).update(options.baseUrl).digest('hex').slice(0, 32);
    this.#keys = [`crm-backfill:{${name}}:tokens`, `crm-backfill:{${name}}:state`];
    redis.on('close', () => (this.#hasJoined = false));
  }

  /** Throws a `UserError` if Redis cannot be reached or refuses access. */
  static async open(options: SharedWindowOptions): Promise<SharedWindow> {
    let isOpen = false;
    const redis = new Redis(options.redis.reveal(), {
      lazyConnect: true,
      // A queued command would be answered for a later time: ask again instead.
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      connectTimeout: CONNECT_MS,
      commandTimeout: COMMAND_MS,
      retryStrategy: (times) => (isOpen ? Math.min(times * 100, LONGEST_RETRY_MS) : null),
    });
    let failure: unknown;
    redis.on('error', (error) => (failure ??= error));
    const window = new SharedWindow(options, redis);
    try {
      await redis.connect();
      await window.#join();
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

  newToken(): string {
    this.#taken += 1;
    return `${this.#owner}:${this.#taken}`;
  }

  /** Asks for this token. Idempotent: safe to repeat after a lost reply. */
  async take(token: string, { windows, withheld, distanceMs, rememberedMs }: TokenRequest): Promise<TokenReply> {
    const { timeoutMs, clock } = this.#options;
    const quotas = windows.flatMap(({ requests, windowMs }) => [requests, windowMs]);
    for (;;) {
      if (!this.#hasJoined) await this.#join();
      const [kind, waitMs, refusals, limit] = (await this.#eval(
        TAKE,
        ...[this.#epoch, token, withheld, timeoutMs, Math.round(distanceMs), rememberedMs, ...quotas],
      )) as [TokenReply['kind'] | 'lost', number, number, number];
      if (kind === 'granted') this.#own.set(token, clock.monotonic() + timeoutMs);
      if (kind !== 'lost') return { kind, waitMs, refusals, limit };
      this.#hasJoined = false;
    }
  }

  /** The token's request has been answered or has failed. Never rejects: Redis is updated when it is back. */
  async settle(token: string): Promise<void> {
    // Moved to the end, so that the tokens that are forgotten first come first.
    this.#own.delete(token);
    this.#own.set(token, this.#options.clock.monotonic());
    this.#forget();
    await this.#eval(SETTLE, token, 1).catch(() => undefined);
  }

  /** Returns a token that was not used. Never rejects: at worst the token expires by itself. */
  async giveBack(token: string): Promise<void> {
    this.#own.delete(token);
    await this.#eval(SETTLE, token, 0).catch(() => undefined);
  }

  /**
   * Records the answer to a request sent `ageMs` ago. Returns how many of the requests that the service counts may be
   * from the processes that share the window: all in flight, and all answered since `sinceMs` before the request was
   * sent.
   */
  async observe(answer: {
    readonly ageMs: number;
    readonly isRefused: boolean;
    readonly limit: number | undefined;
    readonly sinceMs: number;
  }): Promise<{ refusals: number; own: number }> {
    const { ageMs, isRefused, limit = 0, sinceMs } = answer;
    const reply = await this.#eval(OBSERVE, Math.round(ageMs), isRefused ? 0 : 1, limit, Math.ceil(sinceMs));
    const [refusals, own] = reply as [number, number];
    return { refusals, own };
  }

  /**
   * A request sent `ageMs` ago was answered 429: all processes wait `waits[n - 1]` ms after the nth consecutive one.
   */
  async refuse(ageMs: number, waits: readonly number[]): Promise<{ refusals: number; waitMs: number }> {
    const reply = await this.#eval(REFUSE, Math.round(ageMs), ...waits.map(Math.round));
    const [refusals, waitMs] = reply as [number, number];
    return { refusals, waitMs };
  }

  async close(): Promise<void> {
    await this.#redis.quit().catch(() => undefined);
    this.#redis.disconnect();
  }

  async #join(): Promise<void> {
    const { longestMs, timeoutMs, earlierAges, onStateLost, clock } = this.#options;
    const isFirst = this.#epoch === '';
    const [epoch, begins, waitMs] = await this.#register();
    this.#epoch = epoch;
    if (isFirst && begins === 1 && earlierAges.length > 0) {
      for (const age of earlierAges) this.#own.set(this.newToken(), clock.monotonic() - age);
      await this.#register();
    }
    this.#hasJoined = true;
    if (waitMs > 0) onStateLost(Math.min(waitMs, timeoutMs + longestMs));
  }

  async #register(): Promise<[epoch: string, begins: number, waitMs: number]> {
    const { longestMs, timeoutMs, clock } = this.#options;
    const now = clock.monotonic();
    this.#forget();
    const out = [...this.#own].flatMap(([token, at]) => [token, Math.ceil(at - now)]);
    const reply = await this.#eval(JOIN, this.#epoch, randomUUID(), timeoutMs + longestMs, ...out);
    return reply as [string, number, number];
  }

  /** Tokens that have left the longest window. */
  #forget(): void {
    const { longestMs, clock } = this.#options;
    for (const [token, at] of this.#own) {
      if (at + longestMs > clock.monotonic()) break;
      this.#own.delete(token);
    }
  }

  async #eval(script: string, ...args: readonly (string | number)[]): Promise<unknown> {
    try {
      return await this.#redis.eval(script, this.#keys.length, ...this.#keys, ...args);
    } catch (error) {
      this.#hasJoined = false;
      throw error;
    }
  }
}
