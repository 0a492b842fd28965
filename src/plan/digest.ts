import { createHash, hash } from 'node:crypto';
import { canonicalJson } from '../json.ts';
import type { Policies } from '../mapping/policies.ts';
import { EVENT_TYPES } from '../kinds/index.ts';
import type { EventType } from '../model.ts';
import type { Database } from '../store/sqlite.ts';
import { pagesOf } from './events.ts';

interface ListedEvent {
  readonly id: number;
  readonly type: EventType;
  readonly content: string;
  readonly occurred_at: string | null;
  readonly entry: number;
}

/** The digest that the plan has, and how many events it covers; undefined while the plan is not complete. */
export function storedDigest(db: Database): { readonly digest: string; readonly listed: number } | undefined {
  const row = db.get<{ value: string }>(`select value from setting where name = 'digest'`);
  if (!row) return undefined;
  const listed = db.get<{ value: string }>(`select value from setting where name = 'listed'`)!.value;
  return { digest: row.value, listed: Number(listed) };
}

/**
 * The digest of a plan: 12 hexadecimal digits over type, content and time of every event of the input that could be sent, and
 * the policies of its entry, regardless of their order. External id and parent are part of an event's content. `listed`: how
 * many they are.
 */
export function planDigest(
  db: Database,
  policies: readonly Policies[],
): { readonly digest: string; readonly listed: number } {
  const ways = policies.map((each) => canonicalJson({ ...each }));
  const sums = new Map(EVENT_TYPES.map((type) => [type, { count: 0, first: 0, second: 0 }]));
  const listed = 'select id, type, content, occurred_at, entry from listed where id > ? order by id limit 1000';
  for (const page of pagesOf<ListedEvent>(db, listed)) {
    for (const { type, content, occurred_at: occurredAt, entry } of page) {
      const sum = sums.get(type)!;
      const digest = hash('sha256', `${content} ${occurredAt ?? ''} ${ways[entry]!}`, 'hex');
      // Sums of hashes do not depend on the order.
      sum.count += 1;
      sum.first = (sum.first + Number.parseInt(digest.slice(0, 8), 16)) >>> 0;
      sum.second = (sum.second + Number.parseInt(digest.slice(8, 16), 16)) >>> 0;
    }
  }
  const text = [...sums].map(([type, { count, first, second }]) => `${type} ${count} ${first} ${second}`);
  const digest = createHash('sha256').update(text.join('\n')).digest('hex').slice(0, 12);
  return { digest, listed: [...sums.values()].reduce((total, { count }) => total + count, 0) };
}
