/** Decides what the exports become: kinds, roles, joins, as data. Pure: the same facts and answers give the same draft. */
import type { ConditionSpec, ValueSpec } from '../../mapping/spec.ts';
import { counted, ofText } from '../../report/words/numbers.ts';
import type { EntryDraft, Field } from './draft.ts';
import type { Column, Table } from '../facts/facts.ts';
import {
  choiceOf,
  contactField,
  currencyField,
  dateValue,
  isHundreds,
  missingField,
  nameField,
  namedField,
  quoted,
  roleField,
  scaleOf,
  stageField,
  valueFor,
  type FieldContext,
} from './fields.ts';
import { fold } from '../facts/headers.ts';
import { valueOf, type ParentTarget } from './joins.ts';
import { keyOf, type KeyFound } from './keys.ts';
import { kindsOf, RECORD_KINDS, type KindAnswers, type KindFound } from './kinds.ts';
import { parentFields } from './parents.ts';
import type { Reference } from '../facts/relations.ts';
import { LEVELS } from '../know/roles.ts';
import { TRUE } from '../know/words.ts';
import { isFalseText } from '../read/sample.ts';

/** What is known of the exports, without a cell. */
export interface Facts {
  readonly tables: readonly Table[];
  readonly references: readonly Reference[];
}

interface Entry extends FieldContext {
  readonly found: KindFound;
  readonly key: KeyFound | undefined;
  /** Of the person in the same row. */
  readonly person: KeyFound | undefined;
}

export function entriesOf(facts: Facts, answers: KindAnswers): EntryDraft[] {
  const kinds = kindsOf(facts.tables, facts.references, answers);
  const used = new Set([...kinds].flatMap(([table, found]) => (found.length > 0 ? [table] : [])));
  const entries = [...kinds].flatMap(([table, found]): Entry[] => {
    let person: KeyFound | undefined;
    return found.map((each) => {
      const isBoth = found.length > 1;
      const context = { ...facts, table, found: each, isBoth, entries: used };
      const known = answers.keyOf?.(table, each.kind);
      const ofPerson = isBoth && each.kind === 'deal' ? person : undefined;
      const key = known ? { key: known, fields: [] } : keyOf(context, ofPerson?.key);
      person ??= key;
      return { ...context, key, person: ofPerson };
    });
  });
  const ordered = RECORD_KINDS.flatMap((kind) => entries.filter(({ found }) => found.kind === kind));
  const targets = ordered.flatMap(({ table, found: { kind }, key }): ParentTarget[] =>
    key && kind !== 'comment' ? [{ table, kind, key: key.key }] : [],
  );
  const drafts = ordered.map((entry): EntryDraft => {
    const { table, found, person } = entry;
    const parents = found.kind === 'lead' ? [] : parentFields(entry, targets, person?.fields.at(-1));
    const fields = [...FIELDS[found.kind](entry, parents), ...twiceFields(entry, ordered)];
    const custom = found.kind === 'comment' ? [] : customFields(table, fields, entries);
    return { kind: found.kind, table, doubt: found.doubt, why: found.reasons, fields: inOrder([...fields, ...custom]) };
  });
  return agreeing(drafts.map((entry, at) => numberedAlike(entry, drafts.slice(0, at), facts.references)));
}

const PLACES = ['settings', 'data', 'custom'] as const;

/** Files that number their records alike: comments, which nothing refers to, get a prefix; others are marked. */
function numberedAlike(entry: EntryDraft, before: readonly EntryDraft[], references: readonly Reference[]): EntryDraft {
  const idOf = ({ fields }: EntryDraft): Column | undefined =>
    fields.find(({ key }) => key === 'external_id')?.columns[0];
  const own = idOf(entry);
  const isSame = (other: Column | undefined): boolean =>
    references.some(({ from, to }) => (from === own && to === other) || (from === other && to === own));
  const other = before.find((each) => each.kind === entry.kind && each.table !== entry.table && isSame(idOf(each)));
  if (!own || !other || own.is.email >= LEVELS.half) return entry;
  const said = `${quoted(own)} has ids of ${other.table.source}, too`;
  const more: Partial<Field> =
    entry.kind === 'comment'
      ? { value: valueOf(own, { prefix: `${entry.table.source}-` }), said: `${said}: with a prefix` }
      : { doubt: 'check', said: `${said}: are they the same records?` };
  return { ...entry, fields: entry.fields.map((each) => (each.key === 'external_id' ? { ...each, ...more } : each)) };
}

/** Entries of one type have one policy for ids that occur twice: the program refuses others. */
function agreeing(entries: readonly EntryDraft[]): EntryDraft[] {
  return entries.map((entry) => {
    const isPolicy = ({ key }: Field): boolean => key === 'duplicates';
    const policy = entries
      .filter(({ kind }) => kind === entry.kind)
      .flatMap(({ fields }) => fields.find(isPolicy) ?? [])[0];
    if (!policy || entry.fields.some(isPolicy)) return entry;
    const same: Field = { ...policy, doubt: undefined, said: 'as for the other records of this type' };
    return { ...entry, fields: inOrder([same, ...entry.fields]) };
  });
}

