/** How the records of one table find those of another: the lead of a deal, the deal of a comment, the name of a stage. */
import { numberText } from '../../terminal/numbers.ts';
import type { ValueSpec } from '../../mapping/spec.ts';
import { countOf, countsOf, isComplete, isFew, isUnique, type Column, type Table } from './columns.ts';
import type { EntryDraft } from './guess.ts';
import {
  isByChance,
  lookupIn,
  lookupOf,
  namesOf,
  namesTable,
  partOf,
  placeholder,
  referenceText,
  shareOf,
  valueOf,
  type Reference,
} from './lines/references.ts';
import { headerScore, isStaff } from './roles.ts';
import { fold, meaningOf, type Noun } from './words.ts';

/** What is known of all exports. */
export interface KnownTables {
  readonly drafts: readonly EntryDraft[];
  readonly tables: readonly Table[];
  readonly references: readonly Reference[];
}

export interface Join {
  readonly value: ValueSpec;
  /** The columns of the record that it reads. */
  readonly columns: readonly Column[];
  readonly share: number;
  /** How good it is: the share, less for anything but an id. */
  readonly score: number;
  /** By its id, however likely. */
  readonly byId?: boolean;
  /** Without a match, there is no value. */
  readonly optional: boolean;
  readonly why: string;
  /** In SQL, whether a record has a match, where that is more than having a value. */
  readonly matched?: string;
}

/** The external id of a record of a draft, as a value on that record. */
export function idValue(draft: EntryDraft): ValueSpec | undefined {
  return draft.key && prefixed(draft.key.value, draft);
}

/** All ways to the record of `target`, best first. */
export function joinsTo(
  { table: own, roles, kind }: EntryDraft,
  target: EntryDraft,
  { references, tables, drafts }: KnownTables,
): Join[] {
  const id = roles.get('id')?.column;
  const from = references.filter(
    (each) => each.from.table === own && each.from !== id && each.to.table === target.table,
  );
  const direct = from.flatMap((each) => directJoin(each, target, kind === 'comments'));
  const events = drafts.filter(({ kind: each }) => each !== 'comments').map(({ table }) => table);
  const third = tables
    .filter((each) => each !== own && each.list === undefined && !events.includes(each))
    .flatMap((each) => throughThird(own, id, each, target, references));
  // An id that is likely by chance alone counts where a type beside it tells the records apart.
  return [...direct, ...third]
    .filter(({ score, byId }) => score > (byId ? 0.01 : 0.05))
    .sort((a, b) => b.score - a.score);
}

/** `isMixed`: a column may also have the ids of other kinds of records. */
function directJoin(reference: Reference, target: EntryDraft, isMixed: boolean): Join[] {
  const { from, to, by } = reference;
  const id = target.key?.column;
  const take = idValue(target);
  const rank = rankOf(reference, target);
  if (rank === 0 || take === undefined) return [];
  const share = shareOf(reference);
  const named = (namesTable(from, target.table) ? 0.1 : 0) + (fold(from.name) === fold(to.name) ? 0.05 : 0);
  const byId = to === id && by.apply.length === 0;
  const common = {
    columns: [from],
    share,
    byId,
    score: share * (rank + named - (from.list === undefined ? 0 : 0.05)),
    why: referenceText(reference),
    ...(by.apply.length === 0 && { matched: `${from.sql} in (select ${to.sql} from ${to.table.sql})` }),
    ...(by.fold === 2 && { matched: `${digitsIn(from)} in (select ${digitsIn(to)} from ${to.table.sql})` }),
    ...(by.fold === 1 && { matched: `lower(${from.sql}) in (select lower(${to.sql}) from ${to.table.sql})` }),
  };
  const isPart = isMixed && share < 0.95 && target.table.whole && target.table.list === undefined;
  if (to === id && !by.fold && !isPart) {
    const part = partOf(reference);
    return [{ ...common, value: prefixed(part, target), optional: false }];
  }
  if (target.table.list !== undefined) return [];
  return [
    {
      ...common,
      value: lookupOf(reference, take, share < 0.98),
      optional: share < 0.98,
      why: `${common.why}${to === id ? '; the others have none' : ', looked up because it is no id'}${isUnique(to) ? '' : '; several have the same one: the first is taken'}`,
    },
  ];
}

