/** Suggestions for a record that is not known. */
import { dirname, join } from 'node:path';
import { entityOf } from '../model.ts';
import { plannedRecords } from '../plan/plan-file.ts';
import { nearest } from '../problem.ts';
import { parseLine, wholeLines } from '../report/lines.ts';
import type { NamedRecord } from '../settings.ts';
import { ERRORS_FILE, type ErrorLine } from './fates.ts';

/** Ids that are compared at once, so that memory does not grow with the plan. */
const BATCH = 10_000;

/** Records of the plan and its errors (`lead:100`): other entities with this id, and those with nearly this one. */
export async function similarRecords(
  plan: string,
  { entity, externalId }: NamedRecord,
): Promise<{ readonly sameId: readonly string[]; readonly near: readonly string[] }> {
  const sameId = new Set<string>();
  let near: string[] = [];
  let batch: string[] = [];
  const compare = (): void => {
    near = nearest(externalId, [...near, ...batch]);
    batch = [];
  };
  for await (const known of knownRecords(plan)) {
    if (known.externalId === externalId) sameId.add(known.entity);
    else if (known.entity === entity && batch.push(known.externalId) >= BATCH) compare();
  }
  compare();
  return { sameId: [...sameId].map((other) => `${other}:${externalId}`), near: near.map((id) => `${entity}:${id}`) };
}

async function* knownRecords(plan: string): AsyncGenerator<NamedRecord, void, undefined> {
  yield* plannedRecords(plan);
  for await (const text of wholeLines(join(dirname(plan), ERRORS_FILE))) {
    const { event_type: type, external_id: externalId } = parseLine<ErrorLine>(text) ?? {};
    if (type && externalId) yield { entity: entityOf(type), externalId };
  }
}
