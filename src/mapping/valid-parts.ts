/** The parts of a mapping that are valid by themselves: they are checked further, whatever is wrong with others. */
import type { z } from 'zod';
import { EVENT_TYPES, kindOfType } from '../kinds/index.ts';
import { isKeyed } from './document.ts';
import { entries, mappingSchema, source, type MappingSpec } from './schema.ts';
import type { EntrySpec } from './spec.ts';

/** A mapping as far as it is valid; undefined in place of an entry that cannot be checked. */
export type ValidParts = Partial<Omit<MappingSpec, 'events'>> & { readonly events: readonly (EntrySpec | undefined)[] };

type Keys = Readonly<Record<string, unknown>>;
type Schemas = Readonly<Record<string, z.ZodType>>;

export function validParts(data: unknown): ValidParts {
  const { shape } = mappingSchema;
  const given = asMap(data);
  const functions = parsed(shape.functions, given['functions']);
  // An invalid time zone is reported by itself, not again by every date.
  const standIn = 'timezone' in asMap(given['defaults']) ? { timezone: 'UTC' } : {};
  return {
    defaults: { ...standIn, ...keysOf(shape.defaults, given['defaults']) },
    ...(functions !== undefined && { functions: functions as string }),
    ...(given['columns'] === 'optional' && { columns: 'optional' }),
    ...('sources' in given && { sources: validSources(asMap(given['sources'])) }),
    events: Array.isArray(given['events']) ? (given['events'] as unknown[]).map(validEntry) : [],
  };
}

function validSources(given: Keys): MappingSpec['sources'] {
  const valid = Object.entries(given).map(([name, spec]) => [name, validOf(source.shape, asMap(spec))] as const);
  return Object.fromEntries(valid.filter(([, { path }]) => path !== undefined)) as MappingSpec['sources'];
}

/** In place of an invalid field: that there is one matters to others. */
const VALUE = { value: '-' };

function validEntry(entry: unknown): EntrySpec | undefined {
  const given = asMap(entry);
  const type = EVENT_TYPES.find((each) => each === given['type']);
  if (!type) return undefined;
  const { data, ...rest } = entries[EVENT_TYPES.indexOf(type)]!.shape;
  const valid = validOf(rest, given);
  // Without its `each`, paths into the elements would look like columns.
  if (valid['source'] === undefined || ('each' in given && valid['each'] === undefined)) return undefined;
  const values = asMap(given['data']);
  const fields = kindOfType(type)
    .fields.filter(({ name, isRequired }) => name in values || isRequired)
    .map(({ name, type: holds }): [string, unknown] => {
      const schema = (data.shape as Schemas)[name]!;
      return [name, holds === 'custom' ? keysOf(schema, values[name]) : (parsed(schema, values[name]) ?? VALUE)];
    });
  return { ...valid, type, data: Object.fromEntries(fields) } as EntrySpec;
}

function parsed(schema: z.ZodType, part: unknown): unknown {
  return schema.safeParse(part, { jitless: true }).data;
}

/** The valid ones of the keys that are given. */
function validOf(shape: Schemas, given: Keys): Keys {
  const valid = Object.entries(shape).map(([key, schema]) => [key, parsed(schema, given[key])] as const);
  return Object.fromEntries(valid.filter(([, value]) => value !== undefined));
}

/** The valid ones of free keys. */
function keysOf(schema: z.ZodType, section: unknown): Keys {
  const each = Object.entries(asMap(section)).map(([key, value]) => asMap(parsed(schema, { [key]: value })));
  return Object.fromEntries(each.flatMap((valid) => Object.entries(valid)));
}

function asMap(data: unknown): Keys {
  return isKeyed(data) ? data : {};
}
