import { decimalOf, plainDecimal } from '../../decimal.ts';
import { isCurrency, SIGN_WORDS } from '../../kinds/currencies.ts';
import { NumberInText, NumberText, readNumber, type JsonValue } from '../../json.ts';
import { valueText, textOf } from '../values/result.ts';
import { count, object, oneOf } from '../schema-parts.ts';
import { onEach, transform } from './transform.ts';
import { issueOf } from '../../report/words/words.ts';
import { Problem } from '../../problem.ts';

const DECIMALS = ['.', ',', '٫'] as const;
const GROUPS = [',', '.', "'", '’', '_', ' ', ''] as const;

interface NumberArgument {
  readonly decimal?: (typeof DECIMALS)[number] | undefined;
  readonly group?: (typeof GROUPS)[number] | undefined;
  readonly divide?: number | undefined;
  readonly multiply?: number | undefined;
}

export const number = transform<NumberArgument>({
  name: 'number',
  doc: 'Parses a decimal number exactly. Currency signs, currency codes and spaces are ignored, and `(5)` is negative. Numbers of JSON and of workbooks are taken as they are. `decimal` defaults to `.`, and `group` to `,` (to `.` if `decimal` is `,`). `divide: 100` converts cents to units. A sign of another currency than that of the deal is the warning `other_currency`. Fails with `bad_number` if the text does not match the separators.',
  words: numberWords,
  usage: ['number', '{ number: { decimal: ",", group: ".", divide: N, multiply: N } }'],
  examples: [
    { apply: 'number', from: '$22,700.00', to: 22700 },
    { apply: 'number', from: '(1,200.50)', to: -1200.5 },
    { apply: '{ number: { decimal: "," } }', from: '1.234,56 €', to: 1234.56 },
    { apply: '{ number: { decimal: "," } }', from: '1.200,- Kč', to: 1200 },
    { apply: '{ number: { divide: 100 } }', from: '1999', to: 19.99 },
    { apply: '{ number: { multiply: 1000 } }', from: '12.5', to: 12500 },
  ],
  argument: () =>
    object({
      decimal: oneOf(DECIMALS).optional(),
      group: oneOf(GROUPS).optional(),
      divide: count.optional(),
      multiply: count.optional(),
    }),
  bare: true,
  check: (argument) => problemsOf(argument ?? {}),
  compile: (argument) => {
    const { decimal, group, divide, multiply } = withDefaults(argument ?? {});
    const isPlain = divide === 1 && multiply === 1;
    const read = decimalReader(decimal, group);
    return onEach((input) => {
      const plain = typeof input === 'string' ? read(input) : jsonDecimal(input);
      if (plain === undefined) return badNumber(input, decimal, group);
      return readNumber(isPlain ? plain : scaled(plain, multiply, divide));
    });
  },
});

function numberWords(argument: NumberArgument = {}): string {
  const { decimal, divide, multiply } = withDefaults(argument);
  const separator = decimal === '.' ? '' : ` with decimal ${decimal === ',' ? 'comma' : valueText(decimal)}`;
  const times = multiply === 1 ? '' : ` and multiplies it by ${multiply}`;
  return `reads a number${separator}${times}${divide === 1 ? '' : ` and divides it by ${divide}`}`;
}

function withDefaults({ decimal = '.', group, divide = 1, multiply = 1 }: NumberArgument) {
  return { decimal, group: group ?? (decimal === ',' ? '.' : ','), divide, multiply } as const;
}

function problemsOf(argument: NumberArgument): Problem[] {
  const { decimal, group, divide } = withDefaults(argument);
  const same = '`decimal` and `group` must be different characters';
  const inexact = `division by ${divide} is not always exact`;
  const hint = 'use 10, 100, 1000 or another product of 2s and 5s';
  return [
    ...(decimal === group ? [new Problem({ code: 'bad_argument', field: 'group', message: same })] : []),
    ...(tensFor(divide) ? [] : [new Problem({ code: 'bad_argument', field: 'divide', message: inexact, hint })]),
  ];
}

function badNumber(input: JsonValue, decimal: string, group: string): Problem {
  const hint = `expected decimal separator \`${decimal}\`${group === '' ? '' : ` and group separator \`${group}\``}; set \`number: { decimal, group }\` to those of the export`;
  return issueOf('bad_number', valueText(input)).with({ hint });
}

