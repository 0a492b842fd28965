/** Asks what `init` cannot decide: what each file is, then each line that would be marked. */
import { isCurrency } from '../../../kinds/currencies.ts';
import { entityOf, fieldNamed, kindOf } from '../../../kinds/index.ts';
import type { ConditionSpec, ValueSpec } from '../../../mapping/spec.ts';
import { conditionWords, inline } from '../../../mapping/words.ts';
import { didYouMean } from '../../../problem.ts';
import type { Question } from '../../../report/print/ask.ts';
import { counted } from '../../../report/words/numbers.ts';
import { cellsOf, type Column, type Table } from '../columns.ts';
import { dateText } from '../dates.ts';
import { dateValue, figuresOf } from '../evidence.ts';
import { nameOf } from '../fate-texts.ts';
import type { EntryDraft } from '../guess.ts';
import { joinsTo, type KnownTables } from '../relations/joins.ts';
import { partOf } from '../open-export.ts';
import { RECORD_KINDS, roleOf, type RecordKind, type Role } from '../matrix/roles.ts';
import { meaningOf } from '../words.ts';
import type { AnswerChoice, Answers } from './answers.ts';
import { entryOf } from './entries.ts';
import { flow, isOpen, linesOf, plainComment, readsOf, withLines, type Entry, type Line } from './yaml.ts';

/** What a file may be. */
const KINDS: readonly AnswerChoice<ReadonlySet<RecordKind>>[] = [
  ['leads', 'people: they become leads', 'lead'],
  ['deals', 'deals', 'deal'],
  ['both', 'people and deals: each row becomes both', 'lead', 'deal'],
  ['comments', 'notes, calls, tasks: they become comments', 'comment'],
  ['none', 'none of these; other records may look up names in it'],
].map(([value, label, ...kinds]) => ({
  value: value!,
  label: label!,
  then: () => new Set(RECORD_KINDS.filter((kind) => kinds.includes(kind))),
}));

/** How each file is read, and what it is: the kinds of those for which somebody says so. */
export async function askFiles(
  { tables, drafts }: Pick<KnownTables, 'tables' | 'drafts'>,
  answers: Answers,
): Promise<Map<Table, ReadonlySet<RecordKind>>> {
  const kinds = new Map<Table, ReadonlySet<RecordKind>>();
  for (const table of tables) {
    if (table.list !== undefined || table.rows === 0) continue;
    await askReading(table, answers);
    const guess = drafts.flatMap((draft) => (draft.table === table ? [draft.kind] : []));
    const proposal = KINDS.findIndex(({ then }) => [...then('')].join() === guess.join());
    const text = `${headOf(table)}\nWhat are these records?`;
    const answer = await answers.to({
      name: nameOfRecords(table),
      text,
      choices: KINDS,
      proposal: Math.max(0, proposal),
    });
    if (!answer) continue;
    kinds.set(table, answer);
    table.settled.add('kind');
  }
  return kinds;
}

/** Whether columns of notes become comments of their records: the drafts, of which those that do are no proposals. */
export async function askNotes(drafts: readonly EntryDraft[], answers: Answers): Promise<EntryDraft[]> {
  const kept: EntryDraft[] = [];
  for (const draft of drafts) {
    const { notes, table, kind } = draft;
    if (!notes) kept.push(draft);
    else {
      const { column, of, instead } = notes;
      const choices: AnswerChoice<boolean>[] = [
        { value: 'comments', label: `comments of their ${kindOf(of).words[1]}${examplesOf(column)}`, then: () => true },
        { value: 'custom', label: 'a custom field', then: () => false },
      ];
      const why = instead === undefined ? '' : `; ${instead}`;
      const text = `${nameOf(table)}, ${kindOf(of).words[1]}\n${column.name}: ${figuresOf('content', column)}${why}\nWhat do these notes become?`;
      const proposal = instead === undefined ? 0 : 1;
      const answer = await answers.to({
        name: `${nameOfRecords(table)}.${kind}.${column.name}`,
        text,
        choices,
        proposal,
      });
      if (answer === undefined) kept.push(draft);
      else if (answer) kept.push({ ...draft, notes: { column, of, isSettled: true } });
    }
  }
  return kept;
}

