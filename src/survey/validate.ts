import { isObject, NumberText, type JsonObject, type JsonValue } from '../json.ts';
import { kindOfType } from '../kinds/index.ts';
import type { EventType, Issue } from '../model.ts';
import { issueOf } from '../vocabulary/words.ts';

/**
 * Checks an event against the service interface (sections 2.4 to 2.6) before a request is spent on it. The rules of single
 * fields, and that a comment has one parent, were applied when it was mapped. `content` is the canonical JSON of `data`.
 */
export function validate(type: EventType, data: JsonObject, content: string): readonly Issue[] {
  const issues = wrongFields(type, data);
  // JSON.stringify escapes half of a surrogate pair, so content without that escape has none.
  const broken = content.includes('\\ud') ? findLoneSurrogate(data, '') : undefined;
  if (broken) issues.push({ ...issueOf('lone_surrogate', broken), field: broken });
  return issues;
}

/** The errors that the schema finds in the fields. */
function wrongFields(type: EventType, data: JsonObject): Issue[] {
  const parsed = kindOfType(type).data.safeParse(data);
  if (parsed.success) return [];
  const issues: Issue[] = [];
  for (const { path, message } of parsed.error.issues) {
    const field = path.map(String).join('.');
    if (!issues.some((issue) => issue.field === field)) issues.push({ ...issueOf('invalid_value', message), field });
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
