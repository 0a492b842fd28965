/** Checks of options: each converts a text from the command line, or a value that a program passes, to its meaning. */
import { resolve } from 'node:path';
import { z } from 'zod';
import { ENTITIES, EVENT_TYPES, entityOf, KINDS } from '../kinds/index.ts';
import type { Entity, EventType } from '../model.ts';
import { didYouMean } from '../problem.ts';
import type { Rate } from '../rate.ts';
import { numberText } from '../report/words/numbers.ts';

/** How much may go wrong: a number of events or values, or a percentage of all. */
export type Tolerance = { readonly count: number } | { readonly percent: number };

/** A record of the input by its external id. */
export interface NamedRecord {
  readonly entity: Entity;
  readonly externalId: string;
}

/** One value, given once and not empty. `parse` returns undefined for what is not `expected`. */
function value<T>(expected: string, parse: (text: string) => T | undefined) {
  return z.unknown().transform((given, context): T => {
    const refuse = (message: string): never => {
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    };
    if (given === undefined) return refuse(`missing, expected ${expected}`);
    if (Array.isArray(given)) return refuse('given more than once');
    if (typeof given !== 'string' && typeof given !== 'number') return refuse(`expected ${expected}`);
    const text = String(given).trim();
    if (text === '') return refuse(`empty, expected ${expected}`);
    return parse(text) ?? refuse(`\`${given}\` is not ${expected}`);
  });
}

/** Any number of values, none by default. */
function values<T>(parse: (texts: readonly string[], refuse: (message: string) => void) => T) {
  return z.unknown().transform((given, context): T => {
    const texts = given === undefined ? [] : [given].flat().map(String);
    return parse(texts, (message) => context.addIssue({ code: 'custom', message }));
  });
}

export function text(expected: string) {
  return value(expected, (given) => given);
}

/** `tab` and `\t` mean a tab, which a shell passes on only in quotes of its own. */
export const delimiter = value('one ASCII character other than a quotation mark, or `tab`', (given) => {
  if (given === 'tab' || given === '\\t') return '\t';
  return given.length === 1 && given !== '"' && given < '\x80' ? given : undefined;
});

export function texts(expected: string) {
  return values((given, refuse): readonly string[] => {
    if (given.length === 0) refuse(`missing, expected ${expected}`);
    return given;
  });
}

export const flag = z.boolean('expected true or false');

function number(what: string, shape: RegExp, least: number, most: number) {
  return value(`${what} from ${least} to ${numberText(most)}`, (given) => {
    const parsed = Number(given);
    return shape.test(given) && parsed >= least && parsed <= most ? parsed : undefined;
  });
}

function whole(least: number, most: number) {
  return number('a whole number', /^\d+$/, least, most);
}

const MANY = 1_000_000_000;
export const zeroOrMore = whole(0, MANY);
export const oneOrMore = whole(1, MANY);
/** Requests in flight: each holds a connection. */
export const concurrency = whole(1, 1000);
/** The limit for a request. A timer of more than 24 days would fire at once. */
export const seconds = number('a number of seconds', /^\d+(\.\d+)?$/, 0.001, 3600);

export const port = number('a port number', /^\d+$/, 0, 65_535);

export const sampleSize = value('a whole number, 1 or more, or `all`', (given): number | 'all' | undefined => {
  if (given === 'all') return given;
  return /^[1-9]\d{0,8}$/.test(given) ? Number(given) : undefined;
});

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `90s`, `30m`, `12h`, `2d` in milliseconds. */
export const duration = value('a duration like `90s`, `30m`, `12h` or `2d` (at most 365d)', (given) => {
  const match = /^(\d+(?:\.\d+)?)([smhd])$/.exec(given);
  const parsed = match && Number(match[1]) * UNITS[match[2]!]!;
  return parsed !== null && parsed <= 365 * UNITS.d! ? parsed : undefined;
});

export const rate = value('a rate like `100/60s` (1 to 1,000,000 requests in 0.001 to 86,400 seconds)', (given) => {
  const match = /^(\d+)\/(\d+(?:\.\d+)?)s$/.exec(given);
  const parsed: Rate | null = match && { requests: Number(match[1]), seconds: Number(match[2]) };
  const isPossible =
    parsed && parsed.requests > 0 && parsed.requests <= 1e6 && parsed.seconds >= 0.001 && parsed.seconds <= 86_400;
  return isPossible ? parsed : undefined;
});

