/** The entries of drafts: for every field of a kind of record a line with the column that it is made of, or with the candidates. */
import { kindOf } from '../../../kinds/index.ts';
import { ofText } from '../../../terminal/numbers.ts';
import { countsOf, isComplete, isIn, pathOf, type Column } from '../columns.ts';
import { isInPairs } from '../content.ts';
import { doubtOf } from '../dates.ts';
import { customValue, isCompany, isOnly, keyOf, quoted } from '../evidence.ts';
import type { EntryDraft } from '../guess.ts';
import { nameOf, type KnownTables } from '../joins.ts';
import { amountLine, currencyLine, priorityLine, stageLine, titleLine } from './deal-lines.ts';
import { contentLine, emailLine, idLine, namedLine, nameLine, phoneLine, timeLine } from './field-lines.ts';
import type { Context, Made } from './field-lines.ts';
import { parentLines } from './parent-lines.ts';
import type { Entry, Line } from './yaml.ts';

/** How the fields of records are made, but those of parents. */
const FIELDS: Readonly<Record<string, (context: Context) => Made>> = {
  external_id: idLine,
  full_name: nameLine,
  email: emailLine,
  phone_number: phoneLine,
  title: titleLine,
  amount: amountLine,
  currency: currencyLine,
  stage_name: stageLine,
  owner_name: (context) => namedLine(context, 'owner'),
  content: contentLine,
  author_name: (context) => namedLine(context, 'author'),
};

export function entryOf(draft: EntryDraft, known: KnownTables): Entry {
  const { table, doubt, twin, only, key, roles } = draft;
  const kind = kindOf(draft.kind);
  // Of rows that are a person and a deal, each carries its own columns.
  const twins = known.drafts.filter((each) => each === draft || (twin && each.table === table));
  const own = twins.flatMap((each) => [...each.roles].filter(([role]) => each !== draft || role !== 'outcome'));
  const context = { draft, known, used: new Set(own.map(([, { column }]) => column)) };
  const parents = parentLines(context);
  const data = kind.fields.flatMap(({ name, parent, isRequired }): Line[] => {
    if (parent !== undefined) return parents.filter((each) => each.key === name);
    // Without an id for notes, none is written.
    const make = name === 'external_id' && !isRequired && !roles.has('id') ? undefined : FIELDS[name];
    return make ? [{ key: name, ...make(context) }] : [];
  });
  const isDeal = kind.features.includes('pipelines');
  const settings = [
    ...(table.list === undefined ? [] : [{ key: 'each', value: table.list }]),
    ...whenLines(context, data, parents),
    ...(key?.repeats ? [{ key: 'duplicates', value: 'first' }] : []),
    ...(parents.filter(({ off }) => !off).length > 1 ? [{ key: 'if_both', value: kind.parents.at(-1)!.kind }] : []),
    ...(isDeal ? [{ key: 'stage_pipeline', ...namedLine(context, 'pipeline') }] : []),
    { key: 'occurred_at', ...timeLine(context) },
    ...(isDeal ? priorityLine(context) : []),
  ];
  const above = [
    ...(doubt === undefined ? [] : [doubt]),
    ...(only ? ['check: a row is a person or a deal, never both: what other rows are is not known'] : []),
    ...(twin && kind.name === 'lead' ? ['each row is a person and a deal, so that it becomes both'] : []),
  ];
  const custom = kind.custom === undefined ? [] : customLines(context);
  return { table, type: `${draft.kind}/created`, source: table.source, above, settings, data, custom };
}

/** Skips records that were deleted in the old CRM; of notes, those without a text or a parent. */
function whenLines({ draft, used }: Context, data: readonly Line[], parents: readonly Line[]): Line[] {
  const { table, roles, kind } = draft;
  const tests: { value: object; why: string }[] = [];
  const present = (values: readonly unknown[]) => ({ from: values.length === 1 ? values[0] : values, present: true });
  const full = [...used].filter((each) => each.list === undefined && isComplete(each));
  if (kindOf(kind).isNote) {
    const content = data.find(({ key }) => key === 'content')!;
    const found = (['content', 'subject'] as const).flatMap((role) => roles.get(role)?.column ?? []);
    const texts = found.filter((each) => reads(content.value, each)).map(({ name }) => name);
    if (!content.off && texts.length > 0 && !full.some((each) => reads(content.value, each)))
      tests.push({ value: present(texts), why: 'those without a text' });
    const refs = parents.flatMap(({ off, value }) => (off ? [] : [value]));
    const isOptional = refs.length > 0 && !full.some(({ name }) => refs.includes(name));
    if (!content.off && isOptional && table.list === undefined)
      tests.push({ value: present(refs), why: 'those whose lead or deal is in no export' });
  }
  if (draft.only) tests.push({ value: present([draft.only.name]), why: `those without ${quoted(draft.only)}` });
  for (const column of table.columns) {
    if (!column.meaning.concepts.has('deleted') || column.distinct > 3 || column.meaning.words.length > 2) continue;
    const gone = [...countsOf(column)].filter(([value]) => /^(?:1|true|t|yes|y)$/i.test(value));
    const count = gone.reduce((sum, [, n]) => sum + n, 0);
    if (count === 0) continue;
    const value = { from: column.name, not_in: gone.map(([text]) => text) };
    const why = `those that were deleted (${ofText(count, table.rows)} by ${quoted(column)})`;
    tests.push({ value, why });
  }
  if (tests.length === 0) return [];
  const value = tests.length === 1 ? tests[0]!.value : { all: tests.map((each) => each.value) };
  return [{ key: 'when', value, comment: tests.map(({ why }) => why).join(', ') }];
}

/** Whether a value reads a column. */
function reads(value: unknown, { name }: Column): boolean {
  return JSON.stringify(value).includes(JSON.stringify(name));
}

/** All columns with values that are not used otherwise. */
function customLines({ draft: { table }, known, used }: Context): Line[] {
  const lines = new Map<string, Line>();
  const events = known.drafts.flatMap((each) => (isIn(each.table, table) ? [each.table.list!] : []));
  const done = new Set<string>();
  for (const column of table.columns) {
    const { list, filled, isWrapper, several } = column;
    const isUsed = used.has(column) && (list === undefined || (several === 0 && isOnly(column)));
    const isDone = list !== undefined && (done.has(list) || events.includes(pathOf({ name: list, table })));
    if (filled === 0 || isWrapper || isUsed || isDone) continue;
    if (list !== undefined) done.add(list);
    const found = list === undefined ? nameOf(column, known, 'company') : undefined;
    if (found && isCompany(found.name) && !lines.has('company')) {
      lines.set('company', { key: 'company', value: found.join.value, comment: found.join.why });
      continue;
    }
    const plain = keyOf(list ?? column.name);
    const key = lines.has(plain) ? `${plain}_${lines.size}` : plain;
    const comment = isInPairs(column)
      ? 'check: a list of names and values; a function of your own can take the value of a name'
      : column.date && list === undefined
        ? doubtOf(column.date)
        : undefined;
    lines.set(key, { key, value: customValue(column), comment });
  }
  return [...lines.values()];
}
