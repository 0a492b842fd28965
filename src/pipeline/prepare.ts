import { canonicalJson, type JsonObject, type JsonValue } from '../json.ts';
import { entityOf, type Draft, type Invalid, type Issue, type ParentRef, type Ready } from '../model.ts';
import { LIMITS } from '../service/contract.ts';
import type { Resolution, Resolver } from './resolve.ts';
import { validate } from './validate.ts';

/** Room for the envelope around the data: id, type, time and the flag (service interface, section 2.3). */
const ENVELOPE_BYTES = 512;

/** From a mapped event to one that could be sent as it stands, or to the reasons why not. Pure but for the resolver's memory. */
export function prepare(draft: Draft, resolver: Resolver): Ready | Invalid {
  const issues: Issue[] = [...draft.issues];
  const data = resolveReferences(draft, resolver, issues);
  const mapped = issues.every(({ severity }) => severity !== 'error');
  if (mapped) issues.push(...validate(draft.type, data, draft.occurredAt), ...oversized(data));
  const externalId = typeof data.external_id === 'string' && data.external_id !== '' ? data.external_id : undefined;
  const common = {
    type: draft.type,
    entry: draft.entry,
    place: draft.place,
    ...(externalId === undefined ? {} : { externalId }),
    issues,
    omissions: draft.omissions,
  };
  if (issues.some(({ severity }) => severity === 'error')) return { kind: 'invalid', ...common };
  const parent = parentOf(draft, data);
  return {
    kind: 'ready',
    ...common,
    data,
    ...(parent ? { parent } : {}),
    ...(draft.occurredAt === undefined ? {} : { occurredAt: draft.occurredAt }),
  };
}

/** Names never go out where a UUID can: each is replaced by the id it stands for. */
function resolveReferences(draft: Draft, resolver: Resolver, issues: Issue[]): JsonObject {
  const { stage_name: stage, owner_name: owner, ...rest } = draft.data;
  const data: Record<string, JsonValue | undefined> = rest;
  const take = (field: 'stage' | 'owner', name: string, resolution: Resolution): void => {
    if (resolution.kind === 'resolved') data[`${field}_id`] = resolution.id;
    else if (resolution.kind === 'failed') issues.push(resolution.issue);
    else if (resolution.kind === 'unknown_account') data[`${field}_name`] = name;
  };
  if (data.stage_id === undefined && typeof stage === 'string') {
    take('stage', stage, resolver.stage(stage, draft.stagePipeline));
  }
  if (data.owner_id === undefined && typeof owner === 'string') take('owner', owner, resolver.owner(owner));
  for (const field of ['stage_id', 'owner_id'] as const) {
    const id = data[field];
    if (typeof id !== 'string' || resolver.knows(field, id)) continue;
    const noun = field === 'stage_id' ? 'stage of a deal pipeline' : 'user';
    issues.push({
      severity: 'error',
      kind: 'resolve',
      code: field === 'stage_id' ? 'unresolved_stage' : 'unresolved_owner',
      field,
      message: `the account has no ${noun} with the id \`${id}\``,
    });
  }
  return data;
}

function oversized(data: JsonObject): Issue[] {
  const bytes = Buffer.byteLength(canonicalJson(data)) + ENVELOPE_BYTES;
  if (bytes <= LIMITS.bodyBytes) return [];
  const message = `the event has ${bytes} bytes; the service takes at most ${LIMITS.bodyBytes}`;
  return [{ severity: 'error', kind: 'map', code: 'body_too_large', message, hint: 'shorten a field with `truncate`' }];
}

function parentOf(draft: Draft, data: JsonObject): ParentRef | undefined {
  const { lead_external_id: lead, deal_external_id: deal } = data;
  if (entityOf(draft.type) === 'lead') return undefined;
  if (typeof deal === 'string') return { entity: 'deal', externalId: deal };
  return typeof lead === 'string' ? { entity: 'lead', externalId: lead } : undefined;
}
