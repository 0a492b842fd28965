/** Which fields of a record can be compared, and how. Pure functions. */
import { NumberText, type JsonValue } from '../json.ts';
import type { Entity } from '../model.ts';
import type { Fields } from '../service/list-page.ts';

/** Comments cannot be read back: no documented list of the service contains their text. */
export const CHECKED = ['lead', 'deal'] as const satisfies readonly Entity[];
export type Checked = (typeof CHECKED)[number];

export interface ComparedField {
  readonly name: string;
  /** The field of the event's data that determines it. */
  readonly sent: string;
  /** Its name in the answers of the service (service interface, section 2.2); undefined if the service does not return it. */
  readonly shown: string | undefined;
  readonly like: 'text' | 'phone' | 'number' | 'id';
}

function field(
  sent: string,
  shown: string | undefined,
  like: ComparedField['like'] = 'text',
  name = sent,
): ComparedField {
  return { name, sent, shown, like };
}

export const COMPARED: Readonly<Record<Checked, readonly ComparedField[]>> = {
  lead: [
    field('full_name', 'fullName'),
    field('email', 'email'),
    field('phone_number', 'phoneNumber', 'phone'),
    field('custom_params', undefined),
  ],
  deal: [
    field('title', 'title'),
    field('amount', 'amount', 'number'),
    field('currency', 'currency'),
    field('stage_id', 'stageId', 'id'),
    field('stage_id', 'pipelineId', 'id', 'pipeline'),
    field('lead_external_id', 'primaryContactId', 'id'),
    // The service may set the account's owner regardless of what was sent (section 5).
    field('owner_id', undefined),
    field('custom_fields', undefined),
  ],
};

export type Likeness = 'same' | 'normalised' | 'different' | 'not_comparable';

/** `actual` is undefined if the answer lacks the field; null is a field without a value. */
export function likeness({ like }: ComparedField, expected: string, actual: unknown): Likeness {
  if (actual === undefined) return 'not_comparable';
  if (typeof actual !== 'string' && typeof actual !== 'number') return 'different';
  const shown = String(actual);
  if (shown === expected) return 'same';
  switch (like) {
    case 'id':
      return shown.toLowerCase() === expected.toLowerCase() ? 'same' : 'different';
    case 'number':
      return numbersAlike(expected, shown);
    case 'phone':
      return digits(shown) === digits(expected) ? 'normalised' : 'different';
    case 'text':
      return fold(shown) === fold(expected) ? 'normalised' : 'different';
  }
}

/** `"1250.50"` equals 1250.5; a value rounded to cents counts as normalised. */
function numbersAlike(expected: string, shown: string): Likeness {
  const [wanted, found] = [Number(expected), Number(shown)];
  if (shown.trim() === '' || Number.isNaN(found)) return 'different';
  if (wanted === found) return 'same';
  const isRounded = Number(found.toFixed(2)) === found && Math.abs(wanted - found) <= 0.005 + 1e-9;
  return isRounded ? 'normalised' : 'different';
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
export function shownFields(entity: Checked, record: Fields): Fields {
  const names = COMPARED[entity].flatMap(({ shown }) => shown ?? []);
  return Object.fromEntries(names.filter((name) => name in record).map((name) => [name, record[name]]));
}