function inOrder(fields: readonly Field[]): Field[] {
  return PLACES.flatMap((place) => fields.filter((field) => field.place === place));
}

const FIELDS: Readonly<Record<KindFound['kind'], (entry: Entry, parents: readonly Field[]) => Field[]>> = {
  lead: (entry) => [
    ...deletedRows(entry),
    timeField('created', entry),
    ...(entry.key?.fields ?? []),
    nameField(entry),
    contactField('email', entry),
    contactField('phone', entry),
  ],
  deal: (entry, parents) => [
    ...deletedRows(entry),
    roleField('pipeline', entry),
    timeField('created', entry),
    ...(entry.key?.fields ?? []),
    titleField(entry),
    amountField(entry),
    ...currencyField(entry),
    ...parents,
    stageField(entry),
    namedField('owner', entry),
  ],
  comment: (entry, parents) => [
    ...withParent(entry, parents),
    timeField('happened', entry),
    contentField(entry),
    ...(entry.key?.fields ?? []),
    namedField('author', entry),
    ...parents,
  ],
};

/** Records that were deleted or archived in the old CRM are not sent. */
function deletedRows({ table }: Entry): Field[] {
  const column = table.columns.find(
    ({ meaning: { concepts }, is, date, filled, list }) =>
      filled > 0 && list === undefined && concepts.has('deleted') && (is.flag >= LEVELS.most || date !== undefined),
  );
  const yes = [...(column?.counts?.keys() ?? [])].filter((value) => TRUE.test(value));
  if (!column || (!column.date && yes.length === 0)) return [];
  const count = column.date ? column.filled : yes.reduce((sum, value) => sum + column.counts!.get(value)!, 0);
  const value: ConditionSpec = column.date ? { from: column.name, present: false } : { from: column.name, not_in: yes };
  const said = `${quoted(column)} says that ${ofText(count, table.records)} were deleted: these are skipped`;
  return [{ key: 'when', place: 'settings', value, columns: [], doubt: 'check', said }];
}

function timeField(role: 'created' | 'happened', entry: Entry): Field {
  if (entry.found.assignment.taken.has(role)) return roleField(role, entry);
  const dates = entry.table.columns.filter(({ date, is, list }) => date && is.birth === 0 && list === undefined);
  const [first] = dates;
  const none = missingField(role, entry);
  if (!first || none.doubt === 'set') return none;
  const said = `no column looks like the date of creation; dates are in ${dates.slice(0, 2).map(quoted).join(', ')}`;
  const choices = dates.map((column) => ({ ...choiceOf(role, column), value: dateValue(column) }));
  return { ...none, value: dateValue(first), doubt: 'set', said, choices };
}

/** A deal without a title has the title that the service gives it. */
function titleField(entry: Entry): Field {
  const field = roleField('title', entry);
  const lacking = entry.table.records - (field.columns[0]?.filled ?? entry.table.records);
  return lacking === 0
    ? field
    : { ...field, doubt: 'check', said: `${field.said}; ${counted(lacking, 'deal')} without one` };
}

function amountField(entry: Entry): Field {
  const field = roleField('amount', entry);
  const [column] = field.columns;
  if (!column) return field;
  const more = scaleOf(column)?.why ?? (isHundreds(column) ? 'all are multiples of 100: cents?' : undefined);
  if (more !== undefined) return { ...field, doubt: field.doubt ?? 'check', said: `${field.said}; ${more}` };
  const other = entry.table.columns.find(
    ({ name, is, separators, meaning }) =>
      name !== column.name && is.money + is.decimal > 0 && separators && meaning.concepts.has('amount'),
  );
  return !other || field.doubt ? field : { ...field, said: `${field.said}; not ${quoted(other)}` };
}

/** Subject and text. */
function contentField(entry: Entry): Field {
  const { taken } = entry.found.assignment;
  const [content, subject] = [taken.get('content'), taken.get('subject')];
  if (!content && !subject) return missingField('content', entry);
  const choices = activityText(entry);
  const field = { ...roleField(content ? 'content' : 'subject', entry), key: 'content', choices };
  const said = [field.said, ...choices.map(({ answer }) => `or ${answer}`)].join('; ');
  const doubt = choices.length > 0 ? 'check' : field.doubt;
  if (!content || !subject) return { ...field, doubt, said };
  const columns = [subject.column, content.column];
  const value = { list: columns.map((column) => valueFor('content', column)), apply: [{ join: '\n\n' }] };
  return { ...field, value, columns, doubt, said: `${quoted(content.column)} in ${said}` };
}

/** The date and type of an activity in its text, where nothing else keeps them. */
function activityText({ table, found }: Entry): NonNullable<Field['choices']> {
  const content = (found.assignment.taken.get('content') ?? found.assignment.taken.get('subject'))?.column;
  const time = found.assignment.taken.get('happened')?.column;
  const type = table.columns.find(
    (each) =>
      each.meaning.concepts.has('type') && each.is.few === 1 && !each.meaning.concepts.has('id') && each !== content,
  );
  if (!content || !type) return [];
  const template = `${time ? `{${time.name}} ` : ''}{${type.name}}: {${content.name}}`;
  return [{ answer: template, label: `with what it is before it: ${template}`, value: { template } }];
}

