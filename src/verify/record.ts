/** One record in the service, compared field by field with what was sent. */
import { FieldHasher } from '../checkpoint/field-hashes.ts';
import { CHECKPOINT_FILE } from '../checkpoint/lines.ts';
import { COMPARED, type Checked } from '../compare/fields.ts';
import { readBack } from '../compare/read-back.ts';
import type { Planned } from '../model.ts';
import type { Account } from '../service/account.ts';
import type { Client } from '../service/client.ts';
import type { StateDir } from '../state-dir.ts';
import { compareFields, shownText, type ComparedValue } from './compare.ts';
import { Expectations } from './expected.ts';
import { parentsOf } from './verify.ts';
import { writtenRecords } from './written.ts';

/** What the service shows of a record now. `verdict`: `not_sent` if the mapping sends no value of the field. */
export interface LiveRecord {
  readonly found: boolean;
  /** ISO 8601, as the service shows it. */
  readonly updated_at: string | null;
  readonly fields: readonly (Omit<ComparedValue, 'verdict'> & {
    readonly verdict: ComparedValue['verdict'] | 'not_sent';
  })[];
}

/**
 * Reads an acknowledged record back. `planned`: its events of the plan. Undefined if its service id is unknown. Throws a
 * `UserError` if it cannot be read.
 */
export async function readLive(
  state: StateDir,
  { client, account }: { readonly client: Client; readonly account: Account },
  entity: Checked,
  externalId: string,
  planned: readonly Planned[],
): Promise<LiveRecord | undefined> {
  const expectations = new Expectations(entity, account);
  for (const event of planned) if (!event.isDerived) expectations.add(event, externalId);
  const expected = expectations.get(externalId) ?? [];
  const { records, leadIds } = await writtenRecords(
    state.file(CHECKPOINT_FILE),
    await FieldHasher.open(state, { store: undefined }),
    entity,
    (id) => id === externalId,
    () => expected,
    parentsOf(entity, expectations),
  );
  const written = records.get(externalId);
  if (!written) return undefined;
  for await (const { record } of readBack(client, entity, [written.serviceId], { atLeast: 1, concurrency: 1 })) {
    if (!record) break;
    const compared = compareFields({ entity, written, expected, leadIds }, record);
    const fields = COMPARED[entity].flatMap(({ name, shown }): LiveRecord['fields'] => {
      const known = compared.find(({ field }) => field === name);
      if (known) return [known];
      const actual = shown === undefined ? '' : shownText(record[shown]);
      return actual === '' ? [] : [{ field: name, verdict: 'not_sent', expected: undefined, actual }];
    });
    return { found: true, updated_at: typeof record.updatedAt === 'string' ? record.updatedAt : null, fields };
  }
  return { found: false, updated_at: null, fields: [] };
}
