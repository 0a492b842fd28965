import { createHash } from 'node:crypto';
import type { ShaWords } from '../identity.ts';
import { EVENT_TYPES, type EventType } from '../model.ts';

/**
 * The digest of a plan: 12 hexadecimal digits over the content of all its events, regardless of their order. External id and
 * parent are part of an event's content.
 */
export class PlanDigest {
  readonly #sums = new Map<EventType, { count: number; first: number; second: number }>(
    EVENT_TYPES.map((type) => [type, { count: 0, first: 0, second: 0 }]),
  );

  /** `sha`: the hash of the event's content. Sums of hashes do not depend on the order. */
  add(type: EventType, [first, second]: ShaWords): void {
    const sum = this.#sums.get(type)!;
    sum.count += 1;
    sum.first = (sum.first + first) >>> 0;
    sum.second = (sum.second + second) >>> 0;
  }

  value(): string {
    const text = [...this.#sums].map(([type, { count, first, second }]) => `${type} ${count} ${first} ${second}`);
    return createHash('sha256').update(text.join('\n')).digest('hex').slice(0, 12);
  }
}
