import { createHash } from 'node:crypto';
import { shortSha } from '../core/identity.ts';
import { canonicalJson } from '../json.ts';
import type { Policies } from '../mapping/policies.ts';
import { readSetting } from '../store/setting.ts';
import type { Database } from '../store/sqlite.ts';

/** The digest that the plan has, and how many events it covers; undefined while the plan is not complete. */
export function storedDigest(db: Database): { readonly digest: string; readonly listed: number } | undefined {
  const digest = readSetting(db, 'digest');
  return digest === undefined ? undefined : { digest, listed: Number(readSetting(db, 'listed')) };
}

/** Lines that are hashed at once. */
const PAGE = 1_000;

/**
 * The digest of a plan: 12 hexadecimal digits over type, content and time of every event of the input that could be sent, and
 * the policies of its entry, regardless of their order. External id and parent are part of an event's content. `listed`: how
 * many they are.
 */
export function planDigest(
  db: Database,
  policies: readonly Policies[],
): { readonly digest: string; readonly listed: number } {
  const ways = policies.map((each) => shortSha(canonicalJson({ ...each })));
  db.exec('create temp table listed_line (place integer primary key, line text not null)');
  // In an order that is the same for the same events, wherever they are in the input.
  const listed = db.run(
    `insert into temp.listed_line (line)
     select type || ' ' || content || ' ' || ifnull(occurred_at, '') || ' ' || (? ->> entry) from listed order by 1`,
    JSON.stringify(ways),
  );
  const digest = createHash('sha256');
  for (let from = 1; from <= listed; from += PAGE) {
    const { lines } = db.get<{ lines: string }>(
      `select group_concat(line, char(10) order by place) as lines from temp.listed_line where place >= ? and place < ?`,
      from,
      from + PAGE,
    )!;
    digest.update(`${lines}\n`);
  }
  db.exec('drop table temp.listed_line');
  return { digest: digest.digest('hex').slice(0, 12), listed };
}
