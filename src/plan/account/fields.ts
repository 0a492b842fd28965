/** Which fields of a record can be compared, and how. Pure functions. */
import { NumberText, type JsonValue } from '../../json.ts';
import { comparedFields, type ComparedField } from '../../kinds/index.ts';
import type { Entity } from '../../model.ts';
import type { Fields } from '../../service/list-page.ts';
import { shown } from './forms.ts';

/**
 * `normalised`: in a known form of the same value. `other_form`: in a form that cannot be interpreted, so equality is unknown.
 * `not_comparable`: the answer lacks the field.
 */
export type Likeness = 'same' | 'normalised' | 'different' | 'other_form' | 'not_comparable';

/**
 * `actual` is undefined if the answer lacks the field; null is a field without a value. `region`: the country of phone numbers
 * without a country code.
 */
export function likeness(field: ComparedField, expected: string, actual: unknown, region?: string): Likeness {
  if (actual === undefined) return 'not_comparable';
  if (isSame(field, expected, actual)) return 'same';
  const mayBe = (value: JsonValue | null): boolean => isAlike(field, expected, textOf(value ?? undefined));
  const what = shown(field.sent, actual, { mayBe, wanted: expected, region });
  if (what.kind === 'not_comparable') return 'other_form';
  return what.kind === 'value' && mayBe(what.value) ? 'normalised' : 'different';
}

function isSame({ form }: ComparedField, expected: string, actual: unknown): boolean {
  if (typeof actual !== 'string' && typeof actual !== 'number') return false;
  const text = String(actual);
  if (form === 'id') return text.toLowerCase() === expected.toLowerCase();
  return text === expected || (form === 'number' && text.trim() !== '' && Number(text) === Number(expected));
}

function isAlike({ form }: ComparedField, expected: string, value: string | undefined): boolean {
  if (value === undefined) return false;
  switch (form) {
    case 'id':
      return value.toLowerCase() === expected.toLowerCase();
    case 'number':
      return isRoundedTo(Number(value), Number(expected));
    case 'phone':
      return digits(value) === digits(expected);
    case 'text':
    case 'folded':
    case 'exact':
      return fold(value) === fold(expected);
  }
}

/** Whether it is the number, or the number in whole cents. */
function isRoundedTo(found: number, wanted: number): boolean {
  return found === wanted || (Number(found.toFixed(2)) === found && Math.abs(wanted - found) <= 0.005 + 1e-9);
}

function digits(text: string): string {
  return text.replace(/\D/g, '');
}

/** Equal for texts that differ only in case, spacing or Unicode form. */
export function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();
}

/** The value of a field as text; undefined if nothing is sent. Custom fields are only marked as present. */
export function textOf(value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (value instanceof NumberText) return value.text;
  return typeof value === 'object' ? '{…}' : String(value);
}

/** Of a record as the service shows it, only what is compared. */
export function shownFields(entity: Entity, record: Fields): Fields {
  const names = comparedFields(entity).flatMap(({ shown }) => shown ?? []);
  return Object.fromEntries(names.filter((name) => name in record).map((name) => [name, record[name]]));
}
