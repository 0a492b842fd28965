import { NumberText, readNumber, type JsonValue } from '../../json.ts';
import { ValueError } from '../value-error.ts';
import { shown, textOf } from '../value-text.ts';
import { count, object, oneOf } from '../schema-parts.ts';
import { onEach, transform, type ArgumentProblem } from './transform.ts';

const DECIMALS = ['.', ',', '٫'] as const;
const GROUPS = [',', '.', "'", '’', '_', ' ', ''] as const;

interface NumberArgument {
  readonly decimal?: (typeof DECIMALS)[number] | undefined;
  readonly group?: (typeof GROUPS)[number] | undefined;
  readonly divide?: number | undefined;
}

export const number = transform<NumberArgument>({
  name: 'number',
  doc: 'Reads a decimal number exactly. A currency sign and spaces are ignored, `(5)` is negative; `decimal` is `.` and `group` is `,` unless set (`.` where `decimal` is `,`). `divide: 100` turns cents into units. What the separators cannot explain is the error `bad_number`.',
  usage: ['number', '{ number: { decimal: ",", group: ".", divide: N } }'],
  examples: [
    { apply: 'number', from: '$22,700.00', to: 22700 },
    { apply: 'number', from: '(1,200.50)', to: -1200.5 },
    { apply: '{ number: { decimal: "," } }', from: '1.234,56 €', to: 1234.56 },
    { apply: '{ number: { divide: 100 } }', from: '1999', to: 19.99 },
  ],
  argument: () =>
    object({ decimal: oneOf(DECIMALS).optional(), group: oneOf(GROUPS).optional(), divide: count.optional() }),
  bare: true,
  check: (argument) => mistakes(argument ?? {}),
  compile: (argument) => {
    const { decimal, group, divide } = withDefaults(argument ?? {});
    const read = decimalReader(decimal, group);
    return onEach((input) => {
      const plain = typeof input === 'string' ? read(input) : jsonDecimal(input);
      if (plain === undefined) return badNumber(input, decimal, group);
      return readNumber(divide === 1 ? plain : dividedBy(plain, divide));
    });
  },
});

function withDefaults({ decimal = '.', group, divide = 1 }: NumberArgument): {
  decimal: string;
  group: string;
  divide: number;
} {
  return { decimal, group: group ?? (decimal === ',' ? '.' : ','), divide };
}

function mistakes(argument: NumberArgument): ArgumentProblem[] {
  const { decimal, group, divide } = withDefaults(argument);
  const problems: ArgumentProblem[] = [];
  if (decimal === group) {
    problems.push({
      code: 'bad_argument',
      path: ['group'],
      message: '`decimal` and `group` are the same character',
      suggestion: 'a number needs to tell them apart',
    });
  }
  if (!dividesExactly(divide)) {
    problems.push({
      code: 'bad_argument',
      path: ['divide'],
      message: `dividing by ${divide} has no exact result`,
      suggestion: 'use 10, 100, 1000, or another product of twos and fives',
    });
  }
  return problems;
}

function badNumber(input: JsonValue, decimal: string, group: string): ValueError {
  const hint = `numbers are read with decimal \`${decimal}\`${group === '' ? '' : ` and group \`${group}\``}: set \`number: { decimal, group }\` to what the export uses`;
  return new ValueError('bad_number', `${shown(input)} is not a number`, hint);
}

