/** What tells the records of a draft apart: the column with their ids, or what stands for one. */
import { counted, numberText } from '../../../report/words/numbers.ts';
import type { ValueSpec } from '../../../mapping/spec.ts';
import { columnsOf, referred, type Assignment } from '../matrix/assign.ts';
import {
  countOf,
  countWithout,
  fillOf,
  isComplete,
  isKey,
  isUnique,
  plainColumns,
  valueIn,
  type Column,
  type Table,
} from '../columns.ts';
import { isCode, isId } from '../matrix/content.ts';
import { figuresOf, quoted } from '../evidence.ts';
import { type Reference } from '../relations/references.ts';
import { firstOf, joined, lookupIn } from '../relations/lookups.ts';
import { CONTACTS, isKind, NAMES, type RecordKind, type Role } from '../matrix/roles.ts';
import { namesNoun, nounsOf, type Concept } from '../words.ts';

/** A column with ids, or what stands for one, and why. */
export interface Key {
  readonly value: ValueSpec;
  readonly column?: Column;
  readonly why?: string;
  /** That a record occurs in several rows, in figures. */
  readonly repeats?: string;
  /** What differs in these rows; undefined if that is not known, '' if nothing of the record does. */
  readonly differs?: string;
  /** What else these rows have is sent of the first one only: they are no deals. */
  readonly isOnce?: true;
  /** Of exports with the same columns, one for each day or year, the last one has what is true now. */
  readonly keep?: 'last';
}

/** A table of which the kind and roles are known. */
interface Recognised extends Assignment {
  readonly table: Table;
}

/** Of deals without an id, in rows that are a person each: that of the person. */
export function idOfPerson(
  { roles }: Recognised,
  { key, roles: own }: Recognised & { readonly key: Key | undefined },
): Key | undefined {
  const column = columnsOf(own, ...CONTACTS, 'full').find(({ name }) => name === key?.value);
  const why = 'no column has ids of deals, so the id of the person is used';
  return column && isKey(column) && !roles.has('id') ? { value: column.name, column, why } : undefined;
}

export function keyOf(row: Recognised, references: readonly Reference[]): Key | undefined {
  const { roles, kind, table } = row;
  const id = roles.get('id')?.column;
  const both = references.find(({ to }) => to.table === table && to.pair?.some(isId))?.to;
  if (both?.pair) return { value: joined(both.pair, ' '), column: both };
  const isOfPeople = nounsOf(table.list ?? table.source).includes('lead') || id?.known?.get(kind) === 'id';
  const people = kind === 'lead' && !(id && isOfPeople) ? recurringIn(row) : undefined;
  // The number of a booking is no number of who booked, unless others refer to it.
  if (id && !(people && isUnique(id) && referred(id, references) === 0)) {
    // Ids of people or deals that are not the same are a mistake.
    const same = isUnique(id) || kind === 'comment' ? {} : recurring([id], roles, kind);
    return { value: valueIn(id), column: id, ...(same.differs === '' && same) };
  }
  // Notes need no id.
  if (kind === 'comment') return undefined;
  if (!people)
    return referredName(row, references) ?? severalKey(row) ?? (kind === 'lead' ? personalKey(roles) : undefined);
  const theirs = numberOfPeople(row);
  const key = theirs
    ? { value: theirs.name, column: theirs, ...recurring([theirs], roles, kind) }
    : personalKey(roles, id && `${quoted(id)} numbers the records, not the people`)!;
  return { ...key, isOnce: true };
}

/** Where no record has an address that is its own: the names by which others refer to them. */
function referredName({ roles, table }: Recognised, references: readonly Reference[]): Key | undefined {
  const isName = (each: Column): boolean => isKey(each) && each.is.words > 0.8 && referred(each, references) > 0.45;
  const column = plainColumns(table).find(isName);
  if (!column || columnsOf(roles, ...CONTACTS).some(isKey)) return undefined;
  return { value: valueIn(column), column, why: `no column looks like an id, so ${quoted(column)} is used as one` };
}

/** The column with which people recur, if they do so by their address or number and their name together. */
function recurringIn({ roles }: Recognised): Column | undefined {
  const names = columnsOf(roles, ...NAMES);
  return columnsOf(roles, ...CONTACTS).find((own) => {
    if (own.list !== undefined || own.distinct > own.filled * 0.8 || fillOf(own) < 0.5 || names.length === 0)
      return false;
    const all = [own, ...names].map(({ sql }) => sql).join(', ');
    const pairs = `from (select distinct ${all} from ${own.table.sql} where ${own.sql} is not null)`;
    return countOf(own.table, pairs) < own.distinct * 1.1;
  });
}

/** Records of several exports of one structure: they come again in later ones, or people without an id in any. */
export function again(key: Key | undefined, { table, kind }: Recognised): Key | undefined {
  const { family } = table.from;
  if (!key || !family) return key;
  if (family.again !== undefined) return { ...key, repeats: key.repeats ?? family.again, keep: 'last' };
  return kind === 'lead' && !key.column && key.repeats ? { ...key, keep: 'last' } : key;
}

