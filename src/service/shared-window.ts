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
  /** For how long a token stays out after the answer to its request. */
  readonly returnMs: number;
  /** The longest that a request takes. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Ages of answers to requests of earlier runs: their tokens are out where Redis knows of none at all. */
  readonly earlier: readonly number[];
  /** Told when Redis has forgotten what it knew: for so many milliseconds nothing goes out. */
  readonly forgotten: (waitMs: number) => void;
}

/** What a process asks for a token with. */
export interface TokenRequest {
  /** Requests a window, and those of them withheld. */
  readonly requests: number;
  readonly withheld: number;
  /** Least distance to the request before, whoever made it. */
  readonly distanceMs: number;
  /** For how long a token that came back still counts as perhaps in the service's window. */
  readonly rememberedMs: number;
}

export interface TokenReply {
  readonly kind: 'granted' | 'rate' | 'paused' | 'probe';
  readonly waitMs: number;
  /** 429s in a row. */
  readonly refusals: number;
  /** X-RateLimit-Limit as any of the processes saw it last; 0 before. */
  readonly limit: number;
}

const CONNECT_MS = 5_000;
const COMMAND_MS = 5_000;
const LONGEST_RETRY_MS = 1_000;

/**
 * One process's hand on the window that all processes with the same key and base URL share. Calls reject while Redis is
 * out of reach; the next one tries again.
 *
 * Redis may forget all it knew (a restart without persistence). Every process notices by the `epoch` and tells its own
 * tokens again, and nothing goes out until all that was sent before has left the service's window.
 */
export class SharedWindow {
  readonly #options: SharedWindowOptions;
  readonly #redis: Redis;
  readonly #keys: readonly [tokens: string, state: string];
  readonly #owner = randomUUID();
  /** Tokens this process has out, and until when, by the monotonic clock. */
  readonly #own = new Map<string, number>();
  #taken = 0;
  #epoch = '';
  /** Whether Redis is known to know all of them. */
  #hasJoined = false;

  private constructor(options: SharedWindowOptions, redis: Redis) {
    this.#options = options;
    this.#redis = redis;
    const name = createHmac('sha256', options.apiKey.reveal()).update(options.baseUrl).digest('hex').slice(0, 32);
    this.#keys = [`crm-backfill:{${name}}:tokens`, `crm-backfill:{${name}}:state`];
    redis.on('close', () => (this.#hasJoined = false));
  }

  /** Throws a `UserError` where Redis cannot be reached or does not let us in. */
  static async open(options: SharedWindowOptions): Promise<SharedWindow> {
    let isOpen = false;
    const redis = new Redis(options.redis.reveal(), {
      lazyConnect: true,
      // What cannot be asked now is asked anew later: an answer from a queue would be about another time.
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
      throw new UserError(`the Redis server that shares the rate limit cannot be used: ${why}`, {
        hint: 'check --redis or BACKFILL_REDIS_URL; without it each process would keep the limit by itself, which only one may',
      });
    }
  }

  newToken(): string {
    this.#taken += 1;
    return `${this.#owner}:${this.#taken}`;
  }

  /** Asks for this token; again after a reply that was lost, it is the same one. */
  async take(token: string, { requests, withheld, distanceMs, rememberedMs }: TokenRequest): Promise<TokenReply> {
    const { returnMs, timeoutMs, clock } = this.#options;
    for (;;) {
      if (!this.#hasJoined) await this.#join();
      const hold = timeoutMs + returnMs;
      const [kind, waitMs, refusals, limit] = (await this.#eval(
        TAKE,
        ...[this.#epoch, token, requests, withheld, hold, returnMs, Math.round(distanceMs), timeoutMs, rememberedMs],
      )) as [TokenReply['kind'] | 'lost', number, number, number];
      if (kind === 'granted') this.#own.set(token, clock.monotonic() + hold);
      if (kind !== 'lost') return { kind, waitMs, refusals, limit };
      this.#hasJoined = false;
    }
  }

  /** Its request has been answered, or has failed. Never rejects: what Redis misses now it is told when it is back. */
  async settle(token: string): Promise<void> {
    const { returnMs, clock } = this.#options;
    this.#own.set(token, clock.monotonic() + returnMs);
    await this.#eval(SETTLE, token, returnMs).catch(() => undefined);
  }

  /** It was not needed. Never rejects: at worst it comes back by itself. */
  async giveBack(token: string): Promise<void> {
    this.#own.delete(token);
    await this.#eval(SETTLE, token, 0).catch(() => undefined);
  }

  /**
   * A request sent so long ago was answered. Tells how many of the requests that the service counts may be those of the
   * processes that share the window: all in flight, and all answered since `sinceMs` before that sending.
   */
  async observe(answer: {
    readonly ageMs: number;
    readonly isRefused: boolean;
    readonly limit: number | undefined;
    readonly sinceMs: number;
  }): Promise<{ refusals: number; own: number }> {
    const { ageMs, isRefused, limit = 0, sinceMs } = answer;
    const { returnMs } = this.#options;
    const reply = await this.#eval(OBSERVE, Math.round(ageMs), isRefused ? 0 : 1, limit, Math.ceil(sinceMs), returnMs);
    const [refusals, own] = reply as [number, number];
    return { refusals, own };
  }

  /** A request sent so long ago was refused: nobody asks for `waits[n - 1]` milliseconds after the nth time in a row. */
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
    const { returnMs, timeoutMs, earlier, forgotten } = this.#options;
    const isFirst = this.#epoch === '';
    const [epoch, begins, waitMs] = await this.#tell();
    this.#epoch = epoch;
    if (isFirst && begins === 1 && earlier.length > 0) {
      for (const age of earlier) this.#own.set(this.newToken(), this.#options.clock.monotonic() + returnMs - age);
      await this.#tell();
    }
    this.#hasJoined = true;
    if (waitMs > 0) forgotten(Math.min(waitMs, timeoutMs + returnMs));
  }

  async #tell(): Promise<[epoch: string, begins: number, waitMs: number]> {
    const { returnMs, timeoutMs, clock } = this.#options;
    const now = clock.monotonic();
    for (const [token, until] of this.#own) if (until <= now) this.#own.delete(token);
    const out = [...this.#own].flatMap(([token, until]) => [token, Math.ceil(until - now)]);
    const reply = await this.#eval(JOIN, this.#epoch, randomUUID(), timeoutMs + returnMs, ...out);
    return reply as [string, number, number];
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
