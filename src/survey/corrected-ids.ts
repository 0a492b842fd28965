import { entityOf } from '../kinds/index.ts';
import type { Draft, Issue } from '../model.ts';
import { issueOf } from '../vocabulary/words.ts';

/** The external ids that a correction changes, as warnings: a spreadsheet makes `123` of `00123`. `before`: of the record as it was. */
export function correctedIds(before: readonly Draft[], after: readonly Draft[]): Issue[] {
  const [old, now] = [idsOf(before), idsOf(after)];
  return [...old].flatMap(([entity, ids]) => {
    const kept = now.get(entity) ?? new Set();
    const added = [...kept].filter((id) => !ids.has(id));
    const lost = [...ids].filter((id) => !kept.has(id)).slice(0, added.length);
    return lost.map((id, index) => changed(entity, id, added[index]!));
  });
}

function idsOf(drafts: readonly Draft[]): ReadonlyMap<string, ReadonlySet<string>> {
  const ids = new Map<string, Set<string>>();
  for (const { type, data } of drafts) {
    if (typeof data.external_id !== 'string') continue;
    const entity = entityOf(type);
    ids.set(entity, (ids.get(entity) ?? new Set()).add(data.external_id));
  }
  return ids;
}

function changed(entity: string, from: string, to: string): Issue {
  return { ...issueOf('corrected_id', entity, from, to), field: 'external_id' };
}