/** In SQL, the last digits of a phone number. */
function digitsIn({ sql }: Column): string {
  return `substr(${[...' -().+/'].reduce((text, mark) => `replace(${text}, '${mark}', '')`, sql)}, -9)`;
}

function prefixed(value: ValueSpec, { prefix }: EntryDraft): ValueSpec {
  if (!prefix) return value;
  if (typeof value === 'string') return { from: value, apply: [{ prefix: prefix.text }] };
  return { ...value, apply: [...(value.apply ?? []), { prefix: prefix.text }] };
}

/** An id before an e-mail address, before a name, before a company; small numbers only where the header names what they are. */
function rankOf(reference: Reference, { roles, kind, key }: EntryDraft): number {
  const { from, to } = reference;
  if (isByChance(reference) || isStaff(from)) return 0.1;
  const roleOf = [...roles].filter(([, { column }]) => column === to).map(([role]) => role);
  if (roleOf.includes('id') || to === key?.column) return 1;
  if (to.is.email > 0.5) return 0.9;
  if (reference.by.fold === 2) return 0.7;
  if (to.pair !== undefined) return 0.75;
  if (
    roleOf.includes('full') ||
    (kind === 'leads' && to.is.person > 0.7 && !to.meaning.concepts.has('company')) ||
    (kind === 'deals' && roleOf.includes('title'))
  )
    return 0.8;
  // A deal with the same person or company need not be the one that is meant.
  if (kind === 'deals') return 0;
  if (from.meaning.concepts.has('address') || to.is.digits > 0.9)
    return namesTable(from, to.table) || to.meaning.concepts.has('company') ? 0.5 : 0;
  const isShared =
    [to, from].every(({ meaning }) => meaning.concepts.has('company') || meaning.concepts.has('customer')) ||
    (to.meaning.concepts.has('company') && from.meaning.concepts.has('parent'));
  return isShared ? (to.is.words > 0.8 ? 0.42 : 0.5) : isUnique(to) && to.meaning.concepts.has('id') ? 0.6 : 0;
}

/** By a third table with the ids of both, such as the contacts of deals, or a company with its contact. */
function throughThird(
  own: Table,
  id: Column | undefined,
  third: Table,
  target: EntryDraft,
  references: readonly Reference[],
): Join[] {
  const targetId = target.key?.column;
  const on = references.filter(
    (each) => each.from.table === third && each.to === targetId && shareOf(each) >= 0.5 && !isByChance(each),
  );
  const found: Join[] = [];
  for (const last of on) {
    for (const step of stepsTo(own, id, third, references)) {
      if (step.other === last.from) continue;
      const take = prefixed(partOf(last), target);
      found.push({
        value: step.lookup(take),
        columns: step.columns,
        share: step.share * shareOf(last),
        score: step.share * shareOf(last) * 0.7,
        optional: true,
        why: `${numberText(step.found)} of ${numberText(own.rows)} are in ${third.source}; if it has several, the first one is used`,
      });
    }
  }
  return found;
}

interface LinkStep {
  /** The column of the other table by which its record is found. */
  readonly other: Column;
  readonly columns: readonly Column[];
  readonly share: number;
  readonly found: number;
  readonly lookup: (take: ValueSpec) => ValueSpec;
}

