/** How the records of one table find those of another: the lead of a deal, the deal of a comment, the name of a stage. */
import { ofText } from '../../../terminal/numbers.ts';
import type { ValueSpec } from '../../../mapping/spec.ts';
import { countOf, countsWhere, haveSeveral, isComplete, isOneOf, isUnique, severalText, valueIn } from '../columns.ts';
import type { Column, Table } from '../columns.ts';
import { quoted } from '../evidence.ts';
import type { EntryDraft } from '../guess.ts';
import { isCode, isId, isOfFirms } from '../content.ts';
import { firmsAmong, shareOfFirms } from './firms.ts';
import { flagOf, idOfType, joined, lookupIn, lookupOf, partOf } from './lookups.ts';
import { isCalledAlike, isSure, namesOf, namesTable, referenceText, type Reference } from './references.ts';
import { headerScore, isStaff, scoreOf } from '../roles.ts';
import { fold, meaningOf, type Noun } from '../words.ts';

/** What is known of all exports. */
export interface KnownTables {
  readonly drafts: readonly EntryDraft[];
  readonly tables: readonly Table[];
  readonly references: readonly Reference[];
  /** The country of the exports, by the first evidence that there is. */
  readonly country: string | undefined;
}

export interface Join {
  readonly target: EntryDraft;
  readonly value: ValueSpec;
  /** The columns of the record that it reads. */
  readonly columns: readonly Column[];
  readonly share: number;
  /** How good it is: the share, less for anything but an id. */
  readonly score: number;
  /** By its id, however likely. */
  readonly byId?: boolean;
  /** The column that has the id, in the record or in the third table. */
  readonly end: Column;
  /** By what several records have in common, such as their company. */
  readonly isShared?: boolean;
  readonly why: string;
  /** That records name several, of which one is used. */
  readonly several?: string | undefined;
  /** In SQL, whether a record has a match, where that is more than having a value. */
  readonly matched?: string;
}

/** The external id of a record of a draft, as a value on that record. */
export function idValue(draft: EntryDraft): ValueSpec | undefined {
  return draft.key && prefixed(draft.key.value, draft);
}

export function prefixed(value: ValueSpec, { prefix }: EntryDraft): ValueSpec {
  if (!prefix) return value;
  const { apply = [], ...rest } = typeof value === 'string' ? { from: value } : value;
  return { ...rest, apply: [...apply, { prefix: prefix.text }] };
}

/** All ways to the record of `target`, best first. */
export function joinsTo(own: EntryDraft, target: EntryDraft, { references, tables, drafts }: KnownTables): Join[] {
  const id = own.roles.get('id')?.column;
  const firms = firmsAmong(target, references);
  const direct = references
    .filter(({ from, to }) => from.table === own.table && from !== id && to.table === target.table)
    // Firms that are left out are nobody's person.
    .filter((each) => !firms || shareOfFirms(each, firms) < 0.8)
    .flatMap((each) => directJoin(each, target, own.kind === 'comment'));
  const events = drafts.filter(({ kind }) => kind !== 'comment').map(({ table }) => table);
  const third = tables
    .filter((each) => each !== own.table && each.list === undefined && !events.includes(each))
    .flatMap((each) => throughThird(own, each, target, references));
  // An id that is likely by chance alone counts where a type beside it tells the records apart.
  return [...direct, ...third]
    .filter(({ score, byId }) => score > (byId ? 0.01 : 0.05))
    .sort((a, b) => b.score - a.score);
}

/** `isMixed`: a column may also have the ids of other kinds of records. */
function directJoin(reference: Reference, target: EntryDraft, isMixed: boolean): Join[] {
  const { from, to, by, share } = reference;
  const isId = to === target.key?.column;
  const take = idValue(target);
  const rank = rankOf(reference, target);
  if (rank === 0 || take === undefined) return [];
  const isUnnamed = reference.isSpread && from.meaning.concepts.size === 0;
  const named =
    (namesTable(from, target.table) ? 0.1 : 0) + (fold(from.name) === fold(to.name) ? 0.05 : 0) - (isUnnamed ? 0.1 : 0);
  const cut = by.several ? from.values.filter((value) => by.like.test(value)).length : 0;
  const match = COMPARED[by.apply.length === 0 ? 0 : (by.fold ?? 4)];
  const why = referenceText(reference);
  const common = {
    target,
    columns: [from],
    share,
    byId: isId && by.apply.length === 0,
    end: from,
    isShared: rank <= 0.5 && !isUnique(to),
    score: share * (rank + named - (from.list === undefined ? 0 : 0.05)),
    several: cut > 0 ? `${haveSeveral(cut)}; the first one is used` : severalText(from),
    ...(match && { matched: `${match(from)} in (select ${match(to)} from ${to.table.sql})` }),
  };
  const isPart = isMixed && share < 0.95 && !reference.isTyped && target.table.whole && target.table.list === undefined;
  if (isId && !by.fold && !isPart) return [{ ...common, value: prefixed(partOf(reference), target), why }];
  if (target.table.list !== undefined) return [];
  const zeros = by.fold === 3 && isId ? ', compared without leading zeros' : undefined;
  const more = `${zeros ?? (isId ? '; the others have none' : ', which is no id')}${isUnique(to) ? '' : `; of several with the same one, ${whichOf(to.table)} is taken`}`;
  return [{ ...common, value: lookupOf(reference, take, share < 0.98), why: `${why}${more}` }];
}

