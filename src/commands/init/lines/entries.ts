/** The entries of drafts: for every field of a kind of record a line with the column that it is made of, or with the candidates. */
import { kindOf } from '../../../kinds/index.ts';
import { ofText } from '../../../report/words/numbers.ts';
import {
  countOf,
  countsOf,
  countWithout,
  isComplete,
  isIn,
  isOneOf,
  pathOf,
  type Column,
  isOfApi,
} from '../columns.ts';
import { dateText, doubtOf, isReadable, serialIn } from '../dates.ts';
import { customValue, isCompany, isOnly, keyOf, quoted, TRUE, unreadText } from '../evidence.ts';
import type { EntryDraft, Notes } from '../guess.ts';
import { flagOf } from '../relations/lookups.ts';
import { isSure, type Reference } from '../relations/references.ts';
import { isStaff } from '../matrix/roles.ts';
import { firmsAmong } from '../relations/firms.ts';
import type { KnownTables } from '../relations/joins.ts';
import { nameOf } from '../relations/names.ts';
import { authorLine, contentLine } from './comment-lines.ts';
import { amountLine, currencyLine, priorityLine, stageLine, titleLine } from './deal-lines.ts';
import { idLine, namedLine, timeLine, type Context, type Made } from './field-lines.ts';
import { emailLine, nameLine, phoneLine } from './person-lines.ts';
import { keptParent, parentLines } from './parent-lines.ts';
import type { RecordType } from '../raw-table.ts';
import { fold, meaningOf, type Meaning } from '../words.ts';
import { flow, plainComment, reads, withLines, type Entry, type Line } from './yaml.ts';

/** How the fields of records are made, but those of parents. */
const FIELDS: Readonly<Record<string, (context: Context, parents: readonly Line[]) => Made>> = {
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
  author_name: authorLine,
};

/** Of rows that are a person and a deal, and of their notes, each carries its own columns. */
function contextOf(draft: EntryDraft, known: KnownTables): Context {
  const { table, twin } = draft;
  const twins = known.drafts.filter(
    (each) => each === draft || (each.table === table && (each.notes ? !each.notes.instead : twin)),
  );
  const own = twins.flatMap((each) =>
    [...each.roles].filter(([role]) => each !== draft || (role !== 'outcome' && !(role === 'id' && draft.key?.isOnce))),
  );
  return { draft, known, used: new Set(own.map(([, { column }]) => column)) };
}

export function entryOf(draft: EntryDraft, known: KnownTables): Entry {
  const { table, doubt, twin, only, key, roles, notes } = draft;
  const kind = kindOf(draft.kind);
  const context = contextOf(draft, known);
  const parents = parentLines(context);
  const data = kind.fields.flatMap(({ name, parent, isRequired }): Line[] => {
    if (parent !== undefined) return parents.filter((each) => each.key === name);
    // Without an id for notes, none is written.
    const make = name === 'external_id' && !isRequired && !roles.has('id') && !key ? undefined : FIELDS[name];
    return make ? [{ key: name, ...make(context, parents) }] : [];
  });
  const isDeal = kind.features.includes('pipelines');
  const settings = [
    ...(table.list === undefined ? [] : [{ key: 'each', value: table.list }]),
    ...whenLines(context, data, parents),
    ...(key?.repeats && mainTest(draft).length === 0 ? [duplicatesLine(draft)] : []),
    ...(parents.filter(({ off }) => !off).length > 1 ? [{ key: 'if_both', ...keptParent(context, parents) }] : []),
    ...(parents.some(({ off }) => !off) ? orphanLines(context) : []),
    ...(isDeal ? [{ key: 'stage_pipeline', ...namedLine(context, 'pipeline') }] : []),
    { key: 'occurred_at', ...timeLine(context) },
    ...(isDeal ? priorityLine(context) : []),
  ];
  const above = [
    ...(doubt === undefined ? [] : [doubt]),
    ...(only && !twin
      ? ['check: each row is a person or a deal, never both; what the other rows are is not known']
      : []),
    ...(notes && !notes.isSettled ? [`check: ${notesText(notes)}`] : []),
    ...(table.only?.as === 'parts'
      ? [`check: these rows have a \`${table.only.from}\`, so they become comments of that record`]
      : []),
    ...stateTests(context).flatMap(({ isNeeded, value, why }) =>
      isNeeded
        ? [
            `check: ${why} are sent, because other records belong to some of them; to skip them, add \`when: ${flow(value)}\``,
          ]
        : [],
    ),
    ...(twin && kind.name === 'lead' ? ['each row is a person and a deal, so it becomes a lead and a deal'] : []),
  ];
  const custom = kind.custom === undefined ? [] : customLines(context);
  const entry: Entry = { table, type: `${draft.kind}/created`, source: table.source, above, settings, data, custom };
  if (notes?.instead) return { ...entry, refused: notesText(notes), isProposal: true };
  return notes?.isSettled ? withLines(entry, (line) => ({ ...line, comment: plainComment(line) })) : entry;
}

