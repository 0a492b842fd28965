/** Which faults are injected into a request. */
import { z } from 'zod';
import { UserError } from '../errors.ts';
import { faultOf, FAULT_PLAN, type FaultPlan, type FaultRule } from './fault-kinds.ts';

/** The faults to inject into one request. */
export interface FaultDecision {
  /** Delay before the request counts, and after its commit. */
  readonly latencyMs: readonly [before: number, after: number];
  readonly effects: readonly FaultRule[];
  /** Ends the request. If several rules apply, the first one is used. */
  readonly fault: FaultRule | undefined;
}

/** Validates a fault plan, and adds its defaults. Throws a `UserError` that lists every problem. */
export function parseFaultPlan(value: unknown): z.output<typeof FAULT_PLAN> {
  const parsed = FAULT_PLAN.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new UserError(`invalid fault plan:\n${z.prettifyError(parsed.error)}`, {
    hint: 'example: { "seed": 1, "rules": [{ "kind": "drop_after", "when": { "probability": 0.01 } }] }',
  });
}

/** What an ingestion request says about its event; undefined where it does not. */
export interface FaultEvent {
  readonly id: unknown;
  readonly type: unknown;
  readonly externalId: unknown;
}

interface FaultScope {
  readonly path: string;
  readonly event: FaultEvent | undefined;
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
  readonly #deliveries = new Map<unknown, number>();

  /** `now`: milliseconds, from which `elapsed_ms` counts. Throws like `parseFaultPlan`. */
  constructor(plan: FaultPlan, now: number) {
    const { seed, rules } = parseFaultPlan(plan);
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
    const effects: FaultRule[] = [];
    let final: FaultRule | undefined;
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
      } else if (faultOf(rule).effect) {
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
