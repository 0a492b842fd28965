import { z } from 'zod';
import { UserError } from '../errors.ts';
import { EVENT_TYPES } from '../model.ts';
import { PATHS } from '../service/contract.ts';
import type { EventSummary } from './requests.ts';

const count = z.int().min(1);
const milliseconds = z.number().min(0);
const range = z.strictObject({ from: count.default(1), to: count.optional() });

/** When a rule applies: all conditions must hold. */
const when = z.strictObject({
  /** Requests whose path starts with this; `/` matches all. Defaults to the ingestion webhook. */
  path: z.string().startsWith('/').default(PATHS.ingest),
  event: z.strictObject({ type: z.enum(EVENT_TYPES).optional(), external_id: z.string().optional() }).optional(),
  /** Whether the event was processed before. The service answers such events `deduplicated`, and refuses none of them (section 6.3). */
  processed: z.boolean().optional(),
  /** The n-th delivery of one event id: `{ from: 1, to: 1 }` applies to every event once, and its retry succeeds. */
  delivery: range.optional(),
  /** The n-th request among those that match `path`, `event` and `delivery`. */
  requests: range.optional(),
  /** Time since the plan was set. */
  elapsed_ms: z.strictObject({ from: milliseconds.default(0), to: milliseconds.optional() }).optional(),
  /** Derived from the seed and the request's number among those that match `path`, `event` and `delivery`. */
  probability: z.number().min(0).max(1).optional(),
  /** Applies at most this many times. */
  times: count.optional(),
});

const rule = <Kind extends string, Shape extends z.ZodRawShape>(kind: Kind, shape: Shape) =>
  z.strictObject({ kind: z.literal(kind), ...shape, when: when.prefault({}) });

/** Whether the event is committed before the fault. */
const committed = z.boolean().default(false);
const status = z.int().min(400).max(599);

const fault = z.discriminatedUnion('kind', [
  /** Part of the delay is before the request counts in the window, the rest after its commit. */
  rule('latency', { min_ms: milliseconds, max_ms: milliseconds }),
  /** The connection is closed without an answer. */
  rule('drop_before', {}),
  rule('drop_after', {}),
  /** The connection is closed with a TCP reset. */
  rule('reset', { committed }),
  /** The request is never answered. */
  rule('hang', { committed }),
  rule('status', { status, retry_after_s: z.int().min(0).optional(), code: z.string().optional() }),
  rule('status_after', { status, code: z.string().optional() }),
  /** A proxy's web page with status 200. */
  rule('html', { committed }),
  /** Committed, but the answer is truncated. */
  rule('cut_body', {}),
  rule('redirect', { location: z.string().default('https://login.example.test/') }),
  /** Committed; 200 with JSON that is not an acknowledgement. */
  rule('bad_ack', { body: z.unknown().optional() }),
  /** The old credential is refused from this request on. */
  rule('rotate_token', {}),
  rule('rotate_key', {}),
  /** Another client with the same API key: sends requests at once, or a number per second for a while. */
  rule('foreign', { requests: count, per_second_for_ms: milliseconds.optional() }),
  /** Starts with this request. Every request fails, including /health: no listener, or this status. */
  rule('outage', { lasts_ms: milliseconds, status: status.optional() }),
]);

const faultPlan = z.strictObject({ seed: z.int().default(1), rules: z.array(fault) });

export type FaultPlan = z.input<typeof faultPlan>;
export type FaultRule = z.output<typeof fault>;
/** Faults that end a request. If several rules apply to a request, the first one is used. */
export type FinalFault = Exclude<FaultRule, { kind: 'latency' | 'rotate_token' | 'rotate_key' | 'foreign' }>;

/** The faults to inject into one request. */
export interface FaultDecision {
  /** Delay before the request counts, and after its commit. */
  readonly latencyMs: readonly [before: number, after: number];
  readonly effects: readonly Extract<FaultRule, { kind: 'rotate_token' | 'rotate_key' | 'foreign' }>[];
  readonly fault: FinalFault | undefined;
}

/** Validates a fault plan. Throws a `UserError` that lists every problem. */
export function parseFaultPlan(value: unknown): FaultPlan {
  const parsed = faultPlan.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new UserError(`invalid fault plan:\n${z.prettifyError(parsed.error)}`, {
    hint: 'example: { "seed": 1, "rules": [{ "kind": "drop_after", "when": { "probability": 0.01 } }] }',
  });
}

interface FaultScope {
  readonly path: string;
  readonly event: EventSummary | undefined;
  readonly isProcessed: boolean;
}

interface RuleState {
  readonly rule: FaultRule;
  seen: number;
  applied: number;
}

/** Decides by the order of requests: the same plan and order give the same faults. */
export class FaultInjector {
  readonly #seed: number;
  readonly #since: number;
  readonly #rules: readonly RuleState[];
  readonly #countsDeliveries: boolean;
  readonly #deliveries = new Map<string, number>();

  /** `now`: milliseconds, from which `elapsed_ms` counts. Throws like `parseFaultPlan`. */
  constructor(plan: FaultPlan, now: number) {
    const { seed, rules } = faultPlan.parse(parseFaultPlan(plan));
    this.#seed = seed;
    this.#since = now;
    this.#rules = rules.map((rule) => ({ rule, seen: 0, applied: 0 }));
    this.#countsDeliveries = rules.some(({ when }) => when.delivery !== undefined);
  }

  decide(request: FaultScope & { now: number }): FaultDecision {
    let delivery = 1;
    if (this.#countsDeliveries && request.event?.id !== undefined) {
      delivery = (this.#deliveries.get(request.event.id) ?? 0) + 1;
      this.#deliveries.set(request.event.id, delivery);
    }
    const latencyMs: [number, number] = [0, 0];
    const effects: FaultDecision['effects'][number][] = [];
    let final: FinalFault | undefined;
    for (const [index, state] of this.#rules.entries()) {
      const { rule } = state;
      if (!inScope(rule, request, delivery)) continue;
      state.seen += 1;
      const draw = (salt: number): number => random(this.#seed, index, state.seen, salt);
      const { requests, elapsed_ms: elapsed, probability = 1, times = Infinity } = rule.when;
      if (!within(requests, state.seen) || !within(elapsed, request.now - this.#since)) continue;
      if (state.applied >= times || (probability < 1 && draw(0) >= probability)) continue;
      if (rule.kind === 'latency') {
        const total = rule.min_ms + (rule.max_ms - rule.min_ms) * draw(1);
        const before = total * draw(2);
        latencyMs[0] += before;
        latencyMs[1] += total - before;
      } else if (rule.kind === 'rotate_token' || rule.kind === 'rotate_key' || rule.kind === 'foreign') {
        effects.push(rule);
      } else if (final === undefined) {
        final = rule;
      } else {
        continue;
      }
      state.applied += 1;
    }
    return { latencyMs, effects, fault: final };
  }
}

function inScope({ when }: FaultRule, { path, event, isProcessed }: FaultScope, delivery: number): boolean {
  if (!path.startsWith(when.path)) return false;
  if (when.processed !== undefined && when.processed !== isProcessed) return false;
  if (when.event?.type !== undefined && when.event.type !== event?.type) return false;
  if (when.event?.external_id !== undefined && when.event.external_id !== event?.externalId) return false;
  return when.delivery === undefined || (event?.id !== undefined && within(when.delivery, delivery));
}

function within(bounds: { from: number; to?: number | undefined } | undefined, value: number): boolean {
  return bounds === undefined || (value >= bounds.from && value <= (bounds.to ?? Infinity));
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
