import { contentSha } from '../core/identity.ts';
import { canonicalJson, type JsonObject, type JsonValue, isObject, NumberText } from '../json.ts';
import { entityOf, parentOf, STAGED, kindOfType } from '../kinds/index.ts';
import type { Draft, EventType, Invalid, Ready } from '../model.ts';
import { oversized } from '../plan/rows/body-size.ts';
import type { Resolver } from './resolve.ts';
import { issueOf } from '../report/words/words.ts';
import type { Problem } from '../problem.ts';

/** Turns a mapped event into one that can be sent as is, or into an invalid one with the reasons why it cannot. */
export function prepare(draft: Draft, resolver: Resolver): Ready | Invalid {
  const { type, entry, place, omissions, occurredAt, priority, heading } = draft;
  const { data, issues: unresolved } = resolveReferences(draft, resolver);
  const issues = [...draft.issues, ...unresolved];
  let content = '';
  if (!issues.some(isError)) {
    content = canonicalJson(data);
    for (const issue of [...validate(type, data, content), ...oversized(content, { type, occurred_at: occurredAt })])
      issues.push(issue);
  }
  const id = data.external_id;
  const externalId = typeof id === 'string' && id !== '' ? id : undefined;
  const parent = parentOf(type, data);
  if (issues.some(isError)) return { kind: 'invalid', type, entry, place, issues, omissions, externalId, parent };
  return {
    kind: 'ready',
    type,
    entry,
    place,
    issues,
    omissions,
    externalId,
    parent,
    data,
    content,
    sha: contentSha(type, content),
    occurredAt,
    priority,
    heading,
  };
}

function isError({ severity }: Problem): boolean {
  return severity === 'error';
}

const REFERENCES = [
  { kind: 'stage', field: 'stage_id', nameField: 'stage_name' },
  { kind: 'owner', field: 'owner_id', nameField: 'owner_name' },
] as const;

/** Replaces names of stages and owners with their ids. */
function resolveReferences(draft: Draft, resolver: Resolver): { data: JsonObject; issues: readonly Problem[] } {
  const { data: given, place } = draft;
  if (entityOf(draft.type) !== STAGED) return { data: given, issues: [] };
  const { stage_name: _, owner_name: __, ...rest } = given;
  const data: Record<string, JsonValue | undefined> = rest;
  const issues: Problem[] = [];
  for (const { kind, field, nameField } of REFERENCES) {
    const id = given[field];
    const name = given[nameField];
    const pipeline = kind === 'stage' ? draft.stagePipeline : undefined;
    if (typeof name === 'string' && id === undefined) {
      const found = kind === 'stage' ? resolver.stage(name, pipeline, place) : resolver.owner(name, place);
      if (found.kind === 'resolved') data[field] = found.target.id;
      else if (found.kind === 'failed') issues.push(found.issue);
      else if (found.kind === 'unknown_account') data[nameField] = name;
    }
    if (typeof id !== 'string') continue;
    const other = typeof name === 'string' ? resolver.disagrees(kind, id, name, pipeline) : undefined;
    // Section 2.5: a UUID is authoritative.
    if (other !== undefined) issues.push(issueOf(`${kind}_disagrees`, id, other, name as string).with({ field }));
    // Names can be mapped in the mapping, ids cannot.
    if (!resolver.knows(field, id)) issues.push(issueOf(`unresolved_${kind}/id`, id).with({ field }));
  }
  return { data, issues };
}

/**
 * Checks an event against the service interface (sections 2.4 to 2.6) before a request is spent on it. The rules of single
 * fields, and that a comment has one parent, were applied when it was mapped. `content` is the canonical JSON of `data`.
 */
export function validate(type: EventType, data: JsonObject, content: string): readonly Problem[] {
  const issues = wrongFields(type, data);
  // JSON.stringify escapes half of a surrogate pair, so content without that escape has none.
  const broken = content.includes('\\ud') ? findLoneSurrogate(data, '') : undefined;
  if (broken) issues.push(issueOf('lone_surrogate', broken).with({ field: broken }));
  return issues;
}

/** The errors that the schema finds in the fields. */
function wrongFields(type: EventType, data: JsonObject): Problem[] {
  const parsed = kindOfType(type).data.safeParse(data);
  if (parsed.success) return [];
  const issues: Problem[] = [];
  for (const { path, message } of parsed.error.issues) {
    const field = path.map(String).join('.');
    if (!issues.some((issue) => issue.field === field)) issues.push(issueOf('invalid_value', message).with({ field }));
  }
  return issues;
}

function findLoneSurrogate(value: JsonValue, path: string): string | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : path;
  if (value === null || typeof value !== 'object' || value instanceof NumberText) return undefined;
  const members = isObject(value) ? Object.entries(value) : value.entries();
  for (const [key, member] of members) {
    if (member === undefined) continue;
    if (typeof key === 'string' && !key.isWellFormed()) return path;
    const found = findLoneSurrogate(member, path === '' ? String(key) : `${path}.${key}`);
    if (found) return found;
  }
  return undefined;
}
