/** Words for what files and settings call by codes; the code stands beside them in small print. */
import { EVENT_TYPES, type EventType } from '../../model.ts';
import type { EventCounts } from '../summary.ts';
import { html, type Content, type Markup } from './markup.ts';
import { externalText, number } from './parts.ts';

const TYPES: Readonly<Record<EventType, readonly [one: string, several: string]>> = {
  'lead/created': ['lead', 'leads'],
  'lead/updated': ['update of a lead', 'updates of leads'],
  'deal/created': ['deal', 'deals'],
  'deal/updated': ['update of a deal', 'updates of deals'],
  'comment/created': ['comment', 'comments'],
};

export const OUTCOMES = {
  acknowledged: 'in the service',
  duplicates: 'duplicates',
  invalid: 'invalid',
  rejected: 'rejected',
  blocked: 'blocked',
  pending: 'not sent yet',
} as const satisfies Readonly<Partial<Record<keyof EventCounts, string>>>;

const FIELDS: Readonly<Record<string, string>> = {
  external_id: 'id in the old CRM',
  full_name: 'name',
  email: 'e-mail address',
  phone_number: 'phone number',
  title: 'title',
  amount: 'amount',
  currency: 'currency',
  lead_external_id: 'lead that it belongs to',
  deal_external_id: 'deal that it belongs to',
  stage_id: 'stage',
  stage_name: 'stage',
  owner_id: 'owner',
  owner_name: 'owner',
  content: 'text',
  author_name: 'author',
  stage_pipeline: 'pipeline of the stage',
  occurred_at: 'time of the event, for the audit log',
  priority: 'order of sending',
  when: 'condition',
  each: 'list of records',
};

const STOPS: Readonly<Record<string, string>> = {
  interrupted: 'it was interrupted',
  until: 'the time given for it was over',
  max_requests: 'the number of requests given for it was used up',
  outage: 'the service could not be reached for too long',
  rate_limited: 'the service refused requests as too many for too long',
  redis: 'Redis could not be reached for too long',
  too_many_errors: 'the service rejected too many events',
  rejections_in_a_row: 'the service rejected too many events in a row',
};

/** Words, with their code in small print. */
export function coded(words: Content, code: string): Markup {
  return html`${words} <code class="code">${externalText(code, 80)}</code>`;
}

/** The name of a type of events as a heading: `Leads`. */
export function typeName(type: EventType): string {
  return capital(TYPES[type][1]);
}

/** `7 deals`. Errors of whole records have no type. */
export function typeCount(type: string, count: number): string {
  const [one, several] = isType(type) ? TYPES[type] : type === '' ? ['record', 'records'] : [type, type];
  return `${number(count)} ${count === 1 ? one : several}`;
}

/** The most frequent types with their counts: `12 comments, 7 deals`. */
export function typeCounts(counts: ReadonlyMap<string, number>): string {
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 6)
    .map(([type, count]) => typeCount(type, count))
    .join(', ');
}

/** What one event of the type is: `lead`. */
export function typeNoun(type: string): string {
  return isType(type) ? TYPES[type][0] : type === '' ? 'record' : type;
}

/** A field or another key of an entry: `e-mail address`, `custom field “origin”`. */
export function fieldName(field: string): Markup {
  const [, custom] = /^custom_(?:params|fields)\.(.*)$/s.exec(field) ?? [];
  if (custom === '*') return html`other custom fields`;
  if (custom !== undefined) return html`custom field “${externalText(custom, 80)}”`;
  const name = Object.hasOwn(FIELDS, field) ? FIELDS[field]! : field;
  return name === field ? externalText(field, 80) : coded(name, field);
}

/** Why a run stopped before its end. */
export function stopText(reason: string): string {
  return Object.hasOwn(STOPS, reason) ? STOPS[reason]! : reason.replaceAll('_', ' ');
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function isType(type: string): type is EventType {
  return (EVENT_TYPES as readonly string[]).includes(type);
}
