import { z } from 'zod';
import { UserError } from '../errors.ts';
import { EVENT_TYPES } from '../model.ts';
import { PATHS } from '../service/contract.ts';
import type { EventSummary } from './requests.ts';

const count = z.int().min(1);
const milliseconds = z.number().min(0);
const range = z.strictObject({ from: count.default(1), to: count.optional() });

/** When a rule strikes: all that is said must hold. */
const when = z.strictObject({
  /** Requests whose path begins so; `/` is all of them. The ingestion webhook when absent. */
  path: z.string().startsWith('/').default(PATHS.ingest),
  event: z.strictObject({ type: z.enum(EVENT_TYPES).optional(), external_id: z.string().optional() }).optional(),
  /** The n-th delivery of one event id: `{ from: 1, to: 1 }` strikes every event once, and its resend succeeds. */
  delivery: range.optional(),
  /** The n-th request among those that `path`, `event` and `delivery` let through. */
  requests: range.optional(),
  /** Time since the plan was set. */
  elapsed_ms: z.strictObject({ from: milliseconds.default(0), to: milliseconds.optional() }).optional(),
  /** Decided by the seed and the request's place among those that `path`, `event` and `delivery` let through. */
  probability: z.number().min(0).max(1).optional(),
  /** Strikes at most so often. */
  times: count.optional(),
});

const rule = <Kind extends string, Shape extends z.ZodRawShape>(kind: Kind, shape: Shape) =>
  z.strictObject({ kind: z.literal(kind), ...shape, when: when.prefault({}) });

/** Whether the event was committed before the trouble. */
const committed = z.boolean().default(false);
const status = z.int().min(400).max(599);

const fault = z.discriminatedUnion('kind', [
  /** Part of the time passes before the request counts in the window, the rest after its commit. */
  rule('latency', { min_ms: milliseconds, max_ms: milliseconds }),
  /** The connection is closed without an answer. */
  rule('drop_before', {}),
  rule('drop_after', {}),
  /** The same with a TCP reset. */
  rule('reset', { committed }),
  /** No answer, ever. */
  rule('hang', { committed }),
  rule('status', { status, retry_after_s: z.int().min(0).optional(), code: z.string().optional() }),
  rule('status_after', { status, code: z.string().optional() }),
  /** A proxy's page with status 200. */
  rule('html', { committed }),
  /** Committed, but the answer breaks off in the middle. */
  rule('cut_body', {}),
  rule('redirect', { location: z.string().default('https://login.example.test/') }),
  /** Committed; 200 with JSON that is no acknowledgement. */
  rule('bad_ack', { body: z.unknown().optional() }),
  /** The old credential is refused from this very request on. */
  rule('rotate_token', {}),
  rule('rotate_key', {}),
  /** Another client of the same key: takes places at once, or so many a second for a while. */
  rule('foreign', { requests: count, per_second_for_ms: milliseconds.optional() }),
  /** Begins with this request; everything is refused, /health too: no listener, or this status. */
  rule('outage', { lasts_ms: milliseconds, status: status.optional() }),
]);

const faultPlan = z.strictObject({ seed: z.int().default(1), rules: z.array(fault) });

export type FaultPlan = z.input<typeof faultPlan>;
export type FaultRule = z.output<typeof fault>;
/** Faults that end a request; of those that strike the same one, the first rule's is applied. */
export type FinalFault = Exclude<FaultRule, { kind: 'latency' | 'rotate_token' | 'rotate_key' | 'foreign' }>;

/** What one request is in for. */
export interface FaultDecision {
  /** Before the request counts, and after its commit. */
  readonly latencyMs: readonly [before: number, after: number];
  readonly effects: readonly Extract<FaultRule, { kind: 'rotate_token' | 'rotate_key' | 'foreign' }>[];
  readonly fault: FinalFault | undefined;
}

/** Reads a plan, for instance from a file; a `UserError` names every mistake. */
export function parseFaultPlan(value: unknown): FaultPlan {
  const parsed = faultPlan.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new UserError(`the fault plan is not valid:\n${z.prettifyError(parsed.error)}`, {
    hint: 'a plan is { "seed": 1, "rules": [{ "kind": "drop_after", "when": { "probability": 0.01 } }] }',
  });
}

interface RuleState {
  readonly rule: FaultRule;
  seen: number;
  struck: number;
}

/** Decides by the order in which requests arrive: the same plan and order give the same faults. */
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
    this.#rules = rules.map((rule) => ({ rule, seen: 0, struck: 0 }));
    this.#countsDeliveries = rules.some(({ when }) => when.delivery !== undefined);
  }

  decide(request: { path: string; event: EventSummary | undefined; now: number }): FaultDecision {
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
      if (state.struck >= times || (probability < 1 && draw(0) >= probability)) continue;
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
      state.struck += 1;
    }
    return { latencyMs, effects, fault: final };
  }
}

function inScope(
  { when }: FaultRule,
  { path, event }: { path: string; event: EventSummary | undefined },
  delivery: number,
) {
  if (!path.startsWith(when.path)) return false;
  if (when.event?.type !== undefined && when.event.type !== event?.type) return false;
  if (when.event?.external_id !== undefined && when.event.external_id !== event?.externalId) return false;
  return when.delivery === undefined || (event?.id !== undefined && within(when.delivery, delivery));
}

function within(bounds: { from: number; to?: number | undefined } | undefined, value: number): boolean {
  return bounds === undefined || (value >= bounds.from && value <= (bounds.to ?? Infinity));
}

/** A number from 0 to below 1 that depends on its arguments alone (mulberry32 over their mixture). */
function random(...parts: readonly number[]): number {
  let state = 0x9e3779b9;
  for (const part of parts) state = Math.imul(state ^ part, 0x85ebca6b) ^ (state >>> 13);
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
}
