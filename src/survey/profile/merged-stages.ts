/** Old stages that become one stage of the account, and those that go to another pipeline than the others. */
import { entityOf, STAGED } from '../../kinds/index.ts';
import type { CompiledEntry } from '../../mapping/mapping.ts';
import { valueText } from '../../mapping/values/result.ts';
import type { Database } from '../../store/sqlite.ts';
import { counted, enumerated, numberText } from '../../report/words/numbers.ts';
import type { Resolver } from '../resolve.ts';
import { issueOf } from '../../report/words/words.ts';
import type { Problem } from '../../problem.ts';

/** Further stages are counted. */
const MOST_STAGES = 3;

interface Merged {
  readonly stage: string;
  /** JSON list of the old names. */
  readonly old: string;
}

/** Their names are lost: a warning, with the number of old stages; undefined if there are none, or if every entry carries the column of the stage elsewhere too. */
export function mergedStages(db: Database, entries: readonly CompiledEntry[]): Problem | undefined {
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
  return issueOf('merged_stages', count, all.length, `${examples.join('; ')}${more}`).with({ count });
}

function keepsOldStage({ uses }: CompiledEntry): boolean {
  const read = uses.filter(({ field, decides }) => field === 'stage_name' && decides === undefined);
  return read.every(({ path }) =>
    uses.some((use) => use.path === path && use.field !== 'stage_name' && use.decides === undefined),
  );
}

interface Going {
  readonly entry: number;
  readonly old: string;
  readonly pipeline: string;
  readonly stage: string;
  readonly deals: number;
}

/**
 * A warning, with the number of deals whose stages, resolved by their names alone, go to another pipeline than most deals of their source;
 * undefined if there are none.
 */
export function strayStages(db: Database, entries: readonly CompiledEntry[], resolver: Resolver): Problem | undefined {
  if (!entries.some(({ type }) => entityOf(type) === STAGED)) return undefined;
  const all = db.all<Going>(`
    select e.entry, g.from_stage as old, g.pipeline, g.stage, count(*) as deals
    from deal_group g join event e on e.deal_group = g.id and e.state not in ('duplicate', 'invalid')
    where g.from_pipeline is null and g.from_stage is not null and g.stage is not null
      and (select count(distinct pipeline) from deal_group where from_pipeline is null) > 1
    group by 1, 2, 3, 4 order by deals desc`);
  const found = [...new Set(entries.map(({ source }) => source))].flatMap((source) => {
    const own = all.filter(({ entry }) => entries[entry]!.source === source);
    const counts = new Map<string, number>();
    for (const { pipeline, deals } of own) counts.set(pipeline, (counts.get(pipeline) ?? 0) + deals);
    const [most = ['', 0] as const] = [...counts].sort((a, b) => b[1] - a[1]);
    const strays = own.filter(({ old, pipeline }) => pipeline !== most[0] && resolver.isByName(old));
    return strays.map((stray) => ({
      ...stray,
      rest: `${numberText(most[1])} of ${source} go to ${valueText(most[0])}`,
    }));
  });
  if (found.length === 0) return undefined;
  const texts = found
    .slice(0, MOST_STAGES)
    .map(
      ({ old, pipeline, stage, deals }) =>
        `${valueText(old)} becomes ${valueText(`${pipeline} / ${stage}`)} (${counted(deals, 'deal')})`,
    );
  const more = found.length > MOST_STAGES ? `; ${found.length - MOST_STAGES} more stages` : '';
  const rests = enumerated([...new Set(found.map(({ rest }) => rest))], 'and');
  const count = found.reduce((sum, { deals }) => sum + deals, 0);
  return issueOf('stray_stages', `${texts.join('; ')}${more}`, rests).with({ count });
}