/** Which of several records with one id is kept: marked, unless all that is sent of it is the same in them. */
function duplicatesLine({ key, kind, table, twin }: EntryDraft): Line {
  const { keep = 'first', repeats, isOnce, differs } = key!;
  const kept =
    keep === 'last'
      ? 'the last record of each is kept'
      : isOnce
        ? 'the first record of each is kept, and the others are not sent'
        : 'the first record of each is kept';
  const isAlike = twin && differs === '' && !table.members && keep === 'first';
  const comment = isAlike
    ? `${repeats!}, with the same ${kind === 'lead' ? 'names, addresses and numbers' : 'title, amount and stage'}`
    : `check: ${[repeats, differs, kept].filter(Boolean).join('; ')}`;
  return { key: 'duplicates', value: keep, comment };
}

/** What becomes of a column of notes. */
function notesText({ of, column, instead }: Notes): string {
  const [, many] = kindOf(of).words;
  return instead
    ? `${quoted(column)} stays a custom field, because ${instead}. To send it as comments, uncomment its entry in the mapping and remove its custom field`
    : `${quoted(column)} has notes about ${many}, so it becomes comments, not a custom field`;
}

function testOf({ from, is, isNot }: RecordType): object {
  if (isNot) return { from, not_in: is };
  return typeof is === 'string' ? { from, present: is === 'present' } : { from, in: is };
}

/** Fields of which a person has one at least. */
const PERSONAL: readonly string[] = ['full_name', 'email', 'phone_number'];

/** Skips records that were deleted in the old CRM; of notes, those without a text or a parent. */
function whenLines(context: Context, data: readonly Line[], parents: readonly Line[]): Line[] {
  const { draft, used } = context;
  const { table, kind, notes, twin } = draft;
  const { only, from } = table;
  // Records of other types have entries of their own.
  const { type } = from;
  const others = type?.others ?? (type ? '' : 'records of other properties');
  const tests: Test[] = only ? [{ value: testOf(only), why: others, count: type?.skipped }] : [];
  const present = (values: readonly unknown[]) => ({ from: values.length === 1 ? values[0] : values, present: true });
  const areEmpty = (columns: readonly Column[]): string => columns.map(({ sql }) => `${sql} is null`).join(' and ');
  const full = [...used].filter((each) => each.list === undefined && isComplete(each));
  if (kindOf(kind).isNote) {
    const content = data.find(({ key }) => key === 'content')!;
    const texts = table.columns.filter((each) => reads(content.value, each));
    if (!content.off && texts.length > 0 && !full.some((each) => reads(content.value, each)))
      tests.push({
        value: present(texts.map(({ name }) => name)),
        why: 'records without a text',
        isSkipped: areEmpty(texts),
      });
    const refs = parents.flatMap(({ off, value }) => (off ? [] : [value]));
    const isOptional = !notes && refs.length > 0 && !full.some(({ name }) => refs.includes(name));
    if (!content.off && isOptional && table.list === undefined)
      tests.push({ value: present(refs), why: 'records whose lead or deal is in no export' });
  }
  // With an id of its own, it is a person of whom nothing is known.
  const personal = data.filter(({ key, off }) => !off && PERSONAL.includes(key));
  const isOfDeal = twin && kind === 'lead' && table.list === undefined && !draft.key?.column;
  const who = isOfDeal ? table.columns.filter((each) => personal.some(({ value }) => reads(value, each))) : [];
  if (draft.only)
    tests.push({
      value: present([draft.only.name]),
      why: `records without ${quoted(draft.only)}`,
      isSkipped: areEmpty([draft.only]),
    });
  else if (who.length > 0 && countWithout(table, who) > 0)
    tests.push({
      value: present(who.map(({ name }) => name)),
      why: 'records without a name, e-mail address or phone number; if only the first row of a group has them (merged cells), fill the cells down first',
      isSkipped: areEmpty(who),
    });
  tests.push(...mainTest(draft));
  const firms = firmsAmong(draft, context.known.references);
  if (firms)
    tests.push({
      value: { from: firms.flag.name, not_in: firms.values },
      why: `companies, by ${quoted(firms.flag)}`,
      isSkipped: firms.isFirm,
    });
  const gone = deletedTests(context);
  tests.push(...gone);
  if (tests.length === 0) return [];
  const value = tests.length === 1 ? tests[0]!.value : { all: tests.map((each) => each.value) };
  const off = tests.length === gone.length && gone.some(({ count }) => count > table.rows / 2);
  const mark = off ? 'set this: ' : gone.length > 0 ? 'check: ' : '';
  const skips = tests.filter(({ why }) => why !== '').map((test) => ({ why: test.why, count: countOfSkipped(test) }));
  const whys = skips.map(({ why }) => why);
  return [{ key: 'when', value, ...(whys.length > 0 && { comment: `${mark}skips ${whys.join(', ')}`, skips }), off }];

  function countOfSkipped({ count, isSkipped, ...test }: Test): number | undefined {
    if (!table.whole || isSkipped === undefined) return count;
    const before = tests.slice(
      0,
      tests.findIndex(({ value: own }) => own === test.value),
    );
    const others = before.flatMap((each) =>
      each.isSkipped === undefined ? [] : [`not coalesce(${each.isSkipped}, false)`],
    );
    return countOf(table, `from ${table.sql} where ${[isSkipped, ...others].join(' and ')}`);
  }
}

