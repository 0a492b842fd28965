/** The schema of mapping files: validates them, and provides the JSON Schema for editors. */
import { z } from 'zod';
import type { SettingKind } from '../input/format.ts';
import { FORMATS } from '../input/formats.ts';
import { didYouMean, nearest, quoted } from '../problem.ts';
import { EVENT_TYPES, kindOfType, COMBINED, entityOf, STAGED } from '../kinds/index.ts';
import type { EventType } from '../model.ts';
import { isKeyed, WrittenScalar } from './document.ts';
import { choicesOf, POLICIES, POLICY_NAMES, type DefaultPolicies } from './policies.ts';
import { REST, REST_KEY } from './values/rest.ts';
import * as part from './schema-parts.ts';
import type { ConditionSpec, EntrySpec, TransformSpec, ValueObject, ValueSpec } from './spec.ts';
import { KIND_NAMES, KINDS } from './kinds/index.ts';
import type { Kinds } from './kinds/kind.ts';
import { templateError } from './kinds/template.ts';
import { TRANSFORM_BY_NAME, TRANSFORMS } from './transforms/index.ts';

const TESTS = ['in', 'not_in', 'equals', 'matches', 'present'] as const;
const COMBINATIONS = ['all', 'any', 'not'] as const;

const value: z.ZodType<ValueSpec> = z
  .lazy(() =>
    z.union([part.column, valueObject], {
      error: (issue) =>
        Array.isArray(issue.input)
          ? 'expected one value, found a list\nuse `from: [A, B]` for alternatives or `list: [A, B]` for a list of values'
          : undefined,
    }),
  )
  .meta({
    id: 'Value',
    description: 'A column name or path, or an object with one of from, template, list, value, lookup.',
  });

const transformItem: z.ZodType<TransformSpec> = z
  .lazy(() => z.union(transformForms(), { error: (issue) => transformError(issue.input) }))
  .meta({ id: 'Transform' });

const sources = Object.fromEntries(
  KIND_NAMES.map((name) => [name, (KINDS[name].schema(value) as z.ZodType).optional()]),
) as { readonly [Name in keyof Kinds]: z.ZodOptional<z.ZodType<ValueObject[Name]>> };

const valueShape = {
  ...sources,
  apply: z.array(transformItem).optional(),
  default: part.constant.optional(),
  required: part.flag.optional(),
  on_error: part.oneOf(['reject', 'omit']).optional(),
};

const valueObject = part.checked(part.object(valueShape), sourceError);

/** A value of a custom field, whose names are free. */
const customValue: z.ZodType<ValueSpec> = z
  .lazy(() => z.union([part.column, customObject]))
  .meta({ id: 'CustomValue', description: 'A value; with `as: json` a list or object arrives as it is.' });

const customObject = part.checked(part.object({ ...valueShape, as: part.oneOf(['json']).optional() }), sourceError);

const customFields = z.object({ [REST_KEY]: z.literal(REST).optional() }).catchall(customValue);

const condition: z.ZodType<ConditionSpec> = z
  .lazy(() =>
    part.checked(
      part.object({
        ...valueShape,
        all: z.array(condition).min(1).optional(),
        any: z.array(condition).min(1).optional(),
        not: condition.optional(),
        in: z.array(part.text).min(1).optional(),
        not_in: z.array(part.text).min(1).optional(),
        equals: part.text.optional(),
        matches: part.pattern.optional(),
        present: part.flag.optional(),
      }),
      conditionError,
    ),
  )
  .meta({ id: 'Condition', description: 'A value with one test, or one of all, any, not.' });

function sourceError(object: ValueObject): string | undefined {
  const kinds = KIND_NAMES.filter((kind) => object[kind] !== undefined);
  if (kinds.length === 1) return undefined;
  if (kinds.length === 0) return `the value has no source\nadd one of ${quoted(KIND_NAMES)}`;
  return `a value must have one source, found ${quoted(kinds)}\nkeep one of them, or use \`from: [A, B]\` for alternatives`;
}

function conditionError(object: ConditionSpec): string | undefined {
  const combinations = COMBINATIONS.filter((key) => object[key] !== undefined);
  const tests = TESTS.filter((key) => object[key] !== undefined);
  if (combinations.length > 0) {
    const others = Object.entries(object).filter(([key, member]) => member !== undefined && key !== combinations[0]);
    return others.length === 0
      ? undefined
      : `\`${combinations[0]!}\` must be the only key of a condition\nmove the other keys to a separate condition inside \`all: [...]\``;
  }
  if (tests.length === 0) return `the condition has no test\nadd one of ${quoted(TESTS)}`;
  if (tests.length > 1)
    return `a condition must have one test, found ${quoted(tests)}\nuse a separate condition for each, inside \`all: [...]\``;
  return sourceError(object);
}

