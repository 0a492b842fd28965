/** Scores the drafts of labelled exports: which columns have which roles, without writing or trying a mapping. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { entriesOf, type Facts } from '../../../src/init/decide/decide.ts';
import type { EntryDraft, Field } from '../../../src/init/decide/draft.ts';
import type { Table } from '../../../src/init/facts/facts.ts';
import { factsOf } from '../../../src/init/index.ts';
import { readsOf } from '../../../src/init/lines/fates.ts';
import { openAll } from '../../../src/init/read/open.ts';
import { tables } from '../../../src/init/read/tables.ts';

/** `is`: what the records are; `roles`: the columns of each field; `accept`: others that are as good; `mustNot`: columns that are wrong. */
interface TruthOfTable {
  readonly is: string;
  readonly accept_is?: readonly string[];
  readonly free?: boolean;
  readonly roles: Readonly<Record<string, readonly string[] | { readonly constant: string }>>;
  readonly accept?: Readonly<Record<string, readonly (readonly string[])[]>>;
  readonly must_not?: Readonly<Record<string, readonly string[]>>;
}

/** By event type and field, the columns that it is made of. */
type TruthOfTypes = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

export interface LabelledCase {
  readonly name: string;
  readonly folder: string;
  readonly facts: Facts;
  /** By file, or by event type. */
  readonly files: Readonly<Record<string, TruthOfTable>> | undefined;
  readonly types: TruthOfTypes;
}

/** All cases of a folder, measured once. */
export async function casesIn(folder: string): Promise<LabelledCase[]> {
  const found: LabelledCase[] = [];
  for (const name of readdirSync(folder).filter((each) => existsSync(join(folder, each, 'truth.json')))) {
    const own = join(folder, name);
    const names = readdirSync(own).filter((file) => !['truth.json', 'draft.txt'].includes(file));
    const { exports } = await openAll(
      names.sort().map((file) => join(own, file)),
      {},
    );
    const facts = factsOf(await tables(exports));
    const truth = JSON.parse(readFileSync(join(own, 'truth.json'), 'utf8')) as object;
    const files = 'files' in truth ? (truth.files as LabelledCase['files']) : undefined;
    found.push({ name, folder: own, facts, files, types: files ? {} : (truth as TruthOfTypes) });
  }
  return found;
}

const KINDS: Readonly<Record<string, readonly string[]>> = {
  leads: ['lead'],
  deals: ['deal'],
  comments: ['comment'],
  people_and_deals: ['deal', 'lead'],
  lookup: [],
  none: [],
};
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  lead: ['external_id', 'full_name', 'email', 'phone_number', 'occurred_at'],
  deal: [
    'external_id',
    'title',
    'amount',
    'currency',
    'stage_name',
    'pipeline',
    'outcome',
    'owner_name',
    'lead_external_id',
    'occurred_at',
  ],
  comment: ['external_id', 'content', 'author_name', 'occurred_at', 'lead_external_id', 'deal_external_id'],
};
type Verdict = 'right' | 'named' | 'said' | 'missing' | 'marked' | 'WRONG';
const WORTH: Readonly<Record<Verdict, number>> = {
  right: 1,
  named: 0.6,
  said: 0.3,
  missing: 0,
  marked: 0.2,
  WRONG: -1,
};

interface Scored {
  readonly score: number;
  /** Everything that is not right: `deals.csv amount: WRONG Valor`. */
  readonly notes: readonly string[];
  readonly marks: number;
}

/** `drafts`: the entries of the case. */
export function scoreOf({ facts, files, types }: LabelledCase, drafts = entriesOf(facts, NO_ANSWERS)): Scored {
  const { points, most, notes } = files ? scoreOfFiles(facts, files, drafts) : scoreOfTypes(types, drafts);
  const marks = drafts.reduce(
    (sum, { doubt, fields }) => sum + (doubt ? 1 : 0) + fields.filter((field) => field.doubt).length,
    0,
  );
  return { score: most === 0 ? 1 : points / most, notes, marks };
}

type Points = Pick<Scored, 'notes'> & { readonly points: number; readonly most: number };

function scoreOfTypes(types: TruthOfTypes, drafts: readonly EntryDraft[]): Points {
  const verdicts = Object.entries(types).flatMap(([type, fields]) =>
    Object.entries(fields).map(([field, columns]) => {
      const verdict = verdictOfType(drafts, type, field, columns);
      return { verdict, note: `${type} ${field}: ${verdict}; right: ${columns.join(' + ')}` };
    }),
  );
  const points = verdicts.reduce((sum, { verdict }) => sum + WORTH[verdict], 0);
  const notes = verdicts.flatMap(({ verdict, note }) => (verdict === 'right' ? [] : [note]));
  return { points, most: verdicts.length, notes };
}

function verdictOfType(drafts: readonly EntryDraft[], type: string, key: string, columns: readonly string[]): Verdict {
  const fields = drafts
    .filter(({ kind }) => `${kind}/created` === type)
    .flatMap((entry) => entry.fields.filter((field) => field.key === key));
  const [field] = fields;
  if (!field) return 'WRONG';
  if (field.off) return field.doubt ? 'named' : 'WRONG';
  const isRight = fields.some(({ value }) => {
    const reads = JSON.stringify([value, ...[...readsOf(value)].map(({ path }) => path)]);
    return columns.every((column) => reads.includes(column));
  });
  return isRight ? 'right' : field.doubt ? 'marked' : 'WRONG';
}