/** Of people in rows of deals: the id of the row, or of people who are in several rows, what they have in common. */
export function personKey(
  row: Recognised,
  deal: Column | undefined,
  references: readonly Reference[],
): Key | undefined {
  const { roles, table } = row;
  const own = roles.get('id')?.column;
  if (own && own !== deal) return keyOf(row, references);
  const columns = columnsOf(roles, ...CONTACTS, 'full');
  // An address that most have tells people apart better than their names.
  const best = columns.find(({ filled }) => filled > table.rows / 2) ?? columns[0];
  const theirs = numberOfPeople(row, best, deal);
  if (theirs) return { value: theirs.name, column: theirs, ...recurring([theirs], roles, 'lead') };
  if (deal && (!best || (isUnique(best) && !table.members))) return { value: deal.name, column: deal };
  return personalKey(roles);
}

/**
 * `buyer.id` beside `buyer.email`: as many as there are people or, whatever it is called, names, and with each of them the same name,
 * address and telephone number.
 */
function numberOfPeople({ roles, table }: Recognised, best?: Column, deal?: Column): Column | undefined {
  const own = columnsOf(roles, ...NAMES, ...CONTACTS);
  const names = columnsOf(roles, ...NAMES).map(({ sql }) => sql);
  const people = names.length === 0 ? 0 : countOf(table, `from (select distinct ${names.join()} from ${table.sql})`);
  const isNear = (column: Column, n: number): boolean => Math.abs(column.distinct - n) <= n * 0.1;
  return plainColumns(table).find((column) => {
    if (column === deal || own.includes(column) || !isComplete(column)) return false;
    const { concepts } = column.meaning;
    const isCalled = best && concepts.has('id') && namesNoun('lead', concepts);
    if (isCalled && isNear(column, best.distinct)) return true;
    const isOfPeople = isCode(column) && !isUnique(column) && isNear(column, people);
    return isOfPeople && recurring([column], roles, 'lead').differs === '';
  });
}

/** The first of these that a person has, in this row or in another one of theirs. `instead`: why no column is taken. */
function personalKey(roles: Assignment['roles'], instead = 'no column looks like an id'): Key | undefined {
  const columns = columnsOf(roles, ...CONTACTS, 'full', 'last');
  const complete = columns.findIndex(isComplete);
  const used = complete < 0 ? columns : columns.slice(0, complete + 1);
  const [first] = used;
  if (!first) return undefined;
  const figures = used.map((each) => `${quoted(each)} (${figuresOf('id', each)})`).join(', or else ');
  const why = `${instead}, so the id of a person is ${figures}`;
  // As alternatives with settings, so that the others, which have fields of their own, are not warned of as passed over.
  const values = used.map((each) => (used.length > 1 ? { from: valueIn(each) } : valueIn(each)));
  const other = elsewhere(used, roles);
  if (!other) return { value: firstOf(values), why, ...recurring(used, roles, 'lead') };
  const { by, value, count } = other;
  return {
    value: firstOf([values[0]!, value, ...values.slice(1)]),
    why: `${why}; ${counted(count, 'record')} without ${quoted(first)} ${count === 1 ? 'gets' : 'get'} the id of another one with the same ${by.map(quoted).join(' and ')}`,
    ...recurring(used, roles, 'lead', by),
  };
}

/** Who has an address in one row and none in another one is the same person where number and name are the same. */
function elsewhere([first, next]: readonly Column[], roles: Assignment['roles']) {
  if (!first || !next || first.table.list !== undefined || first.list !== undefined || next.list !== undefined)
    return undefined;
  const { table } = first;
  const name = (roles.get('full') ?? roles.get('last'))?.column;
  const by = name && name !== next && name.list === undefined ? [next, name] : [next];
  const all = by.map(({ sql }) => sql).join(', ');
  const theirs = `(${all}) in (select ${all} from ${table.sql} where ${first.sql} is not null)`;
  const count = countOf(table, `from ${table.sql} where ${first.sql} is null and ${theirs}`);
  const own = joined(by, ' ');
  return count === 0
    ? undefined
    : { by, count, value: lookupIn(table, { match: own, with: own, take: { from: valueIn(first) } }, true) };
}

/**
 * People or deals that are in several rows, as in a row for each contact of a deal, and whether these differ in who or what they are.
 * `by`: columns by which a row has the key of another.
 */
