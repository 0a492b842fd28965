/** Groups of columns with numbers, `Deal 1 Name, Deal 1 Amount, Deal 2 Name …`: records in a row, as the elements of a list would be. */
import type { Table } from '../columns.ts';
import { NONE } from '../evidence.ts';
import { readsOf, withPaths, type Entry, type Line } from '../lines/yaml.ts';
import type { Export } from '../open-export.ts';
import { columnAt, newTable, type RawTable } from '../raw-table.ts';
import { commonEnds, fold, meaningOf, nounsOf, type Concept } from '../words.ts';

/** A header with a number: what stands around it is the same in each group. */
const NUMBERED = /^(.*?)(\d{1,2})(?!\d)(.*)$/su;

/** What groups of deals and of notes are about: not the addresses and numbers of people. */
const TELLING: readonly Concept[] = ['amount', 'stage', 'deal', 'text'];

const OF_PEOPLE: readonly Concept[] = ['phone', 'mobile', 'email', 'address', 'fax', 'web'];

function isOfPerson(word: string): boolean {
  const { concepts } = meaningOf(word);
  return OF_PEOPLE.some((concept) => concepts.has(concept));
}

/** The export with a table for each kind of groups, beside those of its lists. */
export function withGroups(each: Export): Export {
  const [main] = each.sample.tables;
  if (each.source.kind === 'tree' || !main || each.settings.columns) return each;
  const tables = groupsIn([...main.columns.keys()]).map((groups) => tableOf(main, groups));
  if (tables.length === 0) return each;
  return { ...each, sample: { ...each.sample, tables: [...each.sample.tables, ...tables] } };
}

/** The headers of each group, in the order of those of the first one. */
type Groups = readonly (readonly string[])[];

function groupsIn(names: readonly string[]): Groups[] {
  /** By the word beside the number: by what stands around it, the headers by number. */
  const all = new Map<string, Map<string, Map<number, string>>>();
  for (const name of names) {
    const [, before, number, after] = NUMBERED.exec(name) ?? [];
    if (number === undefined) continue;
    const word = fold(before!).split(' ').at(-1) || fold(after!).split(' ')[0]!;
    const stems = all.get(word) ?? new Map<string, Map<number, string>>();
    const stem = `${before!}#${after!}`;
    all.set(word, stems.set(stem, (stems.get(stem) ?? new Map<number, string>()).set(Number(number), name)));
  }
  // `Title 1, Amount 1, Title 2 …` have no word in common.
  const single = [...all].filter(([word, stems]) => stems.size === 1 && !isOfPerson(word));
  if (single.length > 1) {
    for (const [word] of single) all.delete(word);
    all.set('', new Map(single.flatMap(([, stems]) => [...stems])));
  }
  return [...all].flatMap(([word, stems]) => {
    const numbers = [...new Set([...stems.values()].flatMap((own) => [...own.keys()]))].sort((a, b) => a - b);
    const full = [...stems.values()].filter((own) => numbers.every((number) => own.has(number)));
    const concepts = full.flatMap((own) => [...meaningOf(own.get(numbers[0]!)!).concepts]);
    const nouns = nounsOf(word);
    const isTold =
      nouns.includes('deal') || nouns.includes('comment') || TELLING.some((concept) => concepts.includes(concept));
    if (numbers.length < 2 || full.length < 2 || !isTold) return [];
    return [numbers.map((number) => full.map((own) => own.get(number)!))];
  });
}

/** A row for each group that has a value. */
function tableOf(main: RawTable, groups: Groups): RawTable {
  const [first] = groups;
  const list = commonOf(first!);
  const table: RawTable = { ...newTable(list), groups };
  const columns = first!.map((name) => columnAt(table, name)!);
  for (const group of groups) {
    const places = group.map((name) => main.columns.get(name)!.at);
    for (const row of main.rows) {
      if (places.every((at) => !row[at])) continue;
      const own: (string | number | null)[] = [row[0]!];
      places.forEach((at, index) => (own[columns[index]!.at] = row[at] ?? null));
      table.rows.push(own);
    }
  }
  table.rows.sort((a, b) => (a[0] as number) - (b[0] as number));
  return table;
}

/** What the headers of a group begin with: `Deal 1`. */
function commonOf(names: readonly string[]): string {
  const { start } = commonEnds(names.map((name) => [...name]));
  const common = [...names[0]!].slice(0, start).join('');
  return common.replace(/[^\p{L}\p{N}]+$/u, '').replaceAll('.', ' ') || `group of ${names[0]!}`;
}

/** Entries of groups as entries of their rows: one for each group, with ids of its own. */
export function groupEntries(entries: readonly Entry[]): Entry[] {
  return entries.flatMap((entry) => {
    const { groups, parent } = entry.table;
    if (!groups || !parent) return [entry];
    const above = entries.find((each) => each.table === parent && each.refused === undefined);
    const id = above?.data.find(({ key, off }) => key === 'external_id' && !off)?.value;
    return groups.map((_, at) => entryOf(entry, parent, at, id));
  });
}

function entryOf(entry: Entry, parent: Table, at: number, id: unknown): Entry {
  const groups = entry.table.groups!;
  const names = new Map(groups[0]!.map((name, index) => [name, groups[at]![index]!]));
  const inGroup = (value: unknown): unknown => withPaths(value, (path) => names.get(path) ?? path.replace(/^\$\./, ''));
  const line = (each: Line): Line => ({ ...each, value: each.value === NONE ? NONE : inGroup(each.value) });
  const when = entry.settings.find(({ key, off }) => key === 'when' && !off);
  const content = entry.data.find(({ key, off }) => key === 'content' && !off);
  const texts = groups[at]!.filter(
    (_, index) => content && [...readsOf(content.value)].some(({ path }) => path === groups[0]![index]),
  );
  const columns = texts.length > 0 ? texts : groups[at]!;
  const filled = { from: columns.length === 1 ? columns[0] : columns, present: true };
  const settings = entry.settings.filter((each) => each.key !== 'each' && each !== when).map(line);
  // Numbers are enough to tell the groups of a row apart.
  const own = { list: [id, { value: String(at + 1) }], apply: [{ join: '-' }] };
  const found = entry.data.find(({ key }) => key === 'external_id');
  const isOwn = id === undefined || (found !== undefined && !/^set this/.test(found.comment ?? ''));
  const numbered: Line = {
    key: 'external_id',
    value: own,
    comment: 'check: the id of the row and the number of the group',
  };
  const data = entry.data.filter((each) => isOwn || each !== found).map(line);
  return {
    ...entry,
    table: parent,
    settings: [
      {
        key: 'when',
        value: when ? { all: [inGroup(when.value), filled] } : filled,
        comment: 'records without this group of columns',
      },
      ...settings,
    ],
    data: isOwn ? data : [numbered, ...data],
    custom: entry.custom.map((each) => ({ ...line(each), key: each.key.replace(/_?\d+(?=_|$)/, '') })),
  };
}
