/** Asks what `init` cannot decide: what each file is, then each line that would be marked. */
import type { Ask } from '../../../terminal/ask.ts';
import { counted } from '../../../terminal/numbers.ts';
import type { RoleCandidate } from '../assign.ts';
import { cellsOf, type Column, type Table } from '../columns.ts';
import { figuresOf } from '../evidence.ts';
import { nameOf } from '../fates.ts';
import type { EntryDraft } from '../guess.ts';
import { joinsTo, type KnownTables } from '../joins.ts';
import { entryOf } from './entries.ts';
import { flow, type Entry, type Line } from './yaml.ts';
import type { RecordKind, Role } from '../roles.ts';

type KindsAnswered = ReadonlySet<RecordKind>;

const KINDS: readonly (readonly [label: string, kinds: readonly RecordKind[]])[] = [
  ['people: they become leads', ['leads']],
  ['deals', ['deals']],
  ['people and deals: each row becomes both', ['leads', 'deals']],
  ['notes, calls, tasks: they become comments', ['comments']],
  ['none of these: other records may look names up in it', []],
];

/** The kinds of the files as the user says; of those that were not reached, nothing. */
export async function askKinds(
  { tables, drafts }: Pick<KnownTables, 'tables' | 'drafts'>,
  ask: Ask,
): Promise<{ kinds: Map<Table, KindsAnswered>; stopped: boolean }> {
  const kinds = new Map<Table, KindsAnswered>();
  for (const table of tables) {
    if (table.list !== undefined || table.rows === 0) continue;
    const guess = drafts.flatMap((draft) => (draft.table === table ? [draft.kind] : [])).sort();
    const proposal = KINDS.findIndex(([, each]) => [...each].sort().join() === guess.join());
    const text = `${nameOf(table)}, ${counted(table.rows, 'record')}:\n${rowsText(table)}\nWhat are these records?`;
    const answer = await ask({ text, choices: KINDS.map(([label]) => label), proposal: Math.max(0, proposal) });
    if (answer === undefined) return { kinds, stopped: true };
    kinds.set(table, new Set(KINDS[answer]![1]));
  }
  return { kinds, stopped: false };
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

interface LineChoice {
  readonly label: string;
  readonly decision: Decision;
  /** The column that has the role of the line from now on. */
  readonly column?: Column;
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

/** The entries of the drafts, with the user's answers in place of marks. Ctrl-C leaves the rest marked. */
export async function askLines(known: KnownTables, ask: Ask): Promise<Entry[]> {
  const drafts = [...known.drafts];
  const entry = (at: number): Entry => entryOf(drafts[at]!, { ...known, drafts });
  const decided = drafts.map(() => new Map<string, Decision>());
  for (const [at, answers] of decided.entries()) {
    for (const name of placesIn(entry(at))
      .filter(([, line]) => isOpen(line))
      .map(([place]) => place)) {
      const line = placesIn(entry(at)).find(([place]) => place === name)?.[1];
      if (!line || !isOpen(line)) continue;
      const choices = choicesFor(line, drafts[at]!, { ...known, drafts });
      const proposal = line.off ? choices.length - 1 : 0;
      const labels = choices.map(({ label }) => label);
      const text = `${nameOf(drafts[at]!.table)}, ${drafts[at]!.kind}\n${line.key}: ${plainComment(line)}`;
      const answer = await ask({ text, choices: labels, proposal });
      if (answer === undefined) return drafts.map((_, index) => applied(entry(index), decided[index]!));
      const { decision, column } = choices[answer]!;
      answers.set(name, decision);
      if (column) drafts[at] = withRole(drafts[at]!, line.key, column);
    }
  }
  return drafts.map((_, at) => applied(entry(at), decided[at]!));
}

/** The lines of an entry, each with a name that no other has. */
function placesIn({ settings, data, custom }: Entry): (readonly [name: string, line: Line])[] {
  const named = (prefix: string, lines: readonly Line[]) =>
    lines.map((line) => [`${prefix}.${line.key}`, line] as const);
  return [...named('settings', settings), ...named('data', data), ...named('custom', custom)];
}

function isOpen({ comment }: Line): boolean {
  return /^(?:set this|check)\b/.test(comment ?? '');
}

function plainComment({ comment }: Line): string {
  return (comment ?? '').replace(/^(?:set this|check)(?:: )?/, '');
}

/** The value as it is first, then other columns, each with its figures and three values, and last to leave it out. */
function choicesFor(line: Line, draft: EntryDraft, known: KnownTables): LineChoice[] {
  const isRequired = REQUIRED.includes(line.key);
  const out: LineChoice[] = isRequired && !line.off ? [] : [{ label: 'leave it out', decision: { out: true } }];
  const proposed = `as proposed: ${short(flow(line.value))}${examplesOf(line.value, draft.table)}`;
  const own: LineChoice[] = line.off ? [] : [{ label: proposed, decision: { keep: true } }];
  return [...own, ...columnsFor(line, draft), ...parentsFor(line, draft, known), ...out];
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
    return {
      label: `${column.name} (${figuresOf(role, column)}): ${values.join(', ')}`,
      decision: { keep: true },
      column,
    };
  });
}

/** Other ways to the record that it belongs to. */
function parentsFor({ key, value }: Line, draft: EntryDraft, known: KnownTables): LineChoice[] {
  const kind = key === 'lead_external_id' ? 'leads' : key === 'deal_external_id' ? 'deals' : undefined;
  const targets = known.drafts.filter((each) => each.kind === kind && each.table !== draft.table);
  return targets
    .flatMap((target) => joinsTo(draft, target, known))
    .filter((join) => flow(join.value) !== flow(value))
    .slice(0, EXAMPLES)
    .map((join) => ({
      label: `${join.columns.map(({ name }) => name).join(', ')} (${join.why})`,
      decision: { value: join.value },
    }));
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
