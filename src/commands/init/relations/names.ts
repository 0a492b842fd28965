/** The names that ids stand for: of a stage, a member of the staff, a company. */
import { ofText } from '../../../report/words/numbers.ts';
import {
  countOf,
  countsWhere,
  isComplete,
  isNameOf,
  isOneOf,
  isUnique,
  plainColumns,
  valueIn,
  type Column,
  type Table,
} from '../columns.ts';
import { isId, isOfFirms } from '../matrix/content.ts';
import { quoted } from '../evidence.ts';
import { headerScore } from '../matrix/roles.ts';
import { meaningOf, type Noun } from '../words.ts';
import type { Join, KnownTables } from './joins.ts';
import { idOfType, joined, lookupIn, lookupOf } from './lookups.ts';
import { isSure, namesOf, namesTable, referenceText, type Reference } from './references.ts';

/** What a name may be taken for, and the tables that have such names. */
const NAMED = { stage: 'stage', pipeline: 'stage', owner: 'user', author: 'user', company: 'company' } as const;
type Named = keyof typeof NAMED;

const STAGES = ['stage', 'status', 'pipeline'] as const;

/** Whether a table has such names: by what it is called, or because it is called nothing else. */
function fits({ from, to }: Reference, what: Named): boolean {
  const { nouns, source } = to.table;
  const { concepts } = meaningOf(source);
  if (what === 'pipeline') return concepts.has('pipeline') && !concepts.has('stage') && !concepts.has('status');
  const isCalled = namesTable(from, to.table) || STAGES.some((each) => to.meaning.concepts.has(each));
  return nouns.length === 0 ? what !== 'stage' || isCalled : nouns.includes(NAMED[what] satisfies Noun);
}

/** Whether a short table has all values of a column as its key, and no other one has: it says what they mean, whatever it is called. */
function isOfCodes({ from, to }: Reference, references: readonly Reference[]): boolean {
  const tables = references.flatMap((each) => {
    const { rows, nouns, list } = each.to.table;
    const isShort = list === undefined && rows <= MAX_CODES && rows <= from.distinct * 3;
    const isTheirs = each.from === from && each.found === each.of && each.by.apply.length === 0 && isUnique(each.to);
    return isTheirs && isShort && !nouns.includes('user') ? [each.to.table] : [];
  });
  return tables.includes(to.table) && new Set(tables).size === 1;
}

const MAX_CODES = 30;

/** The name that the id in a column stands for, where a table that becomes no event has both: of a stage, a user, a company. */
export function nameOf(
  column: Column,
  { references, drafts, tables }: KnownTables,
  what: Named,
): { join: Pick<Join, 'value' | 'share' | 'why'>; name: Column } | undefined {
  const [found] = references
    .filter(
      (each) =>
        each.from === column &&
        !drafts.some(({ table }) => table === each.to.table) &&
        each.to.table.list === undefined &&
        // The same code may be a stage of deals and one of leads.
        (isUnique(each.to) || what === 'stage') &&
        isComplete(each.to) &&
        ((isSure(each, 0.8) && fits(each, what)) || (what === 'stage' && isOfCodes(each, references))),
    )
    .sort(
      (a, b) =>
        Number(isUnique(b.to)) - Number(isUnique(a.to)) ||
        b.share - a.share ||
        Number(namesTable(b.from, b.to.table)) - Number(namesTable(a.from, a.to.table)),
    );
  // What is a name already needs no other one, but for an owner, who has an address.
  if (found && what !== 'owner' && isName(found.to, NAMED[what] === 'stage')) return undefined;
  const name = found && nameIn(found.to, what);
  if (!found && (what === 'owner' || what === 'author')) return nameBeside(column, tables);
  if (!found || !name || name === found.to) return undefined;
  const several = isUnique(found.to) ? 0 : severalIn(found, name);
  if (several > column.distinct / 2) return undefined;
  const more =
    several === 0 ? '' : `; ${ofText(several, column.distinct)} values have several names, of which the first is used`;
  const join = {
    value: lookupOf(found, joined(name.pair ?? [name], ' ')),
    share: found.share,
    why: `${referenceText(found)}${more}${missingText(found)}`,
  };
  return { name, join };
}

/** The name that another record has beside the same id: who created one may have another one. */
function nameBeside(column: Column, tables: readonly Table[]): ReturnType<typeof nameOf> {
  const found = tables.flatMap((table) => {
    const plain = table.list === undefined && isId(column) ? plainColumns(table) : [];
    const names = plain.filter(({ is, distinct }) => is.person > 0.7 && distinct > 1);
    return names.flatMap((name) =>
      plain
        .filter((id) => id !== column && isId(id) && isNameOf(id, name))
        .map((id) => {
          const all = `from ${column.table.sql} where ${column.sql} in (select ${id.sql} from ${table.sql})`;
          return { id, name, n: countOf(table, all) };
        }),
    );
  });
  const [best] = found.filter(({ n }) => n > column.filled * 0.8).sort((a, b) => b.n - a.n);
  if (!best) return undefined;
  const { id, name, n } = best;
  const value = lookupIn(id.table, { match: id.name, with: valueIn(column), take: name.name }, true, n < column.filled);
  const why = `${ofText(n, column.filled)} have a name in ${id.table.source}: ${quoted(name)} in the record with this ${quoted(id)}`;
  return { name, join: { value, share: n / column.filled, why } };
}