/** Which of several records is taken. */
function whichOf(table: Table): string {
  const flag = flagOf(table);
  return flag ? `that with ${quoted(flag.column)} (${flag.value}) or else the first` : 'the first';
}

/** In SQL, how values are compared that need not be equal; undefined where they cannot be. */
const COMPARED = {
  0: ({ sql }: Column): string => sql,
  1: ({ sql }: Column): string => `lower(${sql})`,
  2: digitsIn,
  3: ({ sql }: Column): string => `ltrim(${sql}, '0')`,
  4: undefined,
} as const;

/** In SQL, the last digits of a phone number. */
function digitsIn({ sql }: Column): string {
  return `substr(${[...' -().+/'].reduce((text, mark) => `replace(${text}, '${mark}', '')`, sql)}, -9)`;
}

/** An id before an e-mail address, before a name, before a company; small numbers only where the header names what they are. */
function rankOf(reference: Reference, { roles, kind, key }: EntryDraft): number {
  const { from, to, third } = reference;
  const [mine, theirs] = [from.meaning.concepts, to.meaning.concepts];
  if (isOfStaff(reference)) return 0;
  if (third) return kind === 'lead' && third.nouns.every((noun) => noun === 'company') ? 0.5 : 0;
  if (!isSure(reference) || isStaff(from)) return 0.1;
  const has = (role: 'id' | 'full' | 'title'): boolean => roles.get(role)?.column === to;
  if (has('id') || to === key?.column) return 1;
  if (to.is.email > 0.5) return 0.9;
  // A number by another name than the id, in both tables.
  if (isUnique(to) && isComplete(to) && isCode(to) && isCalledAlike(from, to)) return 0.89;
  // A number of one's own tells people apart better than their names.
  if (reference.by.fold === 2 || (to.is.phone > 0.8 && to.is.grouped + to.is.international > 0.5))
    return isUnique(to) ? 0.88 : 0.7;
  if (to.pair !== undefined) return 0.75;
  const isName = kind === 'lead' && to.is.person > 0.7 && !theirs.has('company');
  if (has('full') || isName || (kind === 'deal' && has('title'))) return 0.8;
  // A deal with the same person or company need not be the one that is meant.
  if (kind === 'deal') return 0;
  if (mine.has('address') || to.is.digits > 0.9) return namesTable(from, to.table) || theirs.has('company') ? 0.5 : 0;
  const isShared =
    [theirs, mine].every((each) => each.has('company') || each.has('customer')) ||
    (theirs.has('company') && mine.has('parent'));
  return isShared ? (to.is.words > 0.8 ? 0.42 : 0.5) : isUnique(to) && (theirs.has('id') || isId(to)) ? 0.6 : 0;
}

/** Two or three of many records, again and again, or an address that again and again is that of records: those who work with them. */
function isOfStaff({ from, to }: Reference): boolean {
  const { distinct, filled } = from;
  const isSame = distinct <= 3 && filled >= Math.max(12, distinct * 4) && to.distinct > distinct * 3;
  return isSame || (to.is.email > 0.5 && !isUnique(to) && (isStaff(to) || to.distinct <= to.filled / 5));
}