/** What was assumed so that the file could be read; the names of columns that have none. */
async function askReading(table: Table, answers: Answers): Promise<void> {
  const { columns, source } = table;
  const { settings, reasons } = table.from;
  if (reasons.length === 0 || partOf(settings) !== undefined) return;
  const names = columns.map(({ name }) => name);
  const isUnnamed = settings.columns !== undefined;
  const count = `${counted(names.length, 'name')} in their order, separated by commas`;
  const namesIn = (text: string): string[] => text.split(',').map((name) => name.trim());
  const isNaming = (given: string[]): boolean => new Set(given.filter(Boolean)).size === names.length;
  const choices: AnswerChoice<readonly string[] | undefined>[] = [
    { value: 'yes', label: isUnnamed ? `as proposed: ${names.join(', ')}` : 'read it like this', then: () => names },
    { value: 'mark', label: 'read it like this, and mark it `# check`', then: () => undefined },
  ];
  const mistake = (text: string) => (isNaming(namesIn(text)) ? undefined : count);
  const typed = { value: names.join(', '), label: `other: type ${count}`, mistake, then: namesIn };
  if (isUnnamed) choices.splice(1, 0, typed);
  const text = `${headOf(table)}\n${reasons.join('; ')}`;
  const answer = await answers.to({ name: `${source}.read`, text, choices, proposal: 0 });
  if (!answer) return;
  table.settled.add('reading');
  for (const [at, name] of answer.entries()) {
    if (name === names[at]) continue;
    columns[at]!.name = name;
    columns[at]!.meaning = meaningOf(name);
  }
}

function headOf(table: Table): string {
  return `${nameOf(table)}, ${counted(table.rows, 'record')}:\n${rowsText(table)}`;
}

const EXAMPLES = 3;
/** Between values, which have commas of their own. */
const SEPARATOR = ' | ';

/** Of a table, in a question. */
const MOST_COLUMNS = 8;

/** A line for each column, with its values in the first three records. */
function rowsText({ columns }: Table): string {
  const all = columns.filter(({ filled, list }) => filled > 0 && list === undefined);
  const shown = all.slice(0, MOST_COLUMNS);
  const rows = cellsOf(shown).slice(0, EXAMPLES);
  const valuesAt = (at: number): string => rows.map((row) => short(row[at] ?? '-', MOST_OF_THREE)).join(SEPARATOR);
  const more = all.length > shown.length ? [`  and ${counted(all.length - shown.length, 'more column')}`] : [];
  return [...shown.map(({ name }, at) => `  ${short(name)}: ${valuesAt(at)}`), ...more].join('\n');
}

/** Characters of each of three values in a line. */
const MOST_OF_THREE = 16;

function short(text: string, most = 30): string {
  const plain = text.replace(/\s+/g, ' ');
  return plain.length > most ? `${plain.slice(0, most)}…` : plain;
}

/** Three values of a column. */
function examplesOf(column: Column | undefined): string {
  const values = [...new Set(column?.values ?? [])].slice(0, EXAMPLES).map((each) => short(each));
  return values.length > 0 ? `: ${values.join(SEPARATOR)}` : '';
}

/** What becomes of a line: another value, or none, and the column that has its role from now on. */
interface Decision {
  readonly change: Partial<Line>;
  readonly column?: Column | undefined;
}

/** What happens without a line that is no field. */
const WITHOUT: Readonly<Record<string, string>> = {
  when: ': these rows are sent, too',
  duplicates: ': rows with the same id and different values are errors',
  if_parent_missing: ': they are errors',
};

function leaveOut(key: string, without = WITHOUT[key] ?? ''): AnswerChoice<Decision> {
  return {
    value: 'out',
    label: `leave it out${without}`,
    then: () => ({ change: { off: true, comment: 'left out' } }),
  };
}

/** The entries of the drafts, with the user's answers in place of marks. */
export async function askLines(known: KnownTables, answers: Answers): Promise<Entry[]> {
  const drafts = [...known.drafts];
  const entry = (at: number): Entry => entryOf(drafts[at]!, { ...known, drafts });
  const changes = drafts.map(() => new Map<string, Partial<Line>>());
  for (const [at, own] of changes.entries()) {
    if (drafts[at]!.notes?.instead) continue;
    let lines = linesOf(entry(at));
    for (const [place] of [...lines].filter(([, each]) => isOpen(each))) {
      const line = lines.get(place);
      if (!line || !isOpen(line)) continue;
      const draft = drafts[at]!;
      const choices = choicesFor(line, draft, { ...known, drafts });
      const proposal = line.off ? choices.length - 1 : 0;
      const answer = await answers.to({ ...questionAbout(line, draft.table, draft.kind), choices, proposal });
      if (!answer) continue;
      own.set(place, answer.change);
      if (!answer.column) continue;
      drafts[at] = withRole(draft, line.key, answer.column);
      lines = linesOf(entry(at));
    }
  }
  return drafts.map((_, at) => withChanges(entry(at), changes[at]!));
}