function recurring(
  used: readonly Column[],
  roles: Assignment['roles'],
  kind: 'lead' | 'deal',
  by: readonly Column[] = [],
): Pick<Key, 'repeats' | 'differs'> {
  const [first] = used;
  const { table, sql } = first!;
  const shared = by.map((each) => each.sql).join(', ');
  const others = `(select ${shared}, min(${sql}) other from ${table.sql} where ${sql} is not null group by ${shared})`;
  const rows =
    by.length > 0 ? `${table.sql} left join ${others} using (${shared})` : `(select null other, * from ${table.sql})`;
  const id = `coalesce(${[sql, 'other', ...used.slice(1).map((each) => each.sql)].join(', ')})`;
  const all = `from ${rows} where ${id} is not null`;
  const [records, people] = [countOf(table, all), countOf(table, `from (select distinct ${id} ${all})`)];
  if (people === records) return {};
  const own = columnsOf(roles, ...TELLING[kind]);
  const several = ['false', ...own.map((each) => `count(distinct lower(${each.sql})) > 1`)].join(' or ');
  const differing = countOf(table, `from (select 1 ${all} group by ${id} having ${several})`);
  const differs =
    differing === 0
      ? ''
      : `${numberText(differing)} of them ${differing === 1 ? 'has' : 'have'} different ${kind === 'lead' ? 'names, addresses or numbers' : 'titles, amounts, stages or owners'}`;
  return {
    repeats: `${numberText(people)} ${kind === 'lead' ? 'people' : 'deals'} in ${numberText(records)} records`,
    differs,
  };
}

/** What is the same in all rows of a person, or of a deal. */
const TELLING: Readonly<Record<'lead' | 'deal', readonly Role[]>> = {
  lead: [...NAMES, ...CONTACTS],
  deal: ['title', 'amount', 'stage', 'owner'],
};

/** The fewest columns that tell records apart together; of people, at most two of those that say who they are and where. */
function severalKey({ roles, table, kind }: Recognised): Key | undefined {
  // Where each has a name or an address, what a record lacks does not tell it from others.
  const all = columnsOf(roles, ...ROLES_OF_KEY[kind]);
  const isKnown = kind !== 'lead' || (all.length > 0 && countWithout(table, all) === 0);
  // Amounts change, and so do texts of several sentences or lines.
  const plain = plainColumns(table).filter(
    (column) =>
      column.distinct > 1 &&
      !isAmount(column) &&
      column.is.prose < 0.5 &&
      column.length < MAX_KEY &&
      (!isKnown || isComplete(column)),
  );
  const own = all.filter((each) => plain.includes(each));
  const isLead = kind === 'lead';
  if (isLead && own.some(isKey)) return undefined;
  const meant = (concept: Concept): Column[] =>
    plain.filter(({ meaning: { concepts } }) => concepts.has(concept) && !concepts.has('id')).slice(0, 6);
  const distinctOf = (text: string): number =>
    countOf(table, `from (select distinct ${text} value from ${table.sql}) where trim(value) <> ''`);
  // The title of a deal comes first; where people live helps only beside who they are.
  // A category, such as the source, may be corrected.
  const able = [...own, ...(isLead ? meant('address') : plain.filter((each) => !isKind(each)))];
  // A date may be corrected.
  const whole = own.some((each) => each === roles.get('title')?.column)
    ? undefined
    : plain.find((each) => isKey(each) && !each.date);
  const firsts = isLead
    ? [...meant('company'), ...own]
    : [whole ?? able.find(({ date }) => !date) ?? able[0]].flatMap((each) => each ?? []);
  const best = firsts.map((first) => extended([first], able.slice(0, 25))).sort((a, b) => b.n - a.n)[0];
  const alone = isLead && own.length > 0 ? distinctOf(`coalesce(${own.map(({ sql }) => sql).join(', ')}, '')`) : 0;
  if (!best || best.n <= alone) return undefined;
  const left = table.rows - best.n;
  const rest =
    left > 0
      ? `, but ${counted(left, 'record')} ${left === 1 ? 'has' : 'have'} the same values as another one`
      : `: unique in all ${numberText(best.n)} records`;
  const verb = best.columns.length === 1 ? 'is used as one' : 'together are used as one';
  const why = `no column looks like an id, so ${best.columns.map(quoted).join(' and ')} ${verb}${rest}`;
  return { value: joined(best.columns, ' / '), why };

  function extended(columns: readonly Column[], more: readonly Column[]): { columns: readonly Column[]; n: number } {
    const [least, most] = isLead ? [2, 2] : [1, 4];
    const textOf = (some: readonly Column[]): string =>
      some.map(({ sql }) => `coalesce(${sql}, '')`).join(` || ' ' || `);
    const n = distinctOf(textOf(columns));
    if (columns.length === most || (columns.length >= least && n === table.rows)) return { columns, n };
    const [next] = more
      .filter((each) => !columns.includes(each))
      .map((each) => ({ each, n: distinctOf(textOf([...columns, each])) }))
      .sort((a, b) => b.n - a.n);
    if (!next || (columns.length >= least && next.n <= n)) return { columns, n };
    return extended([...columns, next.each], more);
  }
}

/** Characters of a column that tells records apart, on average. */
const MAX_KEY = 80;

function isAmount({ is, date, meaning: { concepts } }: Column): boolean {
  return (
    !date && is.number > 0.8 && (is.decimal > 0 || is.money > 0 || (concepts.has('amount') && !concepts.has('id')))
  );
}

/** Those that tell records apart, best first. */
const ROLES_OF_KEY: Readonly<Record<RecordKind, readonly Role[]>> = {
  lead: ['email', 'full', 'phone', 'last', 'first'],
  deal: ['title', 'created'],
  comment: [],
};