/** A condition of a `when`, and in SQL, whether a record of the table does not meet it, where that can be said. */
interface Test {
  readonly value: object;
  readonly why: string;
  readonly isSkipped?: string;
  readonly count?: number | undefined;
}

/** Of the rows of a deal, one for each of its contacts, that of the main one. */
function mainTest({ kind, key, table }: EntryDraft): Test[] {
  const flag = kind === 'deal' && key?.repeats !== undefined ? flagOf(table) : undefined;
  if (!flag || !key?.column) return [];
  const isMain = `coalesce(${isOneOf(flag.column, [flag.value])}, false)`;
  const deals = `(select sum(${isMain}) n from ${table.sql} group by ${key.column.sql})`;
  if (countOf(table, `from ${deals} where n <> 1`) > 0) return [];
  return [
    {
      value: { from: flag.column.name, in: [flag.value] },
      why: 'rows of further contacts',
      isSkipped: `not ${isMain}`,
    },
  ];
}

/** What becomes of records whose parents, in another export, are skipped because they were deleted. */
function orphanLines({ draft: { kind, table }, known }: Context): Line[] {
  const { parents, isNote } = kindOf(kind);
  const gone = known.drafts.flatMap((each) => {
    const isParent = parents.some((parent) => parent.kind === each.kind);
    if (!isParent || each.table === table || each.table === table.parent) return [];
    const tests = deletedTests(contextOf(each, known));
    const isOff = tests.some(({ count }) => count > each.table.rows / 2);
    return isOff ? [] : tests.map(({ why }) => `${kindOf(each.kind).words[1]} are skipped: ${why}`);
  });
  if (gone.length === 0) return [];
  const comment = `check: some ${gone.join(', some ')}; their ${kindOf(kind).words[1]} are ${isNote ? 'left out' : 'sent without them'}`;
  return [{ key: 'if_parent_missing', value: isNote ? 'skip' : 'omit', comment }];
}

/** What is archived stays where other records belong to it: it is no mistake of theirs. */
function deletedTests(context: Context): StateTest[] {
  return stateTests(context).filter(({ isNeeded }) => !isNeeded);
}

interface StateTest extends Test {
  readonly count: number;
  /** These records are only archived, and records of other tables refer to some. */
  readonly isNeeded: boolean;
}

const ARCHIVED = /ar[ck]h?iv|arquiv|архив|アーカイブ|归档/u;