const combine = part
  .object({
    heading: part.checked(part.text, (source) => (source === '' ? undefined : templateError(source))).optional(),
    separator: part.text.optional(),
    max: part.count.optional(),
  })
  .meta({
    description: 'Sends all comments of one parent as one comment, in the order of their time; {} for the defaults.',
  });

const priority: z.ZodType<ValueSpec | number> = z
  .union([part.integer, value])
  .meta({ description: 'A whole number, or a value that yields one: events with a higher one are sent first.' });

function transformForms(): z.ZodType<TransformSpec>[] {
  const bare = TRANSFORMS.filter((entry) => !entry.argument || entry.bare).map((entry) => entry.name);
  const named: z.ZodType<TransformSpec> = z.enum(bare as [string, ...string[]]);
  const withArgument = TRANSFORMS.flatMap((entry) =>
    entry.argument
      ? [
          z
            .strictObject({ [entry.name]: entry.argument(value) })
            .meta({ description: entry.doc }) as z.ZodType<TransformSpec>,
        ]
      : [],
  );
  return [named, ...withArgument];
}

/** Undefined where the transform is known and only its argument is invalid. */
function transformError(input: unknown): string | undefined {
  const named = typeof input === 'string' ? input : undefined;
  const keys = isKeyed(input) ? Object.keys(input) : [];
  if (named === undefined && keys.length === 0) return 'expected a transform\nuse its name, or `{ NAME: ARGUMENT }`';
  if (keys.length > 1)
    return `each item of \`apply\` must be one transform, found ${quoted(keys)}\nuse a separate item for each: \`- ${keys[0]!}: …\``;
  const wanted = named ?? keys[0]!;
  const known = TRANSFORM_BY_NAME.get(wanted);
  if (!known)
    return `unknown transform \`${wanted}\`\n${didYouMean(wanted, TRANSFORM_BY_NAME.keys()) ?? `available transforms: ${quoted([...TRANSFORM_BY_NAME.keys()])}`}`;
  if (named !== undefined) return `\`${wanted}\` requires an argument\nuse \`${known.usage[0]!}\``;
  return known.argument ? undefined : `\`${wanted}\` takes no argument\nuse its name alone`;
}

function policyShape(type: EventType): z.ZodRawShape {
  const names = POLICY_NAMES.filter((name) => POLICIES[name].appliesTo(type));
  return Object.fromEntries(
    names.map((name) => {
      const choice = part.oneOf(choicesOf(name, type));
      return [
        name,
        (name === 'if_changed' && kindOfType(type).isUpdatable
          ? z.union([choice, z.array(part.name).min(1)])
          : choice
        ).optional(),
      ];
    }),
  );
}

/** The policies for all entries that set none; entries that lack the choice keep their own default. */
function generalPolicies() {
  const shape = POLICY_NAMES.map((name) => [name, part.oneOf(POLICIES[name].choices).optional()]);
  return Object.fromEntries(shape) as Record<keyof DefaultPolicies, z.ZodOptional<z.ZodType<string>>>;
}

function entry(type: EventType) {
  const fields = kindOfType(type).fields.map((field) => {
    const schema = field.type === 'custom' ? customFields : value;
    const described = schema.meta({ ...(field.type !== 'custom' && { description: field.doc }) });
    return [field.name, field.isRequired ? described : described.optional()] as const;
  });
  return part.object({
    type: z.literal(type),
    source: part.name,
    when: condition.optional(),
    each: value.optional(),
    occurred_at: value.optional(),
    priority: priority.optional(),
    ...(entityOf(type) === STAGED && { stage_pipeline: value.optional() }),
    ...(entityOf(type) === COMBINED && { combine: combine.optional() }),
    ...policyShape(type),
    data: part.object(Object.fromEntries(fields)),
  });
}

export const entries = EVENT_TYPES.map(entry);

/**
 * Problems of an entry whose type is unknown: those that it would have with the most similar name, or else with the type that fits best.
 */
export function issuesAsLikelyType(input: object): readonly z.core.$ZodIssue[] {
  const { type: given } = input as { readonly type?: unknown };
  const similar = nearest(typeof given === 'string' ? given : '', EVENT_TYPES, 1);
  const likely = entries.filter((_, at) => similar.length === 0 || similar.includes(EVENT_TYPES[at]!));
  const issues = likely.map((schema) => {
    const entry = { ...input, type: schema.shape.type.value };
    return schema.safeParse(entry, { jitless: true }).error?.issues ?? [];
  });
  return issues.reduce((best, each) => (mistakesIn(each) < mistakesIn(best) ? each : best));
}

function mistakesIn(issues: readonly z.core.$ZodIssue[]): number {
  return issues.reduce((sum, issue) => sum + (issue.code === 'unrecognized_keys' ? issue.keys.length : 1), 0);
}

/** The event types that have a key, in the entry and in its `data`: for messages about misplaced keys. */
export const ENTRY_KEYS = keysByType(entries.map((schema) => Object.keys(schema.shape)));
export const DATA_KEYS = keysByType(EVENT_TYPES.map((type) => kindOfType(type).fields.map((field) => field.name)));

