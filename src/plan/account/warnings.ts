import { CUSTOM_FIELDS, isUpdate, STAGED } from '../../kinds/index.ts';
import type { Account } from '../../service/account.ts';
import { counted } from '../../report/words/numbers.ts';
import type { Database } from '../../store/sqlite.ts';
import { addProblem } from '../problems.ts';
import { issueOf } from '../../report/words/words.ts';
import type { EntryHead } from '../../mapping/mapping.ts';

/** What the service does not show as in use: its name, and why. */
interface Inactive {
  readonly id: string;
  readonly name: string;
  readonly why: string;
}

/** Warns of deals for users, stages or pipelines that the service shows as inactive, with their names. */
export function warnOfInactive(db: Database, account: Account | undefined): void {
  const { users, pipelines } = account ?? { users: [], pipelines: [] };
  const owners = users.flatMap(({ id, names: [name = id], inactive: why }) =>
    why === undefined ? [] : [{ id, name, why }],
  );
  warn(db, 'owner', owners);
  const stages = pipelines.flatMap(({ name: pipeline, inactive: whole, stages: own }) =>
    own.flatMap(({ id, name, inactive }) => {
      const why = inactive ?? (whole === undefined ? undefined : `pipeline ${whole}`);
      return why === undefined ? [] : [{ id, name: `${pipeline} / ${name}`, why }];
    }),
  );
  warn(db, 'stage', stages);
}

function warn(db: Database, kind: 'owner' | 'stage', inactive: readonly Inactive[]): void {
  if (inactive.length === 0) return;
  const used = db.all<{ id: string; count: number }>(
    `select data ->> ?1 as id, count(*) as count from event
     where data is not null and state in ('ready', 'retry') and data ->> ?1 in (select value from json_each(?2))
     group by 1 order by 2 desc, 1`,
    `${kind}_id`,
    JSON.stringify(inactive.map(({ id }) => id)),
  );
  if (used.length === 0) return;
  const names = used.map(({ id, count }) => {
    const { name, why } = inactive.find((each) => each.id === id)!;
    return `\`${name}\` (${why}, ${counted(count, STAGED)})`;
  });
  const count = used.reduce((sum, each) => sum + each.count, 0);
  addProblem(db, {}, issueOf(`inactive_${kind}`, names).with({ field: `${kind}_id`, count }));
}

/**
 * Says of records that somebody else made, or may have made, that custom fields which the export does not have may go: they are
 * sent as a whole, and it is not published whether an update replaces or merges them (service interface, section 2).
 */
export function warnOfCustomFields(db: Database, entries: readonly EntryHead[]): void {
  const updating = entries.flatMap(({ policies }, entry) => (policies.if_exists === 'update' ? [entry] : []));
  if (updating.length === 0 && !entries.some(({ type }) => isUpdate(type))) return;
  const { count } = db.get<{ count: number }>(
    `select count(*) as count from event
     where state in ('ready', 'retry')
       and (type like '%/updated' or entry in (select value from json_each(?)))
       and coalesce(${CUSTOM_FIELDS.map((field) => `json_extract(data, '$.${field}')`).join(', ')}) is not null`,
    JSON.stringify(updating),
  )!;
  if (count > 0) addProblem(db, {}, issueOf('custom_fields_may_go', count));
}