/** The names that ids stand for, where a column beside them tells of which table each is: `sender_type` of `sender_id`. */
export function nameByType(id: Column, { references }: KnownTables): Pick<Join, 'value' | 'why'> | undefined {
  const { table, sql } = id;
  const own = references.filter(({ from, to, by }) => from === id && by.apply.length === 0 && isUnique(to));
  for (const type of table.columns.filter((each) => each !== id && each.distinct <= MAX_TYPES && each.is.words > 0.8)) {
    const used = countsWhere(type, `${sql} is not null`);
    const found = [...used].flatMap(([value, n]) => {
      const all = `from ${table.sql} where ${isOneOf(type, [value])} and ${sql} in`;
      const whole = own.filter(({ to }) => countOf(table, `${all} (select ${to.sql} from ${to.table.sql})`) === n);
      const named = whole.filter(({ to }) => namesTable({ name: value, meaning: meaningOf(value) }, to.table));
      const [{ to }, ...more] = named.length > 0 ? named : whole.length > 0 ? whole : [{ to: undefined }];
      const name = to && more.length === 0 ? nameIn(to, 'author') : undefined;
      return to && name ? [{ value, n, to, name }] : [];
    });
    const isOf = (noun: Noun): boolean => found.some(({ to }) => to.table.nouns.includes(noun));
    if (found.length < used.size || !isOf('user') || !isOf('lead') || isOf('deal')) continue;
    const from = found.map(({ value, to, name }) => {
      const take = joined(name.pair ?? [name], ' ');
      return lookupIn(to.table, { match: to.name, with: idOfType(type, [value], id), take }, false);
    });
    const figures = found.map(
      ({ value, n, to }) => `${ofText(n, id.filled)} with \`${value}\` are in ${to.table.source}`,
    );
    return { value: { from }, why: `by ${quoted(type)}: ${figures.join(', ')}` };
  }
  return undefined;
}

const MAX_TYPES = 12;

/** Words, and no login or code; `isOne`: one may be enough. */
function isName({ is, pair, values }: Column, isOne: boolean): boolean {
  const isWritten = is.spaced > 0.6 || (isOne && values.every((value) => /^\p{Lu}\p{Ll}{2}|^\S+ /u.test(value)));
  return pair !== undefined || (is.words > 0.8 && isWritten && Math.max(is.code, is.email) < 0.5);
}

/** Which values no record has, so that they are left out. */
function missingText({ from, to, by, found, of }: Reference): string {
  if (found === of || by.apply.length > 0) return '';
  const known = `select ${to.sql} from ${to.table.sql} where ${to.sql} is not null`;
  const lost = from.table.db.all<{ value: string }>(
    `select distinct ${from.sql} value from ${from.table.sql} where ${from.sql} not in (${known}) limit 4`,
  );
  const values = lost.slice(0, 3).map(({ value }) => value);
  return `; left out, because ${to.table.source} has no such record: ${values.join(', ')}${lost.length > 3 ? ', …' : ''}`;
}

/** How many of the values have more than one name. */
function severalIn({ from, to }: Reference, name: Column): number {
  const used = `select ${from.sql} from ${from.table.sql}`;
  const where = `where ${to.sql} in (${used}) group by ${to.sql} having count(distinct ${name.sql}) > 1`;
  return countOf(to.table, `from (select 1 from ${to.table.sql} ${where})`);
}

/** What a record is called: an owner by the e-mail address, all others by their names. */
function nameIn(key: Column, what: Named): Column | undefined {
  const { table } = key;
  const isUsers = table.nouns.includes('user');
  const able = table.columns.filter(
    (column) => column !== key && column.list === undefined && column.filled > table.rows / 2,
  );
  const email = able.find(({ is }) => is.email > 0.8);
  if (email && what === 'owner') return isUsers || !isOfFirms(email) ? email : undefined;
  const named = able.filter(
    ({ is, meaning: { concepts }, date }) =>
      is.words > 0.6 &&
      !date &&
      is.prose < 0.5 &&
      ((isUsers && is.person > 0.7) ||
        (['name', 'title', 'stage', 'company'] as const).some((each) => concepts.has(each))),
  );
  const [whole] = isUsers || table.nouns.includes('lead') ? namesOf(table) : [];
  // A name by which somebody logs in is none.
  const isWhole = (column: Column): boolean =>
    !whole?.pair?.includes(column) && headerScore('full', column, 'lead') > 0.7;
  if (whole && !named.some(isWhole)) return whole;
  // The name with a space is no login.
  const rank = ({ meaning, is }: Column): number =>
    Number(isUsers && is.person > 0.7 && is.spaced > 0.7) +
    Number(meaning.concepts.has('name')) -
    meaning.words.length * 0.01;
  const [best = what === 'author' ? email : undefined] = named.sort((a, b) => rank(b) - rank(a));
  // Of codes with their texts, whatever that is called.
  const [text, ...more] = able.filter(({ is, date }) => is.words > 0.8 && !date && is.prose < 0.5);
  return best ?? (more.length === 0 && text && isUnique(text) ? text : undefined);
}