/** The ways from a record to one of another table: by a column with its key, or by the id that the other one has. */
function stepsTo(own: Table, id: Column | undefined, other: Table, references: readonly Reference[]): LinkStep[] {
  if (other.list !== undefined) return [];
  return references.flatMap((each): LinkStep[] => {
    if (isByChance(each)) return [];
    if (each.from.table === own && each.to.table === other && shareOf(each) >= 0.5 && each.from !== id) {
      if (!isUnique(each.to) || isStaff(each.from)) return [];
      return [
        {
          other: each.to,
          columns: [each.from],
          share: shareOf(each),
          found: each.found,
          lookup: (take) => lookupOf(each, take, true),
        },
      ];
    }
    if (each.to !== id || each.from.table !== other || each.from.list !== undefined || shareOf(each) < 0.5) return [];
    const found = countOf(own, `from ${own.sql} where ${id.sql} in (select ${each.from.sql} from ${other.sql})`);
    const lookup = (take: ValueSpec): ValueSpec =>
      lookupIn(other, { match: partOf(each), with: id.name, take }, { optional: true, several: !isUnique(each.from) });
    return [{ other: each.from, columns: [], share: found / own.rows, found, lookup }];
  });
}

/** A value of another table that belongs to the record, in one step or two: the address that stands in a table of its own. */
export function reach(
  own: Table,
  id: Column | undefined,
  to: Column,
  references: readonly Reference[],
  tables: readonly Table[],
): Pick<Join, 'value' | 'why'> | undefined {
  const one = stepsTo(own, id, to.table, references).map((step) => ({ step, value: step.lookup(to.name) }));
  const two = tables
    .filter((each) => each !== own && each !== to.table)
    .flatMap((third) =>
      stepsTo(own, id, third, references).flatMap((step) =>
        references
          .filter(
            (each) =>
              each.from.table === third &&
              each.to.table === to.table &&
              each.from !== step.other &&
              shareOf(each) > 0.5 &&
              !isByChance(each),
          )
          .map((each) => ({ step, value: step.lookup(lookupOf(each, to.name, true)) })),
      ),
    );
  const [best] = [...one, ...two].filter(({ step }) => step.share > 0.3).sort((a, b) => b.step.share - a.step.share);
  return (
    best && {
      value: best.value,
      why: `${numberText(best.step.found)} of ${numberText(own.rows)} have one in ${to.table.source}`,
    }
  );
}

/** Addresses and numbers of a person in rows of their own, told apart by a column of types: those of the types that have them. */
export function reachTyped(
  own: Table,
  id: Column | undefined,
  role: 'email' | 'phone',
  { references, drafts }: KnownTables,
): Pick<Join, 'value' | 'why'> | undefined {
  for (const { from, to, ...rest } of references) {
    const { table } = from;
    const isOfPerson = to === id && shareOf({ from, to, ...rest }) > 0.5 && !isByChance({ from, to, ...rest });
    if (!isOfPerson || table.list !== undefined || drafts.some((each) => each.table === table)) continue;
    const value = table.columns.find(({ is }) => is.email > 0.1 && is.phone > 0.1 && is.email + is.phone > 0.8);
    const types = table.columns.filter((each) => each !== value && each !== from && isFew(each) && each.is.words > 0.8);
    for (const type of value ? types : []) {
      const isIt = role === 'email' ? `${value!.sql} like '%@%'` : `${value!.sql} not glob '*[A-Za-z@]*'`;
      const found = [...countsOf(type)].filter(([text, n]) => {
        const where = `from ${table.sql} where ${type.sql} = '${text.replaceAll("'", "''")}' and ${isIt}`;
        return n > 0 && countOf(table, where) >= n * 0.9 && !meaningOf(text).concepts.has('fax');
      });
      if (found.length === 0) continue;
      const match = { template: `${placeholder(from)} ${placeholder(type)}` };
      const lookups = found.map(([text]) => {
        const own = { template: `${placeholder(id)} ${text.replace(/[{}]/g, '$&$&')}` };
        return lookupIn(table, { match, with: own, take: value!.name }, { optional: true, several: true });
      });
      const count = found.reduce((sum, [, n]) => sum + n, 0);
      const names = found.map(([text]) => `\`${text}\``).join(', ');
      return {
        value: lookups.length === 1 ? lookups[0]! : { from: lookups },
        why: `${numberText(count)} of ${numberText(table.rows)} in ${table.source} are of type ${names}`,
      };
    }
  }
  return undefined;
}

/** What a name may be taken for. */
type Named = 'stage' | 'pipeline' | 'owner' | 'author' | 'company';

