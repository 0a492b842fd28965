/** The fields of an event's data: the values that the mapping gives them, checked by the rules of the service. */
import { kindOfType, type KindField } from '../../kinds/index.ts';
import { NumberInText, type JsonValue } from '../../json.ts';
import { FIELD_RULES } from '../../contract.ts';
import { REST_KEY, restOfRecord } from './rest.ts';
import { ABSENT, valueText, withOriginal, type Evaluate, type Result, type RowContext } from './result.ts';
import type { EntrySpec, ValueSpec } from '../spec.ts';
import { hasFourDigitYear, readIso, warnIfFar } from '../transforms/date-format.ts';
import { exactNumber } from '../transforms/number.ts';
import type { Lack } from '../not-in-export.ts';
import { reportLacks, type ValueContext } from './compile-context.ts';
import { asText, compileValue, notScalar } from './value.ts';
import { issueOf } from '../../report/words/words.ts';
import { Problem } from '../../problem.ts';

export interface CompiledField {
  /** The name in issues: `custom_params.origin`. */
  readonly name: string;
  readonly key: string;
  /** `custom_params` or `custom_fields` for a custom field. */
  readonly within: string | undefined;
  readonly required: boolean;
  readonly evaluate: Evaluate;
}

/** None if the export lacks its columns, which is a problem where they are those of an id, a name, a title or a text. */
export function compileField(field: KindField, spec: EntrySpec, base: ValueContext): CompiledField[] {
  const given = spec.data[field.name];
  if (given === undefined) return [];
  const context: ValueContext = { ...base, path: [...base.path.slice(0, -1), 'data', field.name], kind: field.type };
  if (field.type !== 'custom') {
    const lacking: Lack[] = [];
    const evaluate = compileValue(given, { ...context, lacking }, checkOf(field.name, field.type));
    const isNeeded = field.type === 'id' || field.name === kindOfType(spec.type).namedBy;
    if (isNeeded && evaluate === ABSENT) reportLacks(context, lacking);
    else context.lacking.push(...lacking);
    if (evaluate === ABSENT) return [];
    return [{ name: field.name, key: field.name, within: undefined, required: field.isRequired, evaluate }];
  }
  return Object.entries(given as Readonly<Record<string, ValueSpec>>).flatMap(([key, value]) => {
    if (key === REST_KEY) return [];
    const name = `${field.name}.${key}`;
    const asJson = typeof value !== 'string' && value.as === 'json';
    const frame = asJson ? { ...context.frame, verbatim: true } : context.frame;
    const check = asJson ? (json: JsonValue): Result => json : CHECKS.custom;
    const evaluate = compileValue(value, { ...context, frame, path: [...context.path, key], field: name }, check);
    if (evaluate === ABSENT) return [];
    return { name, key, within: field.name, required: false, evaluate };
  });
}

/** Compiles `"*": rest` where the entry has it, and adds what it reads to the uses: to be called after all other values. */
export function compileRest(spec: EntrySpec, context: ValueContext): TakeRest | undefined {
  const field = kindOfType(spec.type).fields.find(({ type }) => type === 'custom');
  const custom = field && (spec.data[field.name] as Readonly<Record<string, ValueSpec>> | undefined);
  if (!custom || custom[REST_KEY] === undefined) return undefined;
  const { name: within } = field;
  const rest = restOfRecord(context.frame, spec.each !== undefined, context.uses);
  const at = context.compilation.locate([...context.path.slice(0, -1), 'data', within, REST_KEY]);
  for (const { path, column } of rest.paths) {
    const use = { field: `${within}.${path}`, path, at, column, isRest: true, isNumber: false, decides: undefined };
    context.uses.push({ ...use, evaluate: () => undefined });
  }
  return (row, data) => {
    for (const [key, value] of rest.read(row)) {
      row.field = `${within}.${key}`;
      const result = Object.hasOwn(custom, key) ? issueOf('name_taken', valueText(key)) : CHECKS.custom(value);
      if (result instanceof Problem) row.omit(withOriginal(result, value));
      else if (result !== undefined) setField(data, { key, within }, result);
    }
  };
}

export type TakeRest = (row: RowContext, data: Record<string, JsonValue>) => void;

