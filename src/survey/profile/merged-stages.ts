/** Old stages that become one stage of the account: their names are lost, unless another field keeps them. */
import { STAGED } from '../../kinds/index.ts';
import type { CompiledEntry } from '../../mapping/mapping.ts';
import { valueText } from '../../mapping/values/result.ts';
import type { Issue } from '../../model.ts';
import type { Database } from '../../store/sqlite.ts';
import { enumerated } from '../../terminal/numbers.ts';
import { issueOf } from '../../vocabulary/words.ts';

/** Further stages are counted. */
const MOST_STAGES = 3;

interface Merged {
  readonly stage: string;
  /** JSON list of the old names. */
  readonly old: string;
}

/** A warning, with the number of old stages; undefined if there are none, or if every entry carries the column of the stage elsewhere too. */
export function mergedStages(
  db: Database,
  entries: readonly CompiledEntry[],
): (Issue & { readonly count: number }) | undefined {
  if (entries.every((entry) => entry.type !== `${STAGED}/created` || keepsOldStage(entry))) return undefined;
  const merged = db.all<Merged>(`
    select pipeline || ' / ' || stage as stage, json_group_array(distinct from_stage) as old
    from (select * from deal_group where stage is not null and from_stage is not null order by from_stage)
    where id in (select deal_group from event where state not in ('duplicate', 'invalid'))
    group by pipeline, stage having count(distinct from_stage) > 1 order by count(distinct from_stage) desc`);
  if (merged.length === 0) return undefined;
  const all = merged.map(({ stage, old }) => ({ stage, old: JSON.parse(old) as string[] }));
  const examples = all.slice(0, MOST_STAGES).map(
    ({ stage, old }) =>
      `${enumerated(
        old.map((name) => valueText(name)),
        'and',
      )} become ${valueText(stage)}`,
  );
  const more = all.length > MOST_STAGES ? `; ${all.length - MOST_STAGES} more stages` : '';
  const count = all.reduce((sum, { old }) => sum + old.length, 0);
  return { ...issueOf('merged_stages', count, all.length, `${examples.join('; ')}${more}`), count };
}

function keepsOldStage({ uses }: CompiledEntry): boolean {
  const read = uses.filter(({ field, decides }) => field === 'stage_name' && decides === undefined);
  return read.every(({ path }) =>
    uses.some((use) => use.path === path && use.field !== 'stage_name' && use.decides === undefined),
  );
}
