/** Values as text: for fields, keys and messages. */
import { NumberText, type JsonValue } from '../json.ts';

/** A value in a message: in backticks, on one line, at most 60 characters. */
export function shown(value: JsonValue | undefined): string {
  const text = originalText(value).replace(/\s+/g, ' ');
  const points = text.length > 60 ? [...text] : undefined;
  return `\`${points && points.length > 60 ? `${points.slice(0, 59).join('')}…` : text}\``;
}

/** More items of a list are counted. */
const MOST_LISTED = 12;

/** `A, B and C`; of a long list the first, and how many more there are. */
export function enumerated(items: readonly string[], word: 'and' | 'or'): string {
  if (items.length > MOST_LISTED) {
    return `${items.slice(0, MOST_LISTED).join(', ')} and ${items.length - MOST_LISTED} more`;
  }
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} ${word} ${items.at(-1)}`;
}

/** The text of a scalar; numbers keep all their digits. Undefined for lists, objects and null. */
export function textOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return value instanceof NumberText ? value.text : undefined;
}

/** Any value as readable text. */
export function originalText(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  return (
    textOf(value) ??
    JSON.stringify(value, (_key, member: unknown) => (member instanceof NumberText ? member.text : member))
  );
}