export function setField(
  data: Record<string, JsonValue>,
  { key, within }: Pick<CompiledField, 'key' | 'within'>,
  value: JsonValue,
): void {
  const object = within === undefined ? data : ((data[within] ??= {}) as Record<string, JsonValue>);
  // Custom fields have free names: assigning to `__proto__` would set the prototype instead.
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

/** `3.93E+11`, `1.2345e+19`: what a spreadsheet or a program leaves of a long number, also behind a prefix. */
const SCIENTIFIC = /(?:^|[^\p{L}\d])\d(?:[.,]\d+)?E[+-]\d\d+$/iu;

/** Records whose ids are cut short would become one, so such an id is never sent. */
function asId(value: JsonValue): string | Problem {
  const text = asText(value);
  if (text instanceof Problem) return text;
  if (text.startsWith('=')) return issueOf('formula_cell/id', valueText(text));
  return SCIENTIFIC.test(text) ? issueOf('scientific_id', valueText(text)) : text;
}

const CHECKS = {
  id: asId,
  parent: asId,
  text: asText,
  number: exactNumber,
  custom: (value: JsonValue): Result =>
    value instanceof NumberInText
      ? value.text
      : typeof value === 'object' && (Array.isArray(value) || asText(value) instanceof Problem)
        ? notScalar(value, 'set `as: json` to send it as it is, or take one value of it')
        : value,
} as const;

/** Of fields that people write in several ways: the way that the service accepts. */
const AS_WRITTEN: Readonly<Record<string, (text: string) => string>> = {
  currency: (text) => text.toUpperCase(),
  email: bareAddress,
};

function isRuled(name: string): name is keyof typeof FIELD_RULES {
  return Object.hasOwn(FIELD_RULES, name);
}

/** What a field of this kind accepts and, where the service has a rule for the field, that rule. */
function checkOf(name: string, kind: keyof typeof CHECKS): (value: JsonValue) => Result {
  const ofKind = CHECKS[kind];
  if (!isRuled(name)) return ofKind;
  const rule = FIELD_RULES[name];
  return (value) => {
    const given = ofKind(value);
    const result = typeof given === 'string' && Object.hasOwn(AS_WRITTEN, name) ? AS_WRITTEN[name]!(given) : given;
    return typeof result !== 'string' || rule(result) ? result : issueOf(`invalid_${name}`, valueText(value));
  };
}

/** ISO 8601 with an offset (service interface, section 2.3). */
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/;
/** One in UTC on a day that every month has, as `date` writes it: it exists. */
const PLAIN_INSTANT =
  /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?Z$/;

export function asInstant(value: JsonValue, row: RowContext): Result {
  const text = asText(value);
  const instant = text instanceof Problem || PLAIN_INSTANT.test(text) ? text : completeInstant(text);
  if (typeof instant === 'string') warnIfFar(instant, instant, row);
  return instant;
}

function completeInstant(text: string): string | Problem {
  const match = INSTANT.exec(text);
  if (!match) return issueOf('bad_date/not_iso', valueText(text));
  const read = readIso(text);
  if (!read) return issueOf('bad_date/impossible', valueText(text));
  if (!hasFourDigitYear(read.local - read.offset!)) return issueOf('bad_date/out_of_range', valueText(text));
  // The seconds may be left out in ISO 8601, but not everybody reads it so.
  return match[1] === undefined ? text.replace(/(T\d{2}:\d{2})/, '$1:00') : text;
}

/** Invisible characters: they come with copied text, and no address has them (RFC 5321, section 4.1.2). */
const INVISIBLE = /[\p{Cf}\u034f\u115f\u1160\u3164\ufe00-\ufe0f]/gu;
/** Nothing is around it. */
const BARE = /^[\w.%+-]+@[\w-]+(?:\.[\w-]+)+$/;
/** `Ada Lovelace <ada@example.test>`; the name may have anything but another address. */
const NAMED = /^[^<>@]*<([^<>]*)>$/;
const QUOTES = /^(["'])(.*)\1$/s;
const SCHEME = /^mailto:/i;
/** The separators of a list of which only one address is left, and the end of a sentence. */
const BEFORE = /[\s,;]/;
const AFTER = /[\s,;.]/;
/** More layers than any real address has; each costs another pass over the whole text. */
const MOST_LAYERS = 16;

/**
 * The address alone: without angle brackets and the name before them, `mailto:`, quotes, invisible characters, and a separator before
 * or after it. Two addresses stay two, so that they are no valid address.
 */
export function bareAddress(text: string): string {
  if (BARE.test(text)) return text;
  let bare = withoutEnds(text.replace(INVISIBLE, ''));
  for (let layer = 0; layer < MOST_LAYERS; layer += 1) {
    const before = bare;
    bare = withoutEnds(bare.replace(NAMED, '$1').replace(QUOTES, '$2'));
    if (SCHEME.test(bare)) bare = bare.replace(SCHEME, '').replace(/\?.*$/s, '');
    if (before === bare) break;
  }
  return bare;
}

/** A regular expression would look at a run of blanks within the text once for each of them. */
function withoutEnds(text: string): string {
  let [from, to] = [0, text.length];
  while (from < to && BEFORE.test(text[from]!)) from += 1;
  while (to > from && AFTER.test(text[to - 1]!)) to -= 1;
  return text.slice(from, to);
}
