/** One record in the service, compared field by field with what was sent. */
import { comparedFields } from '../../kinds/index.ts';
import type { Entity } from '../../model.ts';
import { readBack } from '../../plan/account/read-back.ts';
import { readDocument } from '../../report/files/documents.ts';
import type { Account } from '../../service/account.ts';
import type { Client } from '../../service/client.ts';
import type { Database } from '../../store/sqlite.ts';
import type { LiveRecord } from '../../report/figures/explanation.ts';
import { whyNotComparable } from '../../report/figures/verification.ts';
import { RecordComparison, shownIn, shownText } from './compare.ts';
import { hasherOf } from './expected.ts';

/**
 * Reads an acknowledged record back. Undefined if its service id is unknown; a text says why the service does not show it (403, merged).
 * Throws a `UserError` if the service cannot be used.
 */
export async function readLive(
  db: Database,
  { client, account }: { readonly client: Client; readonly account: Account },
  entity: Entity,
  externalId: string,
): Promise<LiveRecord | string | undefined> {
  const comparison = new RecordComparison(db, hasherOf(db), account, readDocument(db, 'mapping')?.region ?? undefined);
  const written = comparison.written(entity, externalId);
  if (written.serviceId === '') return undefined;
  const expected = comparison.expected(entity, externalId) ?? [];
  for await (const { record, instead } of readBack(client, entity, [written.serviceId], {
    atLeast: 1,
    concurrency: 1,
  })) {
    if (instead) return instead.message;
    if (!record) break;
    const compared = comparison.fields(entity, expected, written, record);
    const fields = comparedFields(entity).flatMap((each): LiveRecord['fields'] => {
      const known = compared.find(({ field }) => field === each.name);
      if (known?.verdict === 'not_comparable') return [{ ...known, reason: whyNotComparable(each) }];
      if (known) return [known];
      const actual = shownText(shownIn(each, record));
      return actual === '' ? [] : [{ field: each.name, verdict: 'not_sent', expected: undefined, actual }];
    });
    return { found: true, updated_at: typeof record.updatedAt === 'string' ? record.updatedAt : null, fields };
  }
  return { found: false, updated_at: null, fields: [] };
}
