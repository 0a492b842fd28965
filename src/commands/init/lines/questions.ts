/** Asks what `init` cannot decide: what each file is, then each line that would be marked. */
import { isCurrency } from '../../../kinds/currencies.ts';
import { fieldNamed, kindOf } from '../../../kinds/index.ts';
import { didYouMean } from '../../../problem.ts';
import type { QuestionChoice } from '../../../terminal/ask.ts';
import { counted } from '../../../terminal/numbers.ts';
import type { RoleCandidate } from '../assign.ts';
import { cellsOf, type Column, type Table } from '../columns.ts';
import { dateText } from '../dates.ts';
import { dateValue, figuresOf } from '../evidence.ts';
import { nameOf } from '../fates.ts';
import type { EntryDraft } from '../guess.ts';
import { joinsTo, type KnownTables } from '../joins.ts';
import { partOf } from '../open-export.ts';
import { meaningOf } from '../words.ts';
import type { Answers } from './answers.ts';
import { entryOf } from './entries.ts';
import { flow, isOpen, plainComment, type Entry, type Line } from './yaml.ts';
import type { RecordKind, Role } from '../roles.ts';

const KINDS: readonly (readonly [value: string, label: string, kinds: readonly RecordKind[]])[] = [
  ['leads', 'people: they become leads', ['leads']],
  ['deals', 'deals', ['deals']],
  ['both', 'people and deals: each row becomes both', ['leads', 'deals']],
  ['comments', 'notes, calls, tasks: they become comments', ['comments']],
  ['none', 'none of these: other records may look names up in it', []],
];

/** How each file is read, and what it is: the kinds of those for which somebody says so. */
export async function askFiles(
  { tables, drafts }: Pick<KnownTables, 'tables' | 'drafts'>,
  answers: Answers,
): Promise<Map<Table, ReadonlySet<RecordKind>>> {
  const kinds = new Map<Table, ReadonlySet<RecordKind>>();
  for (const table of tables) {
    if (table.list !== undefined || table.rows === 0) continue;
    await askReading(table, answers);
    const guess = drafts.flatMap((draft) => (draft.table === table ? [draft.kind] : [])).sort();
    const proposal = KINDS.findIndex(([, , each]) => [...each].sort().join() === guess.join());
    const text = `${headOf(table)}\nWhat are these records?`;
    const choices = KINDS.map(([value, label]) => ({ value, label }));
    const answer = await answers.to({ name: table.source, text, choices, proposal: Math.max(0, proposal) });
    if (!answer) continue;
    kinds.set(table, new Set(KINDS[answer.choice]![2]));
    table.settled.add('kind');
  }
  return kinds;
}

/** What was assumed so that the file could be read; the names of columns that have none. */
async function askReading(table: Table, answers: Answers): Promise<void> {
  const { columns, source } = table;
  const { settings, reasons } = table.from;
  if (reasons.length === 0 || partOf(settings) !== undefined) return;
  const names = columns.map(({ name }) => name);
  const isUnnamed = settings.columns !== undefined;
  const choices: QuestionChoice[] = [
    { value: 'yes', label: isUnnamed ? `as proposed: ${names.join(', ')}` : 'read it so' },
  ];
  const count = `${counted(names.length, 'name')} in their order, separated by commas`;
  const mistake = (text: string): string | undefined => {
    const given = namesIn(text);
    return given.length === names.length && new Set(given).size === names.length && !given.includes('')
      ? undefined
      : count;
  };
  if (isUnnamed) choices.push({ value: names.join(', '), label: `other: type ${count}`, mistake });
  choices.push({ value: 'mark', label: 'leave it marked' });
  const text = `${headOf(table)}\n${reasons.join('; ')}`;
  const answer = await answers.to({ name: `${source}.read`, text, choices, proposal: 0 });
  if (!answer || choices[answer.choice]!.value === 'mark') return;
  table.settled.add('reading');
  if (answer.text === undefined) return;
  for (const [at, name] of namesIn(answer.text).entries()) {
    columns[at]!.name = name;
    columns[at]!.meaning = meaningOf(name);
  }
}

function namesIn(text: string): string[] {
  return text.split(',').map((name) => name.trim());
}

function headOf(table: Table): string {
  return `${nameOf(table)}, ${counted(table.rows, 'record')}:\n${rowsText(table)}`;
}

const EXAMPLES = 3;

/** Three records, as far as they fit. */
function rowsText({ columns }: Table): string {
  const shown = columns.filter(({ filled, list }) => filled > 0 && list === undefined).slice(0, 8);
  const rows = cellsOf(shown).slice(0, EXAMPLES);
  return rows
    .map((row) => row.flatMap((cell, at) => (cell === null ? [] : [`${shown[at]!.name}: ${short(cell)}`])))
    .map((cells) => `  ${cells.join(', ')}`)
    .join('\n');
}

