/** Which requests have which faults: the same plan and the same order of requests give the same faults. */
import { isObject } from '../../src/json.ts';
import type { EventType } from '../../src/model.ts';
import { PATHS } from '../../src/contract.ts';

/** From 1; without `to`, all that follow. */
interface Range {
  readonly from?: number;
  readonly to?: number;
}

/** All conditions must hold. */
interface When {
  /** Requests whose path starts with this; those of the webhook by default. */
  readonly path?: string;
  readonly event?: { readonly type?: EventType; readonly external_id?: string };
  /** The n-th delivery of an event. */
  readonly delivery?: Range;
  /** The n-th request among those that match the conditions above. */
  readonly requests?: Range;
  /** This share of them, as the seed decides. */
  readonly probability?: number;
  /** At most this many of them. */
  readonly times?: number;
}

export interface FaultRule {
  /**
   * - `latency`: `min_ms` to `max_ms`, partly before the request is committed and partly after it
   * - `drop`, `reset`: the connection is closed, or reset by TCP
   * - `hang`: there is never an answer
   * - `status`: another answer of the service, with `code` and `retry_after_s`
   * - `html`: 200 with the web page of a proxy; `redirect`: 302
   * - `cut_body`: committed, then half of the answer; `bad_ack`: committed, then 200 that is no acknowledgement
   * - `rotate_token`, `rotate_key`: before the request, which may go on
   * - `foreign`: another client with the same key sends `requests` at once, or per second for `per_second_for_ms`
   * - `outage`: from now on all requests fail, `/health` too: with `status`, or since nothing listens
   */
  readonly kind:
    | 'latency'
    | 'drop'
    | 'reset'
    | 'hang'
    | 'status'
    | 'html'
    | 'redirect'
    | 'cut_body'
    | 'bad_ack'
    | 'rotate_token'
    | 'rotate_key'
    | 'foreign'
    | 'outage';
  /** Whether the service commits the request before its answer is replaced. */
  readonly committed?: boolean;
  readonly status?: number;
  readonly code?: string;
  readonly retry_after_s?: number;
  readonly min_ms?: number;
  readonly max_ms?: number;
  readonly requests?: number;
  readonly per_second_for_ms?: number;
  readonly lasts_ms?: number;
  readonly when?: When;
}

export interface FaultPlan {
  readonly seed?: number;
  readonly rules: readonly FaultRule[];
}

interface Decision {
  /** Before the request is committed, and after it. */
  readonly latencyMs: readonly [before: number, after: number];
  readonly effects: readonly FaultRule[];
  /** Ends the request. If several rules apply, the first one is used. */
  readonly fault: FaultRule | undefined;
}

const EFFECTS: readonly FaultRule['kind'][] = ['rotate_token', 'rotate_key', 'foreign'];

export class Injector {
  readonly #seed: number;
  readonly #rules: readonly { readonly rule: FaultRule; seen: number; applied: number }[];
  readonly #deliveries = new Map<unknown, number>();

  constructor({ seed = 1, rules }: FaultPlan) {
    this.#seed = seed;
    this.#rules = rules.map((rule) => ({ rule, seen: 0, applied: 0 }));
  }

  /** `body`: an event, if the request is one of the webhook. */
  decide(path: string, body: unknown): Decision {
    const { id, type, data } = fieldsOf(body);
    const event = { type, externalId: fieldsOf(data).external_id, delivery: (this.#deliveries.get(id) ?? 0) + 1 };
    if (id !== undefined && this.#rules.some(({ rule }) => rule.when?.delivery)) {
      this.#deliveries.set(id, event.delivery);
    }
    const latencyMs: [number, number] = [0, 0];
    const effects: FaultRule[] = [];
    let fault: FaultRule | undefined;
    for (const [index, state] of this.#rules.entries()) {
      const { rule } = state;
      const { kind, when = {}, min_ms: least = 0, max_ms: most = 0 } = rule;
      if (!inScope(when, path, event)) continue;
      state.seen += 1;
      const draw = (salt: number): number => random(this.#seed, index, state.seen, salt);
      const { requests, probability = 1, times = Infinity } = when;
      if (!within(requests, state.seen) || state.applied >= times) continue;
      if (probability < 1 && draw(0) >= probability) continue;
      if (kind === 'latency') {
        const total = least + (most - least) * draw(1);
        const before = total * draw(2);
        latencyMs[0] += before;
        latencyMs[1] += total - before;
      } else if (EFFECTS.includes(kind)) {
        effects.push(rule);
      } else if (fault === undefined) {
        fault = rule;
      } else {
        continue;
      }
      state.applied += 1;
    }
    return { latencyMs, effects, fault };
  }
}

function inScope(
  { path = PATHS.ingest, event: wanted = {}, delivery }: When,
  requested: string,
  event: { readonly type: unknown; readonly externalId: unknown; readonly delivery: number },
): boolean {
  return (
    requested.startsWith(path) &&
    (wanted.type === undefined || wanted.type === event.type) &&
    (wanted.external_id === undefined || wanted.external_id === event.externalId) &&
    within(delivery, event.delivery)
  );
}

function within({ from = 1, to = Infinity }: Range = {}, value: number): boolean {
  return value >= from && value <= to;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

/** A deterministic pseudo-random number in [0, 1) derived from the arguments (mulberry32). */
function random(...parts: readonly number[]): number {
  let state = 0x9e3779b9;
  for (const part of parts) state = Math.imul(state ^ part, 0x85ebca6b) ^ (state >>> 13);
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
}