/** Converts a text to plain decimal notation (`-1200.5`), or to undefined. */
function decimalReader(decimal: string, group: string): (text: string) => string | undefined {
  const escaped = (character: string): string => character.replace(/[.]/, '\\$&');
  const separators = ['[\\s\\u00a0\\u2009\\u202f]', ...(group.trim() === '' ? [] : [escaped(group)])];
  // `12,34,567` is how India groups its digits.
  const indian = group === ',' ? ['\\d{1,2}(?:,\\d{2})+,\\d{3}'] : [];
  const whole = ['\\d+', ...separators.map((separator) => `\\d{1,3}(?:${separator}\\d{3})+`), ...indian].join('|');
  // `1.200,-` and `1200.--` have no cents.
  const fraction = `${escaped(decimal)}(?:\\d+|[-–—]{1,2})`;
  const shape = new RegExp(`^(?:(${whole})(${fraction})?|(${fraction}))$`, 'u');
  return (text) => {
    if (/^\d{1,15}$/.test(text)) return decimalOf('', text, '');
    if (text.length > LONGEST) return undefined;
    const sign = SIGN.exec(text);
    if (sign && !(isCurrencySign(sign[0]) && standsAtAnEdge(text, sign.index, sign[0].length))) return undefined;
    let rest = (sign ? text.replace(sign[0], '') : text).trim();
    let negative = false;
    if (rest.startsWith('(') && rest.endsWith(')')) {
      negative = true;
      rest = rest.slice(1, -1).trim();
    } else if (/^[-+\u2212]/u.test(rest)) {
      negative = !rest.startsWith('+');
      rest = rest.slice(1).trim();
    }
    const match = shape.exec(rest);
    if (!match) return undefined;
    const digits = (match[1] ?? '').replace(/\D/gu, '');
    return decimalOf(negative ? '-' : '', digits, (match[2] ?? match[3] ?? '').replace(/\D/gu, ''));
  };
}

/** Longer than any number. Patterns would need minutes for a longer text. */
const LONGEST = 1000;

/** `€`, `R$`, `kr`, `EUR`. */
const SIGN = /\p{L}{0,3}\p{Sc}|\\|\p{L}+\.?/u;

function isCurrencySign(text: string): boolean {
  if (/[\p{Sc}\\]$/u.test(text)) return !MULTIPLE.test(text);
  return SIGN_WORDS.has(text.toLowerCase().replace(/\.$/, '')) || isCurrency(text);
}

/** `k€`, `M$`: thousands or millions, of which only `multiply` makes units. */
const MULTIPLE = /^(?:k|t|m|tsd|mio|mln|mn)\p{Sc}$/iu;

/** A currency sign between digits cannot be ignored. */
function standsAtAnEdge(text: string, index: number, length: number): boolean {
  return !/\d/.test(text.slice(0, index)) || !/\d/.test(text.slice(index + length));
}

/** Reads the notation of JSON, where the separators of the mapping do not apply. */
function jsonDecimal(input: JsonValue): string | undefined {
  if (input instanceof NumberInText) return plainDecimal(input.number);
  return typeof input === 'number' || input instanceof NumberText ? plainDecimal(textOf(input)!) : undefined;
}

/** The power of ten that the divisor divides, or undefined where quotients may not terminate. */
function tensFor(divisor: number): { power: number; factor: bigint } | undefined {
  for (let power = 0; power <= 53; power += 1) {
    const tens = 10n ** BigInt(power);
    if (tens % BigInt(divisor) === 0n) return { power, factor: tens / BigInt(divisor) };
  }
  return undefined;
}

function scaled(plain: string, factor: number, divisor: number): string {
  const { power, factor: parts } = tensFor(divisor)!;
  const negative = plain.startsWith('-');
  const [whole = '', fraction = ''] = (negative ? plain.slice(1) : plain).split('.');
  const places = fraction.length + power;
  const digits = (BigInt(whole + fraction) * BigInt(factor) * parts).toString().padStart(places + 1, '0');
  return decimalOf(negative ? '-' : '', digits.slice(0, digits.length - places), digits.slice(digits.length - places));
}

/** For number fields of the service: only plain decimals that a JavaScript number represents exactly. */
export function exactNumber(value: JsonValue): number | Problem {
  const plain = typeof value === 'string' ? writtenDecimal(value) : jsonDecimal(value);
  if (plain === undefined) return issueOf('bad_number/not_plain', valueText(value));
  const result = Number(plain);
  const digits = plain.replace(/\D/g, '').replace(/^0+/, '').length;
  if (digits <= 15 || jsonDecimal(result) === plain) return result;
  return issueOf('bad_number/too_long', valueText(value));
}

function writtenDecimal(text: string): string | undefined {
  return text.length > LONGEST || /e/i.test(text) ? undefined : plainDecimal(text);
}
