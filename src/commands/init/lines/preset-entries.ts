/** The entries of a preset: the same lines as any entry, with the values of the preset where the export has their columns. */
import type { EntrySpec, ValueSpec } from '../../../mapping/spec.ts';
import type { Table } from '../columns.ts';
import { entryOf } from './entries.ts';
import type { EntryDraft } from '../guess.ts';
import type { KnownTables } from '../joins.ts';
import { columnsOf, comparable, Fitter, isCustom, type PresetMatch } from '../preset.ts';
import type { RecordKind } from '../roles.ts';
import { flow, type Entry, type Line } from '../yaml.ts';

const KINDS: Readonly<Record<string, RecordKind>> = {
  'lead/created': 'leads',
  'deal/created': 'deals',
  'comment/created': 'comments',
};

/** The kinds of the tables that a preset reads; none for those that it only looks up. */
export function kindsOfPreset({ preset, tables }: PresetMatch, all: readonly Table[]): Map<Table, Set<RecordKind>> {
  const kinds = new Map<Table, Set<RecordKind>>([...tables.values()].map((table) => [table, new Set()]));
  for (const spec of preset.spec.events) {
    const table = tableOf(spec, tables, all);
    const kind = KINDS[spec.type];
    if (table && kind) kinds.set(table, (kinds.get(table) ?? new Set()).add(kind));
  }
  return kinds;
}

function tableOf(
  { source, each }: EntrySpec,
  tables: ReadonlyMap<string, Table>,
  all: readonly Table[],
): Table | undefined {
  const table = tables.get(source);
  return each === undefined ? table : all.find(({ parent, list }) => parent === table && list === each);
}

/** The entries of the drafts, those of the preset with its values, and what it leaves out. */
export function entriesOf(
  drafts: readonly EntryDraft[],
  known: KnownTables,
  match: PresetMatch | undefined,
): { entries: Entry[]; findings: string[] } {
  const findings: string[] = [];
  const entries = drafts.flatMap((draft) => {
    const plain = entryOf(draft, known);
    const specs =
      match?.preset.spec.events.filter(
        (spec) => KINDS[spec.type] === draft.kind && tableOf(spec, match.tables, known.tables) === draft.table,
      ) ?? [];
    return specs.length === 0 ? [plain] : specs.map((spec) => overlay(plain, spec, match!, draft));
  });
  for (const { type, source } of match?.preset.spec.events ?? []) {
    if (!match!.tables.has(source)) findings.push(`${type} from \`${source}\` is omitted: there is no export for it`);
  }
  return { entries, findings };
}

function overlay(plain: Entry, spec: EntrySpec, { tables }: PresetMatch, { table }: EntryDraft): Entry {
  const fitter = new Fitter(tables, spec.source);
  const line = (key: string, value: ValueSpec | undefined): Line | undefined => {
    const fitted = fitter.fit(value);
    return fitted === undefined ? undefined : { key, value: fitted, comment: fitter.doubt };
  };
  const { type: _type, source: _source, data, when, priority, each, occurred_at, stage_pipeline, ...policies } = spec;
  const condition = when && fitter.condition(when);
  const own = [
    ...(each === undefined ? [] : [{ key: 'each', value: each }]),
    ...(condition ? [{ key: 'when', value: condition }] : []),
    ...Object.entries(policies).map(([key, value]) => ({ key, value })),
    ...[line('stage_pipeline', stage_pipeline), line('occurred_at', occurred_at)],
    typeof priority === 'number' ? { key: 'priority', value: priority } : line('priority', priority),
  ].flatMap((found): Line[] => (found ? [found] : []));
  const fields = Object.entries(data).flatMap(([key, value]) =>
    isCustom(key) ? [] : (line(key, value as ValueSpec) ?? []),
  );
  const custom = Object.entries(data).flatMap(([key, values]) =>
    isCustom(key)
      ? Object.entries(values as Readonly<Record<string, ValueSpec>>).flatMap(
          ([name, value]) => line(name, value) ?? [],
        )
      : [],
  );
  const settings = merged(plain.settings, own).filter(({ key }) => key !== 'when' || condition);
  const lines = merged(
    plain.data,
    fields.map((field) => (field.key === 'currency' ? currencyLine(field, plain) : field)),
  );
  const both = lines.filter(({ key, off }) => /^(?:deal|lead)_external_id$/.test(key) && !off).length === 2;
  const kept = settings.filter(
    ({ key, off }) =>
      (key !== 'if_both' || both) &&
      !(key === 'stage_pipeline' && !off && lines.find((each) => each.key === 'stage_name')?.off),
  );
  const left = unused(
    table,
    {
      ...spec,
      data: Object.fromEntries(
        [...lines, ...custom].filter(({ off }) => !off).map(({ key, value }) => [key, value]),
      ) as EntrySpec['data'],
    },
    kept,
  );
  const above = [
    ...(left.length > 0
      ? [`check: not used, although they have values: ${left.map((name) => flow(name)).join(', ')}`]
      : []),
    ...(fitter.missing.size > 0 ? [`not in this export: ${[...fitter.missing].join(', ')}`] : []),
  ];
  return { ...plain, above, settings: kept, data: lines, custom };
}

/** The guessed lines, with those of the preset in their places. */
function merged(guessed: readonly Line[], own: readonly Line[]): Line[] {
  const keys = new Set(own.map(({ key }) => key));
  const known = new Set(guessed.map(({ key }) => key));
  return [
    ...guessed.map((line) => (keys.has(line.key) ? own.find(({ key }) => key === line.key)! : line)),
    ...own.filter(({ key }) => !known.has(key)),
  ];
}

/** A constant of the preset is only an example. */
function currencyLine(line: Line, { data }: Entry): Line {
  const guessed = data.find(({ key }) => key === 'currency');
  const { value, from } = line.value as { value?: unknown; from?: unknown };
  const constant =
    value ??
    (Array.isArray(from)
      ? (from as readonly { value?: unknown }[]).find((each) => each.value !== undefined)?.value
      : undefined);
  if (constant === undefined) return line;
  if (value !== undefined)
    return guessed && !guessed.off ? guessed : { ...line, comment: 'set this: no column has the currency' };
  return { ...line, comment: `check: ${flow(constant)} where there is none` };
}

/** Columns and lists with values that the entry does not use. */
function unused({ columns }: Table, entry: EntrySpec, settings: readonly Line[]): string[] {
  const read = Object.fromEntries(
    settings.filter(({ off, key }) => !off && key !== 'each').map(({ key, value }) => [key, value]),
  );
  const used = [...(columnsOf([{ ...entry, ...read }]).get(entry.source) ?? [])].map(comparable);
  const names = columns.filter(({ filled }) => filled > 0).map(({ name, list }) => list ?? name);
  const isUsed = (name: string): boolean =>
    used.some(
      (each) =>
        each === comparable(name) ||
        each.endsWith(` ${comparable(name)}`) ||
        `${comparable(name)} `.startsWith(`${each} `) ||
        each.startsWith(`${comparable(name)} `),
    );
  return [...new Set(names)].filter((name) => !isUsed(name));
}