function keysByType(keys: readonly (readonly string[])[]): ReadonlyMap<string, readonly EventType[]> {
  const all = new Set(keys.flat());
  return new Map([...all].map((key) => [key, EVENT_TYPES.filter((_, index) => keys[index]!.includes(key))]));
}

const SETTINGS: Readonly<Record<SettingKind, z.ZodType>> = {
  name: part.name,
  names: z.array(part.name),
  text: part.text,
  character: part.checked(part.text, (text) => (/^[^\r\n]$/.test(text) ? undefined : 'expected one character')),
  count: part.count,
  none: part.oneOf(['none']),
};

const settings = Object.fromEntries(
  FORMATS.flatMap((format) => Object.entries(format.settings)).map(([key, kind]) => [key, SETTINGS[kind].optional()]),
) as {
  readonly records: z.ZodOptional<z.ZodType<string>>;
  readonly columns: z.ZodOptional<z.ZodType<string[]>>;
  readonly header_line: z.ZodOptional<z.ZodType<number>>;
};

/**
 * A source of a mapping. `recognise` is for presets (`mappings/*.yaml`) and read by `init` alone: a file is that of the source if it has
 * the columns of the external id and of the name, title or text of its entries, at least two further headers of `by`, and if the first ids
 * match the pattern `id` (RE2 syntax). Of a source that only lookups read, the ids are those of `match`.
 */
export const source = part.object({
  path: part.name,
  format: part.oneOf(FORMATS.map(({ name }) => name)).optional(),
  ...settings,
  optional: part.flag
    .meta({ description: 'Without a file, the source falls away with its events and lookups.' })
    .optional(),
  recognise: part
    .object({ id: part.pattern, by: z.array(part.column).min(1) })
    .meta({
      description:
        'How `init` recognises its files: the form of the ids, and headers that only they have. A run does not read it.',
    })
    .optional(),
  fixes: z.union([part.name, z.array(part.name).min(1)]).optional(),
  missing_values: z.array(part.text).optional(),
});

const names = part.record(part.textOrNull);

const version = z
  .custom<unknown>((raw) => raw !== undefined, { error: 'missing' })
  .refine((raw) => (raw instanceof WrittenScalar ? raw.value : raw) === 1, {
    error: 'unsupported version of the mapping format\nuse `version: 1`',
  })
  .transform(() => 1 as const)
  .meta({ const: 1 });

export const mappingSchema = part.object({
  version,
  migration: part.directoryName,
  title: part.name.meta({ description: 'The title of the migration in the report.' }).optional(),
  customer: part.name.meta({ description: 'The customer named in the report.' }).optional(),
  defaults: part
    .object({
      region: part.name.optional(),
      timezone: part.timezone.optional(),
      locale: part.locale.optional(),
      missing_values: z.array(part.text).optional(),
      ...generalPolicies(),
    })
    .optional(),
  columns: part
    .oneOf(['required', 'optional'])
    .meta({ description: 'Whether a column that no file of its source has is a mistake, or its value is left out.' })
    .optional(),
  functions: part.name.meta({ description: 'An ES module beside the mapping; `call` uses its exports.' }).optional(),
  sources: part.record(source, part.fileKey),
  references: part
    .object({
      file: part.name.optional(),
      pipelines: names.optional(),
      stages: part.record(z.union([part.textOrNull, names])).optional(),
      owners: names.optional(),
    })
    .optional(),
  events: z
    .array(
      z.discriminatedUnion('type', entries as [(typeof entries)[number], ...typeof entries], {
        error: (issue) => (issue.code === 'invalid_union' ? eventTypeError(issue.input) : undefined),
      }),
    )
    .min(1),
});

/** A valid mapping file: texts are strings, constants are JSON scalars. */
export type MappingSpec = Omit<z.output<typeof mappingSchema>, 'events'> & { readonly events: readonly EntrySpec[] };

/** Asserts the type of the entries, which zod cannot infer: values are recursive, fields come from other schemas. */
export function asMappingSpec(parsed: z.output<typeof mappingSchema>): MappingSpec {
  return parsed as unknown as MappingSpec;
}

function eventTypeError(input: unknown): string | undefined {
  const type = isKeyed(input) ? input['type'] : undefined;
  if (type === undefined) return `missing \`type\`\nuse one of ${quoted(EVENT_TYPES)}`;
  const suggestion = typeof type === 'string' ? didYouMean(type, EVENT_TYPES) : undefined;
  return `unknown event type${typeof type === 'string' ? ` \`${type}\`` : ''}\n${suggestion ?? `use one of ${quoted(EVENT_TYPES)}`}`;
}

/** The JSON Schema (draft 7) of mapping files, for editors. */
export function mappingJsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(mappingSchema, { io: 'input', target: 'draft-7', unrepresentable: 'any' });
  return { ...schema, title: 'Mapping file of crm-backfill' };
}
