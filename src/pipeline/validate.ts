import type { ZodType } from 'zod';
import { isObject, NumberText, type JsonObject, type JsonValue } from '../json.ts';
import { entityOf, type Entity, type EventType, type Issue } from '../model.ts';
import { commentData, dealData, FIELD_HINTS, FIELD_RULES, leadData } from '../service/contract.ts';

const SCHEMAS: Readonly<Record<Entity, ZodType>> = { lead: leadData, deal: dealData, comment: commentData };

/**
 * Everything that is known of what the service takes (service interface, sections 2.4 to 2.6), checked before a request
 * is spent on it.
 */
export function validate(type: EventType, data: JsonObject, occurredAt: string | undefined): Issue[] {
  const entity = entityOf(type);
  const issues: Issue[] = [];
  for (const [field, check] of Object.entries(FIELD_RULES)) {
    const value = data[field];
    const wrong = typeof value === 'string' ? check(value) : undefined;
    if (wrong) issues.push(invalid(`invalid_${field}`, field, `${field} \`${shorten(value as string)}\` ${wrong}`));
  }
  const parsed = SCHEMAS[entity].safeParse(data);
  if (!parsed.success) {
    for (const { path, message } of parsed.error.issues) {
      const field = path.map(String).join('.');
      if (!issues.some((issue) => issue.field === field)) issues.push(invalid('invalid_value', field, message));
    }
  }
  if (entity === 'comment' && (data.lead_external_id === undefined) === (data.deal_external_id === undefined)) {
    issues.push(
      invalid(
        data.lead_external_id === undefined ? 'missing_parent' : 'two_parents',
        'lead_external_id',
        data.lead_external_id === undefined
          ? 'the comment names neither a lead nor a deal'
          : 'the comment names both a lead and a deal (`if_both` decides)',
      ),
    );
  }
  if (occurredAt !== undefined && !/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(occurredAt)) {
    issues.push(invalid('invalid_occurred_at', 'occurred_at', `\`${occurredAt}\` is not ISO 8601 with an offset`));
  }
  const broken = findLoneSurrogate(data, '');
  if (broken) issues.push(invalid('lone_surrogate', broken, `${broken} holds half of a surrogate pair`));
  return issues;
}

function invalid(code: string, field: string, message: string): Issue {
  const hint = FIELD_HINTS[field];
  return { severity: 'error', kind: 'map', code, field, message, ...(hint ? { hint } : {}) };
}

function findLoneSurrogate(value: JsonValue, path: string): string | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : path;
  if (value === null || typeof value !== 'object' || value instanceof NumberText) return undefined;
  const members = isObject(value) ? Object.entries(value) : (value).entries();
  for (const [key, member] of members) {
    if (member === undefined) continue;
    if (typeof key === 'string' && !key.isWellFormed()) return path;
    const found = findLoneSurrogate(member, path === '' ? String(key) : `${path}.${key}`);
    if (found) return found;
  }
  return undefined;
}

/** For messages: at most 60 characters of a value. */
export function shorten(value: string): string {
  const characters = [...value];
  return characters.length > 60 ? `${characters.slice(0, 57).join('')}…` : value;
}
