import type { FieldHashes } from '../checkpoint/field-hashes.ts';
import { CheckpointReader } from '../checkpoint/read.ts';
import type { LastWrite } from './edited.ts';
import { entityOf, type Entity } from '../model.ts';

/** What the checkpoint says about one record. */
export interface LastSent extends LastWrite {
  /** Empty if no acknowledgement came with one. */
  readonly serviceId: string;
  /** Hashes of the values that were acknowledged last, by field. */
  readonly acknowledged: FieldHashes;
  /** Hashes of values that were sent after that and may have arrived, although no answer is recorded. */
  readonly unanswered: readonly FieldHashes[];
}

interface Story {
  at: number;
  onlyCreated: boolean;
  serviceId: string;
  acknowledged: Record<string, string>;
  unanswered: { readonly sha: string; readonly fields: Record<string, string> }[];
}

/** The key of a record in the result of `lastSent`. */
export function recordKey(entity: Entity, externalId: string): string {
  return `${entity} ${externalId}`;
}

/**
 * Reads the checkpoint for what was last sent of the records in `wanted` (see `recordKey`), by any event about them. `keyId`: of
 * the key that hashes of fields are compared with. Throws a `UserError` if a line is damaged.
 */
export async function lastSent(
  checkpoint: string,
  keyId: string,
  wanted: ReadonlySet<string>,
): Promise<ReadonlyMap<string, LastSent>> {
  const stories = new Map<string, Story>();
  const reader = new CheckpointReader(checkpoint, keyId);
  for await (const lines of reader.pieces()) {
    for (const line of lines) {
      if (line.kind !== 'sent' && line.kind !== undefined) continue;
      if (line.external_id === null) continue;
      const key = recordKey(entityOf(line.type), line.external_id);
      if (!wanted.has(key)) continue;
      const story = stories.get(key) ?? { at: 0, onlyCreated: true, serviceId: '', acknowledged: {}, unanswered: [] };
      stories.set(key, story);
      if (line.kind === 'sent') {
        story.unanswered.push({ sha: line.content_sha, fields: { ...line.fields } });
      } else if (line.status === 'acknowledged') {
        story.onlyCreated = story.at === 0 && line.outcome === 'created';
        story.at = Date.parse(line.at);
        story.serviceId = line.entity_id || story.serviceId;
        // The record has the content of an earlier request: its line has no fields (`changed`).
        const earlier = story.unanswered.find(({ sha }) => sha === line.content_sha);
        const fields = Object.keys(line.fields).length > 0 ? line.fields : (earlier?.fields ?? {});
        Object.assign(story.acknowledged, fields);
        const known = Object.keys(fields);
        for (const sent of story.unanswered) for (const name of known) delete sent.fields[name];
        story.unanswered = story.unanswered.filter((sent) => Object.keys(sent.fields).length > 0);
      }
    }
  }
  reader.assertUndamaged();
  return new Map(
    [...stories].map(([key, story]) => [key, { ...story, unanswered: story.unanswered.map(({ fields }) => fields) }]),
  );
}