function short(text: string): string {
  const plain = text.replace(/\s+/g, ' ');
  return plain.length > 30 ? `${plain.slice(0, 30)}…` : plain;
}

/** What becomes of a line. */
type Decision = { readonly keep: true } | { readonly out: true } | { readonly value: unknown };

interface Chosen {
  readonly decision: Decision;
  /** The column that has the role of the line from now on. */
  readonly column?: Column | undefined;
}

/** `chosen`: for what was typed, if it was. */
interface LineChoice extends QuestionChoice {
  readonly chosen: (text: string) => Chosen;
}

/** The role of a line, by its key; `created` of comments is when they happened. */
const ROLE_OF: Readonly<Record<string, Role>> = {
  external_id: 'id',
  full_name: 'full',
  email: 'email',
  phone_number: 'phone',
  occurred_at: 'created',
  title: 'title',
  amount: 'amount',
  currency: 'currency',
  stage_name: 'stage',
  stage_pipeline: 'pipeline',
  owner_name: 'owner',
  content: 'content',
  author_name: 'author',
};

/** The program refuses an entry without them. */
const REQUIRED: readonly string[] = ['external_id', 'content'];

/** The entries of the drafts, with the user's answers in place of marks. */
export async function askLines(known: KnownTables, answers: Answers): Promise<Entry[]> {
  const drafts = [...known.drafts];
  const entry = (at: number): Entry => entryOf(drafts[at]!, { ...known, drafts });
  const decided = drafts.map(() => new Map<string, Decision>());
  for (const [at, own] of decided.entries()) {
    let lines = new Map(placesIn(entry(at)));
    for (const [place] of [...lines].filter(([, each]) => isOpen(each))) {
      const line = lines.get(place);
      if (!line || !isOpen(line)) continue;
      const draft = drafts[at]!;
      const choices = choicesFor(line, draft, { ...known, drafts });
      const proposal = line.off ? choices.length - 1 : 0;
      const text = `${nameOf(draft.table)}, ${draft.kind}\n${line.key}: ${plainComment(line)}`;
      const answer = await answers.to({ name: nameOfLine(line, draft), text, choices, proposal });
      if (!answer) continue;
      const { decision, column } = choices[answer.choice]!.chosen(answer.text ?? '');
      own.set(place, decision);
      if (!column) continue;
      drafts[at] = withRole(draft, line.key, column);
      lines = new Map(placesIn(entry(at)));
    }
  }
  return drafts.map((_, at) => applied(entry(at), decided[at]!));
}

/** `deals.deal.amount`, `contacts#notes.comment.content`. */
function nameOfLine({ key }: Line, { table: { source, list }, kind }: EntryDraft): string {
  return `${source}${list === undefined ? '' : `#${list}`}.${kind.slice(0, -1)}.${key}`;
}

/** The lines of an entry, each with a name that no other has. */
function placesIn({ settings, data, custom }: Entry): (readonly [name: string, line: Line])[] {
  const named = (prefix: string, lines: readonly Line[]) =>
    lines.map((line) => [`${prefix}.${line.key}`, line] as const);
  return [...named('settings', settings), ...named('data', data), ...named('custom', custom)];
}

const KEEP: Chosen = { decision: { keep: true } };

/** The value as it is, others (columns each with its figures and three values), then to type one, and last to leave it out. */
function choicesFor(line: Line, draft: EntryDraft, known: KnownTables): LineChoice[] {
  const isRequired = REQUIRED.includes(line.key);
  const proposed = `as proposed: ${short(flow(line.value))}${examplesOf(line.value, draft.table)}`;
  const out: LineChoice = { value: 'out', label: 'leave it out', chosen: () => ({ decision: { out: true } }) };
  return [
    ...(line.off ? [] : [{ value: 'yes', label: proposed, chosen: () => KEEP }]),
    ...columnsFor(line, draft),
    ...swappedFor(line, draft.table),
    ...parentsFor(line, draft, known),
    ...typedFor(line, draft),
    ...(isRequired && !line.off ? [] : [out]),
  ];
}

