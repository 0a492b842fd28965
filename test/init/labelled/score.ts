/** Scores the drafts of labelled exports: which columns have which roles, without writing or trying a mapping. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { entriesOf, type Facts } from '../../../src/init/decide/decide.ts';
import type { EntryDraft, Field } from '../../../src/init/decide/draft.ts';
import { measured, type Table } from '../../../src/init/facts/facts.ts';
import { readsOf } from '../../../src/init/lines/fates.ts';
import { openAll } from '../../../src/init/read/open.ts';
import { relations } from '../../../src/init/facts/relations.ts';
import { tables } from '../../../src/init/read/tables.ts';

/** `is`: what the records are; `roles`: the columns of each field; `accept`: others that are as good; `mustNot`: columns that are wrong. */
interface TruthOfTable {
  readonly is: string;
  readonly accept_is?: readonly string[];
  readonly free?: boolean;
  readonly roles: Readonly<Record<string, readonly string[] | { readonly constant: string }>>;
  readonly accept?: Readonly<Record<string, readonly (readonly string[])[]>>;
  readonly must_not?: Readonly<Record<string, readonly string[]>>;
  readonly joins?: readonly { readonly from: string; readonly to: string }[];
}

export interface LabelledCase {
  readonly name: string;
  readonly facts: Facts;
  readonly truth: Readonly<Record<string, TruthOfTable>>;
}

/** All cases of a folder, measured once. */
export async function casesIn(folder: string, only = ''): Promise<LabelledCase[]> {
  const found: LabelledCase[] = [];
  for (const name of readdirSync(folder).filter(
    (each) => each.startsWith(only) && existsSync(join(folder, each, 'truth.json')),
  )) {
    const own = join(folder, name);
    const paths = readdirSync(own)
      .filter((file) => file !== 'truth.json')
      .sort()
      .map((file) => join(own, file));
    const { exports } = await openAll(paths, {});
    const all = measured(await tables(exports));
    const { files } = JSON.parse(readFileSync(join(own, 'truth.json'), 'utf8')) as { files: LabelledCase['truth'] };
    found.push({ name, facts: { tables: all, references: relations(all) }, truth: files });
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
export type Verdict = 'right' | 'named' | 'said' | 'missing' | 'marked' | 'WRONG';
const WORTH: Readonly<Record<Verdict, number>> = {
  right: 1,
  named: 0.6,
  said: 0.3,
  missing: 0,
  marked: 0.2,
  WRONG: -1,
};

export interface Scored {
  readonly score: number;
  /** Everything that is not right: `deals.csv amount: WRONG Valor`. */
  readonly notes: readonly string[];
  readonly marks: number;
}

/** `drafts`: the entries of the case. */
export function scoreOf({ facts, truth }: LabelledCase, drafts = entriesOf(facts, NO_ANSWERS)): Scored {
  let [points, most] = [0, 0];
  const notes: string[] = [];
  for (const [unit, { is, accept_is: others = [], free, ...own }] of Object.entries(truth)) {
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
  const marks = drafts.reduce(
    (sum, { doubt, fields }) => sum + (doubt ? 1 : 0) + fields.filter((field) => field.doubt).length,
    0,
  );
  return { score: most === 0 ? 1 : points / most, notes, marks };
}

export const NO_ANSWERS = { kindsOf: () => undefined, rolesOf: () => new Map() };

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
