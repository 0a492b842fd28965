import { valuesOf, type Hash, type Known } from '../../core/known.ts';
import { COMPARED, type Checked } from '../compare/fields.ts';
import type { JsonValue } from '../../json.ts';
import type { Fields } from '../../service/list-page.ts';
import type { FieldHasher } from '../../store/field-hashes.ts';
import type { Database } from '../../store/sqlite.ts';

/** The field that refers to a lead by its external id; the service shows the lead's own id. */
const LEAD_FIELD = 'lead_external_id';

export interface ShownLeads {
  /**
   * What the service shows of a field: undefined if it does not show it, null if it has no value. A lead is shown by its id in
   * the service; one that this migration did not make stays as it is, and so is an edit. Undefined if it may be any of the
   * leads whose service ids are not known.
   */
  valueOf(entity: Checked, name: string, record: Fields): JsonValue | undefined;
}

/** The leads that these deals of the service refer to. The result is for one deal, by what is known of it. */
export function shownLeads(
  db: Database,
  hasher: FieldHasher,
  records: Iterable<Fields | undefined>,
): (known: Known) => ShownLeads {
  const shown = COMPARED.deal.find(({ sent }) => sent === LEAD_FIELD)!.shown!;
  const ids = [...new Set([...records].map((record) => record?.[shown]))].filter((id) => typeof id === 'string');
  const found = db.all<{ service_id: string; external_id: string }>(
    `select service_id, external_id from checkpoint.record
     where entity = 'lead' and service_id in (select value from json_each(?))`,
    JSON.stringify(ids),
  );
  const externalIds = new Map(found.map((row) => [row.service_id, row.external_id]));
  const areAllKnown = ids.length === 0 || !hasNamelessLeads(db);
  let ours: ReadonlySet<Hash> | undefined;
  /** With `if_parent_missing: send` a deal may name a lead of somebody else, whose id nobody has said. */
  const isOurs = (hash: Hash): boolean => (ours ??= hashesOfLeads(db, hasher)).has(hash);
  return (known) => ({
    valueOf(entity, name, record) {
      const field = COMPARED[entity].find(({ sent }) => sent === name)?.shown;
      const value = field === undefined ? undefined : (record[field] as JsonValue | undefined);
      if (name !== LEAD_FIELD || typeof value !== 'string') return value;
      const sent = valuesOf(known, LEAD_FIELD).filter((hash) => hash.length > 1);
      return externalIds.get(value) ?? (areAllKnown && sent.every(isOurs) ? value : undefined);
    },
  });
}

/** Of the external ids of the leads whose service ids are known. */
function hashesOfLeads(db: Database, hasher: FieldHasher): ReadonlySet<Hash> {
  const leads = db.each<{ external_id: string }>(
    `select external_id from checkpoint.record where entity = 'lead' and service_id is not null`,
  );
  const hashes = new Set<Hash>();
  for (const { external_id: externalId } of leads) hashes.add(hasher.hashOf(LEAD_FIELD, externalId));
  return hashes;
}

/** Whether a lead was acknowledged without an id of the service (skipped). */
function hasNamelessLeads(db: Database): boolean {
  return (
    db.get(
      `select 1 from checkpoint.record where entity = 'lead' and is_acknowledged = 1 and service_id is null limit 1`,
    ) !== undefined
  );
}