/** Comments of records that are in no export are skipped, where that can be told. */
function withParent({ table }: Entry, parents: readonly Field[]): Field[] {
  const live = parents.filter(({ off }) => !off);
  const setting = (key: string, value: Field['value'], said: string): Field => {
    return { key, place: 'settings', value, columns: [], said };
  };
  const both = live.length > 1 ? [setting('if_both', 'deal', '')] : [];
  const isOpen = live.every(
    ({ value, columns: [column] }) => typeof value === 'object' || (column && column.filled < table.records),
  );
  const isPartial = live.some(({ value }) => /"template"|"if_missing":"skip"/.test(JSON.stringify(value)));
  if (!isOpen || !(isPartial || live.length > 1)) return both;
  const values = live.map(({ value }) => value as ValueSpec);
  const when: ConditionSpec = { from: values.length === 1 ? values[0]! : values, present: true };
  return [setting('when', when, 'only records whose lead or deal is in the exports'), ...both];
}

/** People whose addresses another table has, too, are skipped: whoever wants them twice leaves that out. */
function twiceFields({ table, found, references }: Entry, entries: readonly Entry[]): Field[] {
  const email = found.kind === 'lead' ? found.assignment.taken.get('email')?.column : undefined;
  const others = entries.filter((each) => each.table !== table && each.found.kind === 'lead');
  const isOf = ({ found: { assignment } }: Entry, column: Column): boolean =>
    assignment.taken.get('email')?.column === column;
  for (const { from, to, share, found: n, of } of references) {
    const other = from === email && share >= LEVELS.half ? others.find((each) => isOf(each, to)) : undefined;
    const isBoth = references.some((each) => each.from === to && each.to === from);
    // Of two tables that have each other's, the later one.
    const at = entries.findIndex((each) => each.table === table);
    if (!other?.key || (isBoth && entries.indexOf(other) > at)) continue;
    const [match, own] = [valueOf(to, 'lowercase'), valueOf(from, 'lowercase')];
    const take = other.key.key.value;
    const { source } = other.table;
    const lookup = { source, match, with: own, take, if_missing: 'skip', if_many: 'first' } as const;
    const said = `${ofText(n, of)} addresses are also in ${source}: these people are skipped`;
    return [{ key: 'when', place: 'settings', value: { lookup, present: false }, columns: [], doubt: 'check', said }];
  }
  return [];
}

/** Every other column, under its own name. */
function customFields(table: Table, fields: readonly Field[], entries: readonly Entry[]): Field[] {
  const used = new Set(fields.filter(({ off, columns }) => !off && columns.length > 0).flatMap(kept));
  const lists = new Set(entries.flatMap((entry) => (entry.table.holder === table ? [entry.table.list!] : [])));
  const isEntry = (list: string): boolean => [...lists].some((each) => `${list}.`.startsWith(`${each}.`));
  const read = new Set(fields.filter(({ off }) => !off).flatMap(({ columns }) => columns));
  /** A list of one element whose only value is read. */
  const isWhole = (list: string): boolean =>
    table.columns.every((each) => each.list !== list || each.filled === 0 || (each.several === 0 && read.has(each)));
  const names = new Set<string>();
  const custom: Field[] = [];
  const add = (name: string, value: ValueSpec, columns: readonly Column[]): void => {
    const base = fold(name).replaceAll(' ', '_').slice(0, 100) || 'field';
    let key = base;
    for (let number = 2; names.has(key); number += 1) key = `${base}_${number}`;
    names.add(key);
    custom.push({ key, place: 'custom', value, columns, said: '' });
  };
  const seen = new Set<string>();
  for (const column of table.columns) {
    const { list, name, filled, pair } = column;
    const isTaken = used.has(column) || (list !== undefined && (isEntry(list) || seen.has(list) || isWhole(list)));
    if (filled === 0 || pair || isTaken) continue;
    if (list === undefined) add(name, customValue(column), [column]);
    else {
      seen.add(list);
      add(list, name === list ? { from: list, apply: [{ join: ', ' }] } : { from: list, as: 'json' }, [column]);
    }
  }
  return custom;
}

/** What a field keeps whole: of several columns the first, of a list nothing. */
function kept({ key, columns, value }: Field): readonly Column[] {
  const own = columns.filter(({ list }) => list === undefined);
  if (key === 'email' || key === 'phone_number')
    return JSON.stringify(value).includes('"split"') ? [] : own.slice(0, 1);
  if (key === 'stage_name') return own.slice(0, 1);
  return own;
}

function customValue(column: Column): ValueSpec {
  const { date, is, table, name } = column;
  // Where `false` means no value elsewhere, a flag is false without one.
  const isFalse =
    is.flag >= LEVELS.all && table.raw.columns.some(({ missing }) => [...missing.keys()].some(isFalseText));
  if (isFalse && [...(column.counts?.keys() ?? [])].some(isFalseText)) return { from: name, default: false };
  return date && date.unread === 0 && !date.ambiguous ? dateValue(column, !date.hasTime) : valueOf(column);
}
