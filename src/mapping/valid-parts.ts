/** Removes the invalid parts of a mapping, so that the checks across its parts can still run. */
import type { z } from 'zod';
import type { ParsedMapping } from './check.ts';
import { type MappingDocument, type Path, WrittenScalar } from './document.ts';
import { mappingSchema, type MappingSpec } from './schema.ts';
import type { EntrySpec } from './spec.ts';
import { placed } from './messages.ts';

type DataCollection = Record<string | number, unknown>;

/** A removal can make the parent invalid, which the next round removes; mappings do not nest deeper than this. */
const ROUNDS = 16;

/** The valid parts of the document; `damaged` tells what was removed, so that it is not reported as missing. */
export function validParts(document: MappingDocument): ParsedMapping {
  const cuts: Path[] = [];
  const { shape } = mappingSchema;
  const whole = isCollection(document.data) ? document.data : {};
  const events = Array.isArray(whole['events']) ? (whole['events'] as unknown[]) : [];
  const section = <T>(key: 'defaults' | 'sources'): T | undefined =>
    sound(shape[key] as z.ZodType, whole[key], [key], cuts) as T | undefined;
  const defaults = section<MappingSpec['defaults']>('defaults');
  const sources = section<MappingSpec['sources']>('sources');
  const functions = shape.functions.safeParse(whole['functions']);
  return {
    spec: {
      ...(defaults && { defaults }),
      ...(functions.success && { functions: functions.data }),
      ...(sources && { sources }),
      events: events.map(
        (event, index) => sound(shape.events.element, event, ['events', index], cuts) as EntrySpec | undefined,
      ),
    },
    document,
    damaged: (path) => cuts.some((cut) => path.every((step, depth) => depth >= cut.length || cut[depth] === step)),
  };
}

/** `data` parsed without its invalid parts, or undefined where too much is invalid. */
function sound(schema: z.ZodType, data: unknown, base: Path, cuts: Path[]): unknown {
  const copy = copied(data);
  for (let round = 0; round < ROUNDS; round += 1) {
    const parsed = schema.safeParse(copy);
    if (parsed.success) return parsed.data;
    for (const { issue, path } of placed(parsed.error.issues, [])) {
      const wrong = issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...path, key]) : [path];
      for (const place of wrong) {
        const cut = cutOut(copy, place);
        if (!cut) return undefined;
        cuts.push([...base, ...cut]);
      }
    }
  }
  return undefined;
}

/**
 * Replaces an invalid part with a placeholder where it is required, otherwise removes the innermost key at or above it.
 * Returns the path removed, or undefined if only the whole is left.
 */
function cutOut(data: unknown, place: Path): Path | undefined {
  for (let length = place.length; length > 0; length -= 1) {
    const key = place[length - 1]!;
    const holder = place
      .slice(0, length - 1)
      .reduce<unknown>((at, step) => (isCollection(at) ? at[step] : undefined), data);
    if (!isCollection(holder)) continue;
    const standIn = STAND_INS[`${String(place[length - 2])}.${Array.isArray(holder) ? '[]' : String(key)}`];
    if (standIn !== undefined && holder[key] !== standIn) holder[key] = standIn;
    else if (Array.isArray(holder) || !Object.hasOwn(holder, key)) continue;
    else delete holder[key];
    return place.slice(0, length);
  }
  return undefined;
}

const VALUE = { value: '-' };
const CONDITION = { value: '-', present: true };
const STAND_INS: Readonly<Record<string, unknown>> = {
  'data.external_id': VALUE,
  'data.content': VALUE,
  'lookup.match': VALUE,
  'lookup.with': VALUE,
  'lookup.take': VALUE,
  'from.[]': VALUE,
  'list.[]': VALUE,
  'apply.[]': 'lowercase',
  'all.[]': CONDITION,
  'any.[]': CONDITION,
};

function isCollection(data: unknown): data is DataCollection {
  return typeof data === 'object' && data !== null && !(data instanceof WrittenScalar);
}

function copied(data: unknown): unknown {
  if (!isCollection(data)) return data;
  if (Array.isArray(data)) return data.map(copied);
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, copied(value)]));
}
