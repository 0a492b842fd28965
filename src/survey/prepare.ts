import { contentSha } from '../core/identity.ts';
import { canonicalJson, type JsonObject, type JsonValue } from '../json.ts';
import { entityOf, parentOf, type Draft, type Invalid, type Issue, type Ready, type Writable } from '../model.ts';
import { oversized } from '../plan/body-size.ts';
import type { Resolution, Resolver } from './resolve.ts';
import { validate } from './validate.ts';

/** Turns a mapped event into one that can be sent as is, or into an invalid one with the reasons why it cannot. */
export function prepare(draft: Draft, resolver: Resolver): Ready | Invalid {
  const { type, entry, place, omissions, occurredAt, priority, heading } = draft;
  const { data, issues: unresolved } = resolveReferences(draft, resolver);
  const issues = [...draft.issues, ...unresolved];
  let content = '';
  if (!issues.some(isError)) {
    content = canonicalJson(data);
    issues.push(...validate(type, data, content), ...oversized(content));
  }
  const id = data.external_id;
  const externalId = typeof id === 'string' && id !== '' ? id : undefined;
  if (issues.some(isError)) {
    const invalid: Writable<Invalid> = { kind: 'invalid', type, entry, place, issues, omissions };
    if (externalId !== undefined) invalid.externalId = externalId;
    return invalid;
  }
  const sha = contentSha(type, content);
  const ready: Writable<Ready> = { kind: 'ready', type, entry, place, data, content, sha, issues, omissions };
  if (externalId !== undefined) ready.externalId = externalId;
  if (occurredAt !== undefined) ready.occurredAt = occurredAt;
  if (priority !== undefined) ready.priority = priority;
  if (heading !== undefined) ready.heading = heading;
  const parent = parentOf(type, data);
  if (parent) ready.parent = parent;
  return ready;
}

function isError({ severity }: Issue): boolean {
  return severity === 'error';
}

/** Names can be mapped in the mapping, ids cannot. */
const ID_HINTS = {
  stage_id:
    'ids of stages are those of the target account, as `crm-backfill api GET /pipelines --query type=DEAL` lists them: correct it, or map the name of the stage to `stage_name` instead',
  owner_id:
    'ids of users are those of the target account, as `crm-backfill api GET /platform-users` lists them: correct it, or map the name of the user to `owner_name` instead',
} as const;

/** Section 2.5: a UUID is authoritative. */
function disagreement(kind: 'stage' | 'owner', id: string, name: string, other: string): Issue {
  return {
    severity: 'warning',
    kind: 'map',
    code: kind === 'stage' ? 'stage_disagrees' : 'owner_disagrees',
    field: `${kind}_id`,
    message: `\`${kind}_id\` is ${other} (\`${id}\`), and \`${kind}_name\` is \`${name}\`: the id is sent`,
  };
}

/** Replaces names of stages and owners with their ids. */
function resolveReferences(draft: Draft, resolver: Resolver): { data: JsonObject; issues: readonly Issue[] } {
  const { data: given, place } = draft;
  if (entityOf(draft.type) !== 'deal') return { data: given, issues: [] };
  const { stage_name: stage, owner_name: owner, ...rest } = given;
  const data: Record<string, JsonValue | undefined> = rest;
  const issues: Issue[] = [];
  const take = (field: 'stage' | 'owner', name: string, resolution: Resolution): void => {
    if (resolution.kind === 'resolved') data[`${field}_id`] = resolution.target.id;
    else if (resolution.kind === 'failed') issues.push(resolution.issue);
    else if (resolution.kind === 'unknown_account') data[`${field}_name`] = name;
  };
  if (data.stage_id === undefined && typeof stage === 'string') {
    take('stage', stage, resolver.stage(stage, draft.stagePipeline, place));
  }
  if (data.owner_id === undefined && typeof owner === 'string') take('owner', owner, resolver.owner(owner, place));
  for (const [kind, name] of [
    ['stage', stage],
    ['owner', owner],
  ] as const) {
    const id = given[`${kind}_id`];
    if (typeof id !== 'string' || typeof name !== 'string') continue;
    const other = resolver.disagrees(kind, id, name, draft.stagePipeline);
    if (other !== undefined) issues.push(disagreement(kind, id, name, other));
  }
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
      hint: ID_HINTS[field],
    });
  }
  return { data, issues };
}
