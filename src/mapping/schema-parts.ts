/** The scalars of mapping files as zod schemas, with the JSON Schema that editors use. */
import { RE2JS, RE2JSException } from 're2js';
import { z } from 'zod';
import { NumberText, type JsonScalar } from '../json.ts';
import { didYouMean } from '../problem.ts';
import { NAME_PATTERN, nameError } from './names.ts';
import { WrittenScalar } from './document.ts';

/** Issue parameter that names the expected value; messages.ts adds the value that was found. */
export const EXPECTED = 'expected';

function scalar<T>(expected: string, jsonType: string | string[], read: (raw: unknown) => T | undefined): z.ZodType<T> {
  return z
    .custom<unknown>((raw) => read(raw) !== undefined, {
      params: { [EXPECTED]: expected },
      error: `expected ${expected}`,
    })
    .transform((raw) => read(raw)!)
    .meta({ type: jsonType });
}

function readText(raw: unknown): string | undefined {
  return raw instanceof WrittenScalar ? raw.text : typeof raw === 'string' ? raw : undefined;
}

function readCount(raw: unknown): number | undefined {
  const value = raw instanceof WrittenScalar ? raw.value : raw;
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}

const SCALARS = ['string', 'number', 'boolean'];

/** Text as written: `00123` and `5.10` are text here, quoted or not. */
export const text = scalar('text', SCALARS, readText);

export const name = scalar('a name', SCALARS, (raw) => readText(raw)?.trim() || undefined);

export const column = scalar('a column or path', SCALARS, (raw) => readText(raw)?.trim() || undefined);

export const flag = scalar('true or false', 'boolean', (raw) => {
  const value = raw instanceof WrittenScalar ? raw.value : raw;
  return typeof value === 'boolean' ? value : undefined;
});

export const integer = scalar('a whole number', 'integer', readCount);

export const count = scalar('a whole number above 0', 'integer', (raw) => {
  const number = readCount(raw);
  return number !== undefined && number > 0 ? number : undefined;
});

/** A constant: text, a number with all its digits, true or false. */
export const constant = scalar<JsonScalar>('text, a number, true or false', SCALARS, (raw) => {
  if (raw instanceof WrittenScalar) return raw.value;
  if (typeof raw === 'number' || typeof raw === 'boolean' || raw instanceof NumberText) return raw;
  return typeof raw === 'string' ? raw : undefined;
});

/** Text or null, as in name maps. */
export const textOrNull = scalar<{ text: string | null }>('text or null', [...SCALARS, 'null'], (raw) => {
  const text = raw === null ? null : readText(raw);
  return text === undefined ? undefined : { text };
}).transform((read) => read.text);

export function oneOf<const T extends readonly string[]>(words: T): z.ZodType<T[number]> {
  return z.enum(words);
}

/** An object of exactly these keys. The issue of an unknown key lists the known ones, for messages.ts. */
export function object<S extends z.ZodRawShape>(shape: S): z.ZodObject<S, z.core.$strict> {
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? Object.keys(shape).join('\n') : undefined),
  });
}

export function record<T>(
  member: z.ZodType<T>,
  key: z.ZodType<string, string> = z.string(),
): z.ZodType<Readonly<Record<string, T>>> {
  return z.record(key, member);
}

/** What the schema takes, unless `errorOf` says why not: a message and, after a line break, a hint. */
export function checked<S extends z.ZodType>(schema: S, errorOf: (value: z.output<S>) => string | undefined): S {
  return schema.superRefine((value, context) => {
    const message = errorOf(value);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });
}

/** A key that names files. */
export const fileKey = checked(z.string(), nameError).meta({ pattern: NAME_PATTERN.source });

/** A name that becomes that of a directory; `.sandbox` is the directory of a migration's rehearsals. */
export const directoryName = checked(name, (text) =>
  text.endsWith('.sandbox')
    ? 'the name of a migration must not end with `.sandbox`\nthat is the state directory of a rehearsal'
    : nameError(text),
).meta({ pattern: NAME_PATTERN.source });

export const pattern = checked(text, patternError);

/**
 * Compiles a regular expression of a mapping. It finds a match in time linear in the text, whatever the pattern, so that no record can
 * hang the run. Replacing many matches looks for each of them anew. RE2 syntax (https://github.com/google/re2/wiki/Syntax). Throws where `patternError` says why.
 */
export function compilePattern(source: string, flags?: number): RE2JS {
  return RE2JS.compile(source, flags);
}

/** Why a pattern cannot be compiled, with a hint after a line break; undefined if it can. */
function patternError(source: string): string | undefined {
  try {
    compilePattern(source);
    return undefined;
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    const reason = error.message.replace(/^error parsing regexp: /, '');
    return `invalid regular expression: ${reason}\n${HINT}`;
  }
}

const HINT =
  'regular expressions have RE2 syntax: no lookahead, lookbehind or backreference; a character by its number is `\\x{e9}`';

/** An IANA time zone known to this Node. */
export const timezone = checked(name, (zone) => {
  if (!/^[+-]/.test(zone) && isKnown(() => new Intl.DateTimeFormat('en', { timeZone: zone }))) return undefined;
  const near = didYouMean(zone, Intl.supportedValuesOf('timeZone'));
  return `unknown time zone \`${zone}\`\n${near ?? 'use an IANA name such as Europe/Rome or America/New_York'}`;
});

export const locale = checked(name, (tag) =>
  isKnown(() => Intl.DateTimeFormat.supportedLocalesOf(tag)[0])
    ? undefined
    : `unknown locale \`${tag}\`\nuse a language tag such as en, it or pt-BR`,
);

/** `Intl` throws for what it does not know. */
function isKnown(ask: () => unknown): boolean {
  try {
    return ask() !== undefined;
  } catch {
    return false;
  }
}