/** By a third table with the ids of both, such as the contacts of deals, or a company with its contact. */
function throughThird(own: EntryDraft, third: Table, target: EntryDraft, references: readonly Reference[]): Join[] {
  const id = target.key?.column;
  const last = references.filter(
    (each) => each.from.table === third && each.to === id && isSure(each, 0.5) && !isOfStaff(each),
  );
  return last.flatMap((end) =>
    stepsTo(own, third, references)
      .filter(({ other }) => other !== end.from)
      .map(({ columns, lookup, share, found }) => ({
        target,
        value: lookup(prefixed(partOf(end), target)),
        columns,
        end: end.from,
        share: share * end.share,
        score: share * end.share * 0.7,
        why: `${ofText(found, own.table.rows)} are found by way of ${third.source}; of several there, ${whichOf(third)} is taken`,
      })),
  );
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
function stepsTo({ table, roles }: EntryDraft, other: Table, references: readonly Reference[]): LinkStep[] {
  const id = roles.get('id')?.column;
  if (other.list !== undefined) return [];
  return references.flatMap((each): LinkStep[] => {
    const { from, to, share, found } = each;
    if (!isSure(each, 0.5) || each.third) return [];
    if (from.table === table && to.table === other && from !== id && isUnique(to) && !isStaff(from))
      return [{ other: to, columns: [from], share, found, lookup: (take) => lookupOf(each, take) }];
    if (!id || to !== id || from.table !== other || from.list !== undefined) return [];
    const linked = countOf(table, `from ${table.sql} where ${id.sql} in (select ${from.sql} from ${other.sql})`);
    const lookup = (take: ValueSpec): ValueSpec =>
      lookupIn(other, { match: partOf(each), with: valueIn(id), take }, !isUnique(from));
    return [{ other: from, columns: [], share: linked / table.rows, found: linked, lookup }];
  });
}

/** The address or number of a person that a table has which becomes no event, in one step or two. */
export function reach(
  own: EntryDraft,
  role: 'email' | 'phone',
  { references, tables, drafts }: KnownTables,
): Pick<Join, 'value' | 'why'> | undefined {
  const able = tables.filter(
    (each) =>
      each.list === undefined &&
      !drafts.some(({ table }) => table === each) &&
      !each.nouns.some((noun) => noun === 'user' || noun === 'company'),
  );
  const [held] = able
    .flatMap(({ columns }) => columns.map((column) => ({ column, score: scoreOf(role, column, 'lead') })))
    .filter(({ score }) => score > 0.8)
    .sort((a, b) => b.score - a.score);
  if (!held) return undefined;
  const { name, table } = held.column;
  const one = stepsTo(own, table, references).map((step) => ({ step, value: step.lookup(name) }));
  const two = references
    .filter(({ from, to }) => to.table === table && from.table !== own.table)
    .filter((each) => isSure(each, 0.5) && !isStaff(each.from) && !each.third)
    .flatMap((each) =>
      stepsTo(own, each.from.table, references)
        .filter(({ other }) => other !== each.from)
        .map((step) => ({ step, value: step.lookup(lookupOf(each, name)) })),
    );
  const [best] = [...one, ...two].filter(({ step }) => step.share > 0.3).sort((a, b) => b.step.share - a.step.share);
  if (!best) return undefined;
  const why = `${ofText(best.step.found, own.table.rows)} have one in ${table.source}`;
  return { value: best.value, why };
}

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

/** The name that the id in a column stands for, where a table that becomes no event has both: of a stage, a user, a company. */
export function nameOf(
  column: Column,
  { references, drafts }: KnownTables,
  what: Named,
): { join: Pick<Join, 'value' | 'share' | 'why'>; name: Column } | undefined {
  const [found] = references
    .filter(
      (each) =>
        each.from === column &&
        isSure(each, 0.8) &&
        !drafts.some(({ table }) => table === each.to.table) &&
        each.to.table.list === undefined &&
        // The same code may be a stage of deals and one of leads.
        (isUnique(each.to) || what === 'stage') &&
        isComplete(each.to) &&
        fits(each, what),
    )
    .sort(
      (a, b) =>
        Number(isUnique(b.to)) - Number(isUnique(a.to)) ||
        b.share - a.share ||
        Number(namesTable(b.from, b.to.table)) - Number(namesTable(a.from, a.to.table)),
    );
  // What is a name already needs no other one, but for an owner, who has an address.
  if (found && what !== 'owner' && isName(found.to)) return undefined;
  const name = found && nameIn(found.to, what);
  if (!found || !name || name === found.to) return undefined;
  const several = isUnique(found.to) ? 0 : severalIn(found, name);
  if (several > column.distinct / 2) return undefined;
  const more =
    several === 0 ? '' : `; ${ofText(several, column.distinct)} values have several names: the first is taken`;
  const join = {
    value: lookupOf(found, joined(name.pair ?? [name], ' ')),
    share: found.share,
    why: `${referenceText(found)}${more}${missingText(found)}`,
  };
  return { name, join };
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

/** Words, and no login or code. */
function isName({ is, pair }: Column): boolean {
  return pair !== undefined || (is.words > 0.8 && is.spaced > 0.6 && Math.max(is.code, is.email) < 0.5);
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