/** From text to plain decimal text (`-1200.5`), or undefined. */
function decimalReader(decimal: string, group: string): (text: string) => string | undefined {
  const escaped = (character: string): string => character.replace(/[.]/, '\\$&');
  const separators = ['[\\s\\u00a0\\u2009\\u202f]', ...(group.trim() === '' ? [] : [escaped(group)])];
  const whole = ['\\d+', ...separators.map((separator) => `\\d{1,3}(?:${separator}\\d{3})+`)].join('|');
  const fraction = `${escaped(decimal)}\\d+`;
  const shape = new RegExp(`^(?:(${whole})(${fraction})?|(${fraction}))$`, 'u');
  return (text) => {
    if (/^\d{1,15}$/.test(text)) return canonical('', text, '');
    let rest = text.replace(/\p{Sc}/u, '').trim();
    let negative = false;
    if (rest.startsWith('(') && rest.endsWith(')')) {
      negative = true;
      rest = rest.slice(1, -1).trim();
    } else if (/^[-+\u2212]/u.test(rest)) {
      negative = !rest.startsWith('+');
      rest = rest.slice(1).trim();
    }
    const sign = /\p{Sc}/u.exec(text);
    if (sign && !standsAtAnEdge(text, sign.index, sign[0].length)) return undefined;
    const match = shape.exec(rest);
    if (!match) return undefined;
    const digits = (match[1] ?? '').replace(/\D/gu, '');
    return canonical(negative ? '-' : '', digits, (match[2] ?? match[3] ?? '').slice(1));
  };
}

/** A currency sign between digits is not one that can be ignored. */
function standsAtAnEdge(text: string, index: number, length: number): boolean {
  return !/\d/.test(text.slice(0, index)) || !/\d/.test(text.slice(index + length));
}

/** JSON's own notation; a number in JSON never has the separators of the mapping. */
function jsonDecimal(input: JsonValue): string | undefined {
  if (typeof input !== 'number' && !(input instanceof NumberText)) return undefined;
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(textOf(input)!);
  if (!match) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const shift = Number(exponent);
  if (Math.abs(shift) > 1000) return undefined;
  const digits = whole + fraction;
  const point = whole.length + shift;
  const padded = digits.padStart(digits.length + Math.max(0, -point), '0').padEnd(Math.max(digits.length, point), '0');
  const cut = Math.max(0, point);
  return canonical(sign, padded.slice(0, cut), padded.slice(cut));
}

function canonical(sign: string, whole: string, fraction: string): string {
  const left = whole.replace(/^0+(?=\d)/, '') || '0';
  const right = fraction.replace(/0+$/, '');
  const text = right === '' ? left : `${left}.${right}`;
  return text === '0' ? text : sign + text;
}

/** Tens that a divisor of twos and fives goes into, or undefined where the quotient may have no end. */
function tensFor(divisor: number): { power: number; factor: bigint } | undefined {
  for (let power = 0; power <= 53; power += 1) {
    const tens = 10n ** BigInt(power);
    if (tens % BigInt(divisor) === 0n) return { power, factor: tens / BigInt(divisor) };
  }
  return undefined;
}

function dividesExactly(divisor: number): boolean {
  return tensFor(divisor) !== undefined;
}

function dividedBy(plain: string, divisor: number): string {
  const { power, factor } = tensFor(divisor)!;
  const negative = plain.startsWith('-');
  const [whole = '', fraction = ''] = (negative ? plain.slice(1) : plain).split('.');
  const places = fraction.length + power;
  const digits = (BigInt(whole + fraction) * factor).toString().padStart(places + 1, '0');
  return canonical(negative ? '-' : '', digits.slice(0, digits.length - places), digits.slice(digits.length - places));
}

/** For fields that the service wants as a number: only plain decimals that a JavaScript number holds digit by digit. */
export function exactNumber(value: JsonValue): number | ValueError {
  const plain = typeof value === 'string' ? plainDecimal(value) : jsonDecimal(value);
  if (plain === undefined) {
    return new ValueError(
      'bad_number',
      `${shown(value)} is not a plain decimal number`,
      'read it with `apply: [{ number: { decimal: ",", group: "." } }]`, with the separators of the export',
    );
  }
  const result = Number(plain);
  const digits = plain.replace(/\D/g, '').replace(/^0+/, '').length;
  if (digits <= 15 || jsonDecimal(result) === plain) return result;
  return new ValueError('bad_number', `${shown(value)} has more digits than a number can hold exactly`);
}

function plainDecimal(text: string): string | undefined {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text);
  return match ? canonical(match[1]!, match[2]!, match[3] ?? '') : undefined;
}