const NOUNS: Readonly<Record<Named, readonly Noun[]>> = {
  stage: ['stages'],
  pipeline: ['stages'],
  owner: ['users'],
  author: ['users'],
  company: ['companies'],
};

const STAGES = ['stage', 'status', 'pipeline'] as const;

/** Whether a table has such names: by what it is called, or because it is called nothing else. */
function fits({ from, to }: Reference, what: Named): boolean {
  const { nouns, source } = to.table;
  const { concepts } = meaningOf(source);
  if (what === 'pipeline') return concepts.has('pipeline') && !concepts.has('stage') && !concepts.has('status');
  const isNamed = namesTable(from, to.table) || STAGES.some((each) => to.meaning.concepts.has(each));
  if (nouns.length === 0) return what !== 'stage' || isNamed;
  return nouns.some((noun) => NOUNS[what].includes(noun));
}

/** The name that the id in a column stands for, where another table has both: of a stage, a user, a company. */
export function nameOf(
  column: Column,
  references: readonly Reference[],
  events: ReadonlySet<Table>,
  what: Named,
): { join: Join; name: Column } | undefined {
  const found = references
    .filter(
      (each) =>
        each.from === column &&
        shareOf(each) >= 0.8 &&
        !events.has(each.to.table) &&
        !isByChance(each) &&
        each.to.table.list === undefined &&
        // The same code may be a stage of deals and one of leads.
        (isUnique(each.to) || what === 'stage') &&
        isComplete(each.to) &&
        fits(each, what),
    )
    .sort(
      (a, b) =>
        Number(isUnique(b.to)) - Number(isUnique(a.to)) ||
        shareOf(b) - shareOf(a) ||
        Number(namesTable(b.from, b.to.table)) - Number(namesTable(a.from, a.to.table)),
    )[0];
  const name = found && nameIn(found.to.table, found.to, what);
  if (!found || !name || name === found.to) return undefined;
  const several = isUnique(found.to) ? 0 : severalIn(found, name);
  if (several > column.distinct / 2) return undefined;
  const share = shareOf(found);
  return {
    name,
    join: {
      value: lookupOf(found, valueOf(name), true),
      columns: [column],
      share,
      score: share,
      optional: true,
      why: `${referenceText(found)}${several === 0 ? '' : `; ${numberText(several)} of ${numberText(column.distinct)} values have several names: the first is taken`}`,
    },
  };
}

/** How many of the values have more than one name. */
function severalIn({ from, to }: Reference, name: Column): number {
  const used = `select ${from.sql} from ${from.table.sql}`;
  const where = `where ${to.sql} in (${used}) group by ${to.sql} having count(distinct ${name.sql}) > 1`;
  return countOf(to.table, `from (select 1 from ${to.table.sql} ${where})`);
}

/** What a record is called: an owner by the e-mail address, all others by their names. */
function nameIn(table: Table, key: Column, what: Named): Column | undefined {
  const able = table.columns.filter(
    (column) => column !== key && column.list === undefined && column.filled > table.rows / 2,
  );
  const email = able.find(({ is }) => is.email > 0.8);
  const named = able.filter(
    ({ is, meaning, date }) =>
      is.words > 0.6 &&
      !date &&
      is.prose < 0.5 &&
      ((table.nouns.includes('users') && is.person > 0.7) ||
        meaning.concepts.has('name') ||
        meaning.concepts.has('title') ||
        meaning.concepts.has('stage') ||
        meaning.concepts.has('company')),
  );
  const rank = ({ meaning }: Column): number => Number(meaning.concepts.has('name')) - meaning.words.length * 0.01;
  if (email && what === 'owner') return email;
  const [whole] = table.nouns.includes('users') ? namesOf(table) : [];
  // A name by which somebody logs in is none.
  const isWhole = (column: Column): boolean =>
    !whole?.pair?.includes(column) && headerScore('full', column, 'leads') > 0.7;
  if (whole && !named.some(isWhole)) return whole;
  return named.sort((a, b) => rank(b) - rank(a))[0] ?? (what === 'author' ? email : undefined);
}
