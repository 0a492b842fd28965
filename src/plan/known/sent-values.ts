/** What was sent of deals that are not as the input says any more: control totals count what the service has. */
import { ABSENT, valuesOf } from '../../core/known.ts';
import { canonicalJson, parseJson, type JsonObject, type JsonValue } from '../../json.ts';
import { STAGED } from '../../kinds/index.ts';
import type { Entity } from '../../model.ts';
import type { FieldHasher } from '../../store/field-hashes.ts';
import type { Database } from '../../store/sqlite.ts';
import { askPlan } from '../earlier-plans.ts';
import { readRecord, type RecordKey } from './records.ts';

/** The fields by which deals are counted. */
const COUNTED: readonly string[] = ['stage_id', 'owner_id', 'amount', 'currency'];

export function isCounted(entity: Entity, field: string): boolean {
  return entity === STAGED && COUNTED.includes(field);
}

/** In place of what the service shows, in `change`. */
export const [NOT_READ, NOT_SHOWN] = ['(not read)', '(not shown)'] as const;

/** Of such fields that nobody has read back: what was sent, from the plan of the last run, at `last`, if the checkpoint has its hash. */
export function keepSentValues(db: Database, hasher: FieldHasher, last: string): void {
  const rows = db.all<ChangeRow>(
    `select id, entity, external_id, field from change where entity = '${STAGED}' and in_service in ('${NOT_READ}', '${NOT_SHOWN}')`,
  );
  const counted = rows.filter(({ entity, field }) => isCounted(entity, field));
  if (counted.length === 0) return;
  const found = askPlan(last, (plan) => new Map(counted.map((row) => [row.id, valuesIn(plan, row)])));
  for (const { id, field, ...key } of counted) {
    const [hash, ...others] = valuesOf(readRecord(db, hasher, key).known, field);
    if (others.length > 0) continue;
    const value = hash === ABSENT ? '' : found?.get(id)?.find((each) => hasher.hashOf(field, each) === hash);
    if (value !== undefined) db.run('update change set sent = ? where id = ?', canonicalJson(value), id);
  }
}

interface ChangeRow extends RecordKey {
  readonly id: number;
  readonly field: string;
}

function valuesIn(plan: Database, { entity, external_id: id, field }: ChangeRow): JsonValue[] {
  const rows = plan.all<{ sent: string | null; data: string | null }>(
    `select e.data, (select c.sent from change c where c.entity = e.entity and c.external_id = e.external_id and c.field = ?) as sent
     from event e where e.entity = ? and e.external_id = ?`,
    field,
    entity,
    id,
  );
  return rows.flatMap(({ sent, data }) => {
    const value = data === null ? undefined : (parseJson(data) as JsonObject)[field];
    return [...(sent === null ? [] : [parseJson(sent)]), ...(value === undefined ? [] : [value])];
  });
}