/** Another column by its name; of a currency, its code. */
function typedFor({ key }: Line, { kind, table: { columns } }: EntryDraft): LineChoice[] {
  const role = roleOf(key, kind);
  if (role === undefined && !key.endsWith('_external_id')) return [];
  const able = columns.filter(({ date }) => date !== undefined || (role !== 'created' && role !== 'happened'));
  const names = able.map(({ name }) => name);
  if (names.length === 0) return [];
  const isCode = (text: string): boolean => role === 'currency' && isCurrency(text);
  const mistake = (text: string): string | undefined =>
    isCode(text) || names.includes(text)
      ? undefined
      : (didYouMean(text, names) ?? `the columns are ${names.join(', ')}`);
  const chosen = (text: string): Chosen => {
    const column = able.find(({ name }) => name === text);
    if (isCode(text) && !column) return { decision: { value: { value: text } } };
    return role === undefined ? { decision: { value: text } } : { ...KEEP, column };
  };
  const label = `other: type the name of a column${role === 'currency' ? ', or a code such as EUR' : ''}`;
  return [{ value: role === 'currency' ? 'EUR' : names[0]!, label, mistake, chosen }];
}

/** Day and month the other way round. */
function swappedFor({ value }: Line, { columns }: Table): LineChoice[] {
  const text = JSON.stringify(value);
  const column = columns.find(({ name, date }) => date?.ambiguous && text.includes(JSON.stringify(name)));
  if (!column) return [];
  const { ambiguous, ...date } = column.date!;
  const { example, other } = ambiguous!;
  const swapped = { ...column, date: { ...date, formats: [other, ...date.formats.slice(1)] } };
  const decision = { value: dateValue(swapped, text.includes('"as":"date"')) };
  return [{ value: other, label: `${other}: ${example} is ${dateText(example, other)}`, chosen: () => ({ decision }) }];
}

/** Three values of the first column that a value reads. */
function examplesOf(value: unknown, { columns }: Table): string {
  const text = JSON.stringify(value);
  const column = columns.find(({ name }) => text.includes(JSON.stringify(name)));
  const values = [...new Set(column?.values ?? [])].slice(0, EXAMPLES).map(short);
  return values.length > 0 ? `: ${values.join(', ')}` : '';
}

function roleOf(key: string, kind: RecordKind): Role | undefined {
  const role = ROLE_OF[key];
  return role === 'created' && kind === 'comments' ? 'happened' : role;
}

function columnsFor({ key, off }: Line, draft: EntryDraft): LineChoice[] {
  const role = roleOf(key, draft.kind);
  if (role === undefined) return [];
  const others: readonly RoleCandidate[] =
    (off ? draft.candidates.get(role) : draft.roles.get(role)?.others) ?? draft.candidates.get(role) ?? [];
  return others.map(({ column }) => {
    const values = [...new Set(column.values)].slice(0, EXAMPLES).map(short);
    const label = `${column.name} (${figuresOf(role, column)}): ${values.join(', ')}`;
    return { value: column.name, label, chosen: () => ({ ...KEEP, column }) };
  });
}

/** Other ways to the record that it belongs to. */
function parentsFor({ key, value }: Line, draft: EntryDraft, known: KnownTables): LineChoice[] {
  const parent = fieldNamed(key)?.parent;
  const kind = parent && kindOf(parent).words[1];
  const targets = known.drafts.filter((each) => each.kind === kind && each.table !== draft.table);
  return targets
    .flatMap((target) => joinsTo(draft, target, known))
    .filter((join) => flow(join.value) !== flow(value))
    .slice(0, EXAMPLES)
    .map(({ columns, why, value: other }) => {
      const names = columns.map(({ name }) => name).join(', ');
      return { value: names, label: `${names} (${why})`, chosen: () => ({ decision: { value: other } }) };
    });
}

function withRole(draft: EntryDraft, key: string, column: Column): EntryDraft {
  const role = roleOf(key, draft.kind)!;
  const roles = new Map(draft.roles);
  for (const [other, found] of roles) if (found.column === column && other !== 'id') roles.delete(other);
  if (role === 'full') for (const part of ['first', 'last'] as const) roles.delete(part);
  roles.set(role, { column, score: 1, others: [] });
  return { ...draft, roles, ...(role === 'id' && { key: { value: column.name, column } }) };
}

function applied(entry: Entry, decided: ReadonlyMap<string, Decision>): Entry {
  const names = new Map(placesIn(entry).map(([name, line]) => [line, name]));
  const line = (each: Line): Line => {
    const decision = decided.get(names.get(each)!);
    if (!decision) return each;
    if ('out' in decision) return { ...each, off: true, comment: 'left out' };
    const value = 'value' in decision ? decision.value : each.value;
    return { ...each, value, off: false, comment: 'value' in decision ? undefined : plainComment(each) };
  };
  const { settings, data, custom } = entry;
  return { ...entry, settings: settings.map(line), data: data.map(line), custom: custom.map(line) };
}
