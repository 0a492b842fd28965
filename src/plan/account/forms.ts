/**
 * The meaning of a field as the service shows it, which may be another form of the value that was sent. Pure.
 *
 * Sent values are known by their hashes alone, so a form is interpreted by asking `mayBe` about each value that it can mean. A form
 * that cannot be interpreted is not an edit: it overwrites nothing and confirms nothing.
 */
import { domainToASCII, domainToUnicode } from 'node:url';
import type { JsonValue } from '../../json.ts';
import { e164Of } from '../../mapping/transforms/phone.ts';
import { isCurrency } from '../../kinds/currencies.ts';
import { isFields } from '../../service/list-page.ts';
import { printable, shortened } from '../../report/words/visible.ts';

/**
 * - `empty`: the field has no value.
 * - `value`: it has this one. Where the service only uses another form, it is the value that was sent, so that its hash can be compared.
 * - `not_comparable`: unknown. `example`: what the service shows, shortened, for a message.
 */
export type Shown =
  | { readonly kind: 'empty' }
  | { readonly kind: 'value'; readonly value: JsonValue }
  | { readonly kind: 'not_comparable'; readonly example: string };

interface Expectation {
  /**
   * Whether the field may have this value: by all that was sent, or since the input wants it. `null`: it may have none. Compares
   * in the normal form of the field (`normalForm` in store/field-hashes).
   */
  readonly mayBe: (value: JsonValue | null) => boolean;
  /** What the input wants, if it has a value. */
  readonly wanted?: JsonValue | undefined;
  /** The country of phone numbers without a country code (`defaults.region`). */
  readonly region?: string | undefined;
}

/**
 * Interprets what the service shows of a field. `field`: its name in the data of an event (`amount`). `raw`: as the answer of the
 * service has it, for a field that the answer has; for a deal's lead the external id of the lead that it names.
 *
 * Understood are: no value as null, an empty text, blanks or an empty list, and as zero in an amount; a list of one element;
 * an amount as number, as decimal text, or as `{ value }`; a phone number in the form of `region`; the domain of an address in
 * Unicode or Punycode; and what `normalForm` treats as equal.
 *
 *     shown('amount', '0.00', { mayBe: (value) => value === null })           // empty: it was never set
 *     shown('amount', 98050, { mayBe: (value) => value === 980.5 })           // not_comparable: cents?
 *     shown('amount', 1200, { mayBe: (value) => value === 980.5 })            // the value 1200: somebody's edit
 *
 * Where values are known by their hashes, `mayBe` is `(value) => hashes.has(value === null ? ABSENT : hashOf(field, value))`, over
 * every value that the field may have and the one that is wanted.
 */
export function shown(field: string, raw: unknown, expectation: Expectation): Shown {
  const content = Array.isArray(raw) && raw.length === 1 ? (raw as unknown[])[0] : raw;
  const notComparable: Shown = { kind: 'not_comparable', example: exampleOf(raw) };
  if (isEmpty(content)) return { kind: 'empty' };
  const { known, possible = [] } = formsOf(field, content, expectation);
  const found = known.find(expectation.mayBe);
  if (found !== undefined) return found === null ? { kind: 'empty' } : { kind: 'value', value: found };
  const [edited] = known;
  if (edited === undefined || edited === null) return notComparable;
  for (const value of possible) if (value === UNCERTAIN || expectation.mayBe(value)) return notComparable;
  return { kind: 'value', value: edited };
}

/** Where this many records were read back, their edits may be no edits. */
const MIN_RECORDS = 5;

/**
 * Whether a field is shown in another form rather than edited, because nobody edits most records. `unexplained`: how many of
 * the records that were read back show a value that is neither wanted nor was sent.
 */
export function isLikelyForm({ read, unexplained }: { readonly read: number; readonly unexplained: number }): boolean {
  return read >= MIN_RECORDS && unexplained > read / 2;
}

function isEmpty(content: unknown): boolean {
  if (Array.isArray(content)) return content.length === 0;
  return content === null || (typeof content === 'string' && content.trim() === '');
}

/** May mean any value: whatever was sent may be shown like this. */
const UNCERTAIN = Symbol('uncertain');