function scoreOfFiles(facts: Facts, files: NonNullable<LabelledCase['files']>, drafts: readonly EntryDraft[]): Points {
  let [points, most] = [0, 0];
  const notes: string[] = [];
  for (const [unit, { is, accept_is: others = [], free, ...own }] of Object.entries(files)) {
    const table = facts.tables.find((each) => unitsOf(each).includes(unit));
    const entries = drafts.filter((entry) => entry.table === table);
    const kinds = [...new Set(entries.map(({ kind }) => kind))].sort().join('+');
    const able = [is, ...others]
      .map((each) => KINDS[each] ?? each.split('+'))
      .map((each) => [...each].sort().join('+'));
    const isRight = able.includes(kinds);
    if (free) continue;
    most += 2;
    if (isRight) points += 2;
    else {
      const isMarked = entries.every(({ doubt }) => doubt !== undefined);
      points += isMarked ? 0.5 : -2;
      most += Object.keys(own.roles).length;
      notes.push(`${unit} is ${is}, became ${kinds || 'nothing'}${isMarked ? '' : ' WRONG'}`);
      continue;
    }
    const judged = kinds === '' ? [] : kinds.split('+');
    for (const role of new Set([...judged.flatMap((kind) => FIELDS[kind] ?? []), ...Object.keys(own.roles)])) {
      if (!judged.some((kind) => FIELDS[kind]?.includes(role))) continue;
      const found = verdictOf(role, entries, own, facts.tables);
      if (!found) continue;
      most += 1;
      points += WORTH[found.verdict];
      if (found.verdict !== 'right')
        notes.push(
          `${unit} ${role}: ${found.verdict} ${found.used.join(' + ')}; right: ${JSON.stringify(own.roles[role])}`,
        );
    }
  }
  return { points, most, notes };
}

const NO_ANSWERS = { kindsOf: () => undefined, rolesOf: () => new Map() };

function unitsOf({ export: { path, settings }, list }: Table): string[] {
  const file = path.replace(/^.*\//s, '');
  const records = settings.records ?? '';
  if (list === undefined) return [`${file}#${records}`, file];
  return [`${file}#${records}.${list}`, `${file}#${list}`];
}

type Own = Pick<TruthOfTable, 'roles' | 'accept' | 'must_not'>;

function verdictOf(
  role: string,
  entries: readonly EntryDraft[],
  { roles, accept, must_not: not }: Own,
  tables: readonly Table[],
): { verdict: Verdict; used: readonly string[] } | undefined {
  const key = role === 'outcome' ? 'stage_name' : role === 'pipeline' ? 'stage_pipeline' : role;
  const wanted = roles[role];
  const constant = wanted && 'constant' in wanted ? wanted.constant : undefined;
  const sets = [...(Array.isArray(wanted) ? [wanted as readonly string[]] : []), ...(accept?.[role] ?? [])];
  const ordered = role === 'external_id' ? [...entries].reverse() : entries;
  const fields = ordered.flatMap((entry) =>
    FIELDS[entry.kind]!.includes(role)
      ? entry.fields.filter((each) => each.key === key).map((field) => ({ entry, field }))
      : [],
  );
  const set = fields.find(({ field }) => !field.off);
  const isOptional = wanted === undefined && accept?.[role] !== undefined;
  if (!set || role === 'outcome') {
    const used = set ? usedIn(set.field, set.entry, tables) : [];
    if (wanted === undefined) return undefined;
    if (sets.some((each) => each.every((column) => used.includes(column)))) return { verdict: 'right', used };
    const names = JSON.stringify(fields.map(({ field }) => [field.value, field.said, field.choices]));
    const isNamed =
      fields.some(({ field }) => field.off || field.doubt) &&
      sets.flat().some((column) => names.includes(column.replace(/^\$\./, '')));
    return { verdict: isNamed ? 'named' : fields.length > 0 && role !== 'outcome' ? 'said' : 'missing', used: [] };
  }
  const { field, entry } = set;
  const used = usedIn(field, entry, tables);
  const bad = not?.[role] ?? [];
  const isFit = sets.some(
    (each) =>
      each.length > 0 &&
      each.every((column) => used.includes(column)) &&
      !used.some((column) => bad.includes(column) && !each.includes(column)),
  );
  if (isFit || (constant !== undefined && JSON.stringify(field.value).includes(`"${constant}"`)))
    return isOptional ? undefined : { verdict: 'right', used };
  if (wanted === undefined && !isOptional && used.length === 0)
    return field.doubt ? undefined : { verdict: 'WRONG', used };
  return { verdict: field.doubt ? 'marked' : 'WRONG', used };
}

/** The columns that a field reads: those of other records with their files. */
function usedIn({ value }: Field, { table }: EntryDraft, tables: readonly Table[]): string[] {
  return [...readsOf(value)].map(({ path, source }) => {
    const plain = path.replace(/\[\d+\]/g, '');
    if (source === undefined) return table.list === undefined ? plain.replace(/^\$\./, '') : plain;
    const other = tables.find((each) => each.source === source && each.list === undefined)!;
    return `${unitsOf(other).at(-1)!}:${plain}`;
  });
}