/** The entries, with answers about what the trial has marked: as it is, or left out. */
export async function askMarks(
  entries: readonly Entry[],
  tables: readonly Table[],
  answers: Answers,
): Promise<Entry[]> {
  const decided: Entry[] = [];
  for (const entry of entries) {
    const { table, type, refused } = entry;
    const changes = new Map<string, Partial<Line>>();
    for (const [place, line] of refused === undefined ? linesOf(entry) : []) {
      if (!isOpen(line)) continue;
      const choices = [...(line.off ? [] : [proposed(line, table, tables)]), leaveOut(line.key)];
      const answer = await answers.to({ ...questionAbout(line, table, entityOf(type)), choices, proposal: 0 });
      if (answer) changes.set(place, answer.change);
    }
    decided.push(withChanges(entry, changes));
  }
  return decided;
}

/** The names of all questions that there may be about lines. */
export function namesOf(entries: readonly Entry[]): string[] {
  return entries.flatMap((entry) =>
    [...linesOf(entry).values()].map((line) => questionAbout(line, entry.table, entityOf(entry.type)).name),
  );
}

/** Its name is `deals.deal.amount`, `contacts#notes.comment.content`. */
function questionAbout(line: Line, table: Table, kind: string): Pick<Question, 'name' | 'text'> {
  return {
    name: `${nameOfRecords(table)}.${kind}.${line.key}`,
    // The choices are those that come near.
    text: `${nameOf(table)}${table.list === undefined ? '' : `, list \`${table.list}\``}, ${kindOf(kind).words[1]}\n${line.key}: ${plainComment(line).replace(/; runner-up: .*$/s, '')}`,
  };
}

/** `deals`, `contacts#notes`; of a type of records, `export:deal`. */
function nameOfRecords({ source, list, from: { type } }: Table): string {
  const is = type && type.as !== 'records' && (typeof type.is === 'string' ? type.is : type.is[0]!);
  return `${source}${is ? `:${is}` : ''}${list === undefined ? '' : `#${list}`}`;
}

function withChanges(entry: Entry, changes: ReadonlyMap<string, Partial<Line>>): Entry {
  return withLines(entry, (line, place) => {
    const change = changes.get(place);
    return change ? { ...line, off: false, comment: plainComment(line), ...change } : line;
  });
}

/** The value as it is, with three values of the first column that it reads, and what a lookup takes for them. */
function proposed({ key, value }: Line, table: Table, tables: readonly Table[]): AnswerChoice<Decision> {
  const words = key === 'when' ? conditionWords(value as ConditionSpec, {}) : inline(value as ValueSpec, {});
  const column = columnIn(value, table);
  const taken = column ? takenFor(column, value, tables).slice(0, EXAMPLES) : [];
  const shown = taken.length > 0 ? `: ${taken.join(SEPARATOR)}` : examplesOf(column);
  return { value: 'yes', label: `as proposed: ${short(words, 200)}${shown}`, then: () => ({ change: {} }) };
}

/** The first column of its own record that a value reads; undefined if a template changes its values. */
function columnIn(value: unknown, { columns }: Table): Column | undefined {
  if ((value as { template?: string } | undefined)?.template !== undefined) return undefined;
  const own = [...readsOf(value)].filter(({ source }) => source === undefined);
  return own.flatMap(({ path }) => columns.find(({ name }) => name === path) ?? [])[0];
}

/** What a lookup takes for three values: `501 -> rita@acme.example`. */
function takenFor({ values }: Column, value: unknown, tables: readonly Table[]): string[] {
  const [match, take, ...more] = [...readsOf(value)].filter(({ source }) => source !== undefined);
  const other = tables.find((each) => each.source === match?.source && each.list === undefined);
  const columns = [match, take].flatMap((read) => other?.columns.find((each) => each.name === read?.path) ?? []);
  if (columns.length < 2 || more.length > 0) return [];
  const taken = new Map(cellsOf(columns).map(([key, held]) => [key, held] as const));
  return [...new Set(values)].flatMap((key) => (taken.get(key) ? [`${short(key)} -> ${short(taken.get(key)!)}`] : []));
}

/** Another value, without a comment. */
function valueOf(value: unknown): Decision {
  return { change: { value, comment: undefined } };
}

/** The value as it is, others (columns each with its figures and three values), then to type one, and last to leave it out. */
function choicesFor(line: Line, draft: EntryDraft, known: KnownTables): AnswerChoice<Decision>[] {
  const isRequired = kindOf(draft.kind).fields.some((field) => field.name === line.key && field.isRequired);
  return [
    ...(line.off ? [] : [proposed(line, draft.table, known.tables)]),
    ...columnsFor(line, draft),
    ...swappedFor(line, draft.table),
    ...otherParents(line, draft),
    ...parentsFor(line, draft, known),
    ...typedFor(line, draft),
    ...(isRequired && !line.off ? [] : [leaveOut(line.key, isRequired ? ': none of these is sent' : undefined)]),
  ];
}

/** The columns that come near. */
function columnsFor({ key, off }: Line, { kind, roles, candidates }: EntryDraft): AnswerChoice<Decision>[] {
  const role = roleOf(key, kind);
  if (role === undefined) return [];
  const others = (off ? undefined : roles.get(role)?.others) ?? candidates.get(role) ?? [];
  return others.map(({ column }) => ({
    value: column.name,
    label: `${column.name} (${figuresOf(role, column)})${examplesOf(column)}`,
    then: () => ({ change: {}, column }),
  }));
}

/** Day and month the other way round. */
function swappedFor({ value: own }: Line, table: Table): AnswerChoice<Decision>[] {
  const column = columnIn(own, table);
  if (!column?.date?.ambiguous) return [];
  const { ambiguous, ...date } = column.date;
  const { example, other } = ambiguous;
  const swapped = { ...column, date: { ...date, formats: [other, ...date.formats.slice(1)] } };
  const value = dateValue(swapped, JSON.stringify(own).includes('"as":"date"'));
  return [{ value: other, label: `${other}: ${example} is ${dateText(example, other)}`, then: () => valueOf(value) }];
}

/** The other records that it may belong to, where it names several. */
function otherParents({ key, value }: Line, { kind }: EntryDraft): AnswerChoice<Decision>[] {
  const others = key === 'if_both' ? kindOf(kind).parents.filter((each) => each.kind !== value) : [];
  return others.map((each) => ({ value: each.kind, label: `\`${each.kind}\``, then: () => valueOf(each.kind) }));
}

/** Other ways to the record that it belongs to. */
function parentsFor({ key, value }: Line, draft: EntryDraft, known: KnownTables): AnswerChoice<Decision>[] {
  const kind = fieldNamed(key)?.parent;
  return known.drafts
    .filter((each) => each.kind === kind && each.table !== draft.table)
    .flatMap((target) => joinsTo(draft, target, known))
    .filter((join) => flow(join.value) !== flow(value))
    .filter(({ columns: [own] }, at, all) => !own || all.findIndex((each) => each.columns[0] === own) === at)
    .slice(0, EXAMPLES)
    .map(({ columns, why, value: other }) => {
      // Without a column of its own, a record is found by another table that has its id.
      const own =
        columns.length > 0 ? columns.map(({ name }) => name) : [...readsOf(other)].map(({ source }) => source);
      const names = [...new Set(own.filter(Boolean))].join(', ');
      return { value: names, label: `${names} (${why})`, then: () => valueOf(other) };
    });
}

/** Another column by its name; of a currency, its code. */
function typedFor({ key }: Line, { kind, table }: EntryDraft): AnswerChoice<Decision>[] {
  const role = roleOf(key, kind);
  const isTime = role === 'created' || role === 'happened';
  const columns = new Map(table.columns.flatMap((each) => (each.date || !isTime ? [[each.name, each]] : [])));
  const names = [...columns.keys()];
  if (names.length === 0 || (role === undefined && fieldNamed(key)?.parent === undefined)) return [];
  const isMoney = role === 'currency';
  const mistake = (text: string): string | undefined =>
    columns.has(text) || (isMoney && isCurrency(text))
      ? undefined
      : (didYouMean(text, names) ?? `the columns are ${names.join(', ')}`);
  const then = (text: string): Decision => {
    const column = columns.get(text);
    if (!column) return valueOf({ value: text });
    return role === undefined ? valueOf(text) : { change: {}, column };
  };
  const label = `other: type the name of a column${isMoney ? ', or a code such as EUR' : ''}`;
  return [{ value: isMoney ? 'EUR' : names[0]!, label, mistake, then }];
}

function withRole(draft: EntryDraft, key: string, column: Column): EntryDraft {
  const role = roleOf(key, draft.kind)!;
  const isFree = ([other, found]: readonly [Role, { column: Column }]): boolean =>
    (found.column !== column || other === 'id') && !(role === 'full' && (other === 'first' || other === 'last'));
  const roles = new Map([...[...draft.roles].filter(isFree), [role, { column, score: 1, others: [] }]]);
  return { ...draft, roles, ...(role === 'id' && { key: { value: column.name, column } }) };
}