export const tolerance = value('a number or a percentage like `5%`', (given): Tolerance | undefined => {
  const match = /^(\d+(?:\.\d+)?)(%?)$/.exec(given);
  if (!match) return undefined;
  const amount = Number(match[1]);
  if (match[2] === '%') return amount <= 100 ? { percent: amount } : undefined;
  return Number.isInteger(amount) && amount <= MANY ? { count: amount } : undefined;
});

const dateTime = z.iso.datetime({ offset: true, local: true });

/** `06:00`: the next time that the local clock shows it; or an ISO 8601 time. */
export const time = value('a time like `06:00` or `2026-01-31T06:00:00+01:00`', (given): StopTime | undefined => {
  const clock = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(given);
  if (clock) return { hours: Number(clock[1]), minutes: Number(clock[2]) };
  // `Date` reads the 31st of June as the first of July.
  if (!dateTime.safeParse(given).success) return undefined;
  return /(?:Z|[+-]\d{2}:?\d{2})$/.test(given) ? new Date(given) : { local: Date.parse(`${given}Z`) };
});

/** A moment; or in the zone of the mapping, a time of day or a local time, as if it were UTC. */
export type StopTime = Date | { readonly hours: number; readonly minutes: number } | { readonly local: number };

/** A plan by the digest that a dry run prints, in lower case. */
export const planDigest = value('a plan (the 12 hexadecimal digits that a dry run prints)', (given) =>
  /^[\da-f]{12}$/i.test(given) ? given.toLowerCase() : undefined,
);

/** `NAME=…`, each name once. */
function byName(what: string, read: (text: string) => string) {
  return values((given, refuse): ReadonlyMap<string, string> => {
    const found = new Map<string, string>();
    for (const pair of given) {
      const [, name = '', text = ''] = /^([^=]*)=(.*)$/s.exec(pair) ?? [];
      if (name === '' || text === '') refuse(`\`${pair}\` is not ${what}`);
      else if (found.has(name)) refuse(`\`${pair}\` names \`${name}\` a second time`);
      else found.set(name, read(text));
    }
    return found;
  });
}

/** `NAME=PATH`; paths are resolved from the working directory. */
export const pathsByName = byName('NAME=PATH', resolve);

/** `NAME=VALUE`, the answers to questions. */
export const answers = byName('NAME=VALUE', (text) => text);

/** Notes go with the record that they are about. */
const PICKED = KINDS.filter(({ isNote }) => !isNote).map(({ name }) => name);

export const pickedRecords = values((given, refuse): readonly NamedRecord[] =>
  given.flatMap((record) => {
    const named = namedRecord(record);
    if (named && PICKED.includes(named.entity)) return [named];
    refuse(`\`${record}\` is neither ${PICKED.map((name) => `${name}:ID`).join(' nor ')}`);
    return [];
  }),
);

/** A record as it is asked for: without its entity, the id alone has to tell which one is meant. */
export interface AskedRecord {
  readonly entity?: Entity;
  readonly externalId: string;
}

export const oneRecord = value(
  'the id of a record',
  (given): AskedRecord | undefined => namedRecord(given) ?? (given === '' ? undefined : { externalId: given }),
);

function namedRecord(given: string): NamedRecord | undefined {
  const entity = ENTITIES.find((name) => given.startsWith(`${name}:`));
  const externalId = given.slice((entity?.length ?? 0) + 1);
  return entity === undefined || externalId === '' ? undefined : { entity, externalId };
}

/** Event types, or entities for all their types; all types by default. */
export const eventTypes = values((given, refuse): readonly EventType[] => {
  const names = given.flatMap((list) => list.split(',')).map((name) => name.trim());
  const types = names.flatMap((name) => {
    const found = EVENT_TYPES.filter((type) => type === name || entityOf(type) === name);
    if (found.length === 0) {
      const hint = didYouMean(name, [...EVENT_TYPES, ...ENTITIES]) ?? `the event types are ${EVENT_TYPES.join(', ')}`;
      refuse(`\`${name}\` is not an event type; ${hint}`);
    }
    return found;
  });
  return names.length === 0 ? EVENT_TYPES : EVENT_TYPES.filter((type) => types.includes(type));
});