/** Conditions for what was not deleted or archived, by dates and flags of the record, or of the one that it is in. */
function stateTests({ draft: { table }, known, used }: Context): StateTest[] {
  const plain = table.columns.filter(({ origin }) => origin === undefined);
  const own = plain.map((column) => ({ column, from: column.name, rows: `from ${table.sql} where ` }));
  const above = (table.parent?.columns ?? []).map((column) => ({
    column,
    from: `$.${column.name}`,
    rows: `from ${table.sql} join ${table.parent!.sql} above using (record) where above.`,
  }));
  return [...own, ...above].flatMap(({ column, from, rows }) => {
    const { meaning, list, distinct, sql, filled, is } = column;
    const isFlag = meaning.concepts.has('deleted');
    // A date, or who deleted it and why: what few records have.
    const isDate =
      isFlag && is.flag < 0.5 && filled > 0 && (column.date !== undefined || filled < column.table.rows / 2);
    if (list !== undefined || (distinct > MAX_FLAGS && !isDate)) return [];
    // A status may say so, too.
    const says = ({ words }: Meaning): boolean => words.length === 1 && words[0]!.has('deleted');
    const isGone = (text: string): boolean => (isFlag ? TRUE.test(text) : !used.has(column) && says(meaningOf(text)));
    const values = isDate ? [] : [...countsOf(column).keys()].filter(isGone);
    if (!isDate && values.length === 0) return [];
    const isGoneRow = isDate ? `${sql} is not null` : isOneOf(column, values);
    const count = countOf(table, `${rows}${isGoneRow}`);
    const isArchived = column.table === table && ARCHIVED.test(fold(isFlag ? column.name : values.join(' ')));
    const isTheirs = (each: Reference): boolean =>
      each.to.table === table &&
      isSure(each, 0.8) &&
      !isStaff(each.from) &&
      countOf(
        each.from.table,
        `from ${each.from.table.sql} where ${each.from.sql} in (select ${each.to.sql} ${rows}${isGoneRow})`,
      ) > 0;
    return [
      {
        isNeeded: isArchived && known.references.some(isTheirs),
        value: isDate ? { from, present: false } : { from, not_in: values },
        why: `records that were deleted or archived (${ofText(count, table.rows)} by ${quoted(column)})`,
        count,
        ...(column.table === table && { isSkipped: isGoneRow }),
      },
    ];
  });
}

/** Distinct values of a flag or a status. */
const MAX_FLAGS = 12;

/** All columns with values that are not used otherwise. */
function customLines({ draft: { table }, known, used }: Context): Line[] {
  const lines = new Map<string, Line>();
  const events = known.drafts.flatMap((each) => (isIn(each.table, table) ? [each.table.list!] : []));
  const done = new Set<string>();
  for (const column of table.columns) {
    const { filled, isWrapper, several, label } = column;
    // A value that has a name is a field of its own.
    const list = label === undefined ? column.list : undefined;
    const isUsed = used.has(column) && (list === undefined || (several === 0 && isOnly(column)));
    const isDone = list !== undefined && (done.has(list) || events.includes(pathOf({ name: list, table })));
    if (filled === 0 || isWrapper || isUsed || isDone || isOfApi(column)) continue;
    if (list !== undefined) done.add(list);
    const pairs = known.tables.find((each) => each.parent === table && each.list === list)?.attributes;
    // All of its values have fields of their own.
    const own =
      pairs &&
      table.columns.filter((each) => each.label !== undefined && (each.list ?? each.name.split('[')[0]) === list);
    if (own?.length === pairs?.names && own?.every((each) => each.several === 0)) continue;
    const found = list === undefined ? nameOf(column, known, 'company') : undefined;
    if (found && isCompany(found.name) && !lines.has('company')) {
      lines.set('company', {
        key: 'company',
        value: found.join.value,
        comment: `${found.join.share < 1 ? 'check: ' : ''}${found.join.why}`,
      });
      continue;
    }
    const plain = keyOf(list ?? column.called ?? column.name);
    const key = lines.has(plain) ? `${plain}_${lines.size}` : plain;
    const comment = pairs
      ? `check: a list of values with their names (\`${pairs.by}\`); a function of your own can take the value of a name`
      : column.date && list === undefined
        ? isReadable(column.date, column.values)
          ? (doubtOf(column.date) ?? unreadText(column))
          : 'check: most are dates, but some match no format, so all are kept as text'
        : numberedText(column);
    lines.set(key, { key, value: customValue(column), comment });
  }
  return [...lines.values()];
}

function numberedText({ meaning, values }: Column): string | undefined {
  const serial = serialIn(meaning, values);
  if (serial === undefined) return undefined;
  return `check: if these are the days of a spreadsheet (${serial} would be ${dateText(serial, 'excel')}), add \`apply: [{ date: { formats: excel, as: date } }]\``;
}