interface Forms {
  /** The values that it is, in a known form; the first one if none of them is expected. None: it cannot be interpreted. */
  readonly known: readonly (JsonValue | null)[];
  /** Values that it may mean: if one of them is expected, the result is unknown. */
  readonly possible?: Iterable<JsonValue | null | typeof UNCERTAIN>;
}

const UNREADABLE: Forms = { known: [] };

function formsOf(field: string, content: unknown, { region, wanted }: Expectation): Forms {
  if (field === 'amount') return amountForms(content);
  if (typeof content !== 'string' && typeof content !== 'number') return UNREADABLE;
  const text = String(content);
  switch (field) {
    case 'phone_number':
      return phoneForms(text, region);
    case 'email':
      return { known: [text, ...otherDomains(text)], possible: otherTexts(text.toLowerCase(), lowerCase(wanted)) };
    case 'currency':
      // Without one, the service may show the currency of the account.
      return isCurrency(text.trim().toUpperCase()) ? { known: [text], possible: [null] } : UNREADABLE;
    case 'full_name':
    case 'title':
      return { known: [text], possible: otherTexts(text, wanted) };
    case 'content':
      return { known: [text], possible: MARKUP.test(text) ? [UNCERTAIN] : otherTexts(text, wanted) };
    default:
      return { known: [text] };
  }
}

const MARKUP = /<\w[^>]*>/;

const DECIMAL = /^\s*-?\d+(?:\.\d+)?\s*$/;

function amountForms(content: unknown): Forms {
  const inner = isFields(content) && 'value' in content ? content.value : content;
  if (isEmpty(inner)) return { known: [null] };
  const isNumber = typeof inner === 'number' || (typeof inner === 'string' && DECIMAL.test(inner));
  if (!isNumber) return UNREADABLE;
  const amount = Number(inner);
  return { known: amount === 0 ? [0, null] : [amount], possible: otherAmounts(amount) };
}

/** In cents; or rounded, up or down. */
function* otherAmounts(amount: number): Generator<number> {
  const isWhole = Number.isInteger(amount);
  if (isWhole) yield amount / 100;
  const around = isWhole ? 99 : 1;
  const cents = Math.round(amount * 100);
  for (let apart = 1; apart <= around; apart += 1) yield* [(cents - apart) / 100, (cents + apart) / 100];
}

/** A national number that is none of ours may be one of another country. */
function phoneForms(text: string, region: string | undefined): Forms {
  const number = e164Of(text, region);
  const known = number === undefined ? [text] : [text, number];
  return text.trim().startsWith('+') ? { known } : { known, possible: [UNCERTAIN] };
}

function otherDomains(address: string): string[] {
  const at = address.lastIndexOf('@') + 1;
  const domain = address.slice(at).trim();
  return [domainToUnicode(domain), domainToASCII(domain)]
    .filter((other) => at > 0 && other !== '')
    .map((other) => address.slice(0, at) + other);
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

/** Escaped for HTML, all in capitals or small letters, or cut off. */
function* otherTexts(text: string, wanted: JsonValue | undefined): Generator<string | typeof UNCERTAIN> {
  const unescaped = text.replace(/&(?:#(\d{1,6})|#x([\da-f]{1,5})|(\w+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name as string] ?? whole;
    return String.fromCodePoint(hex === undefined ? Number(decimal) : parseInt(hex as string, 16));
  });
  if (unescaped !== text) yield unescaped;
  if (typeof wanted !== 'string') return;
  if (isOneCase(text) && !isOneCase(wanted)) yield UNCERTAIN;
  if (wanted.startsWith(text.replace(/\s*(?:…|\.\.\.)?\s*$/, ''))) yield UNCERTAIN;
}

function lowerCase(value: JsonValue | undefined): JsonValue | undefined {
  return typeof value === 'string' ? value.toLowerCase() : value;
}

function isOneCase(text: string): boolean {
  return text.toUpperCase() === text || text.toLowerCase() === text;
}

function exampleOf(raw: unknown): string {
  return shortened(printable(typeof raw === 'string' ? raw : JSON.stringify(raw)), 60);
}
