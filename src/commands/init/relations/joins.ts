/** How the records of one table find those of another: the lead of a deal, the deal of a comment. */
import { numberText, ofText } from '../../../report/words/numbers.ts';
import type { ValueSpec } from '../../../mapping/spec.ts';
import {
  countOf,
  haveSeveral,
  isComplete,
  isUnique,
  plainColumns,
  severalText,
  valueIn,
  type Column,
  type Table,
} from '../columns.ts';
import { quoted } from '../evidence.ts';
import type { EntryDraft } from '../guess.ts';
import { isCode, isId } from '../matrix/content.ts';
import { firmsAmong, shareOfFirms } from './firms.ts';
import { flagOf, joined, lookupIn, lookupOf, partOf } from './lookups.ts';
import { isCalledAlike, isSure, namesTable, referenceText, WHOLE, type Reference } from './references.ts';
import { typeOf } from './typed.ts';
import { isOfFirm, isStaff, scoreOf } from '../matrix/roles.ts';
import { fold } from '../words.ts';

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
  /** No two records have the same there. */
  readonly isOne?: boolean;
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
export function joinsTo(own: EntryDraft, target: EntryDraft, known: KnownTables): Join[] {
  const { references, tables, drafts } = known;
  const id = own.roles.get('id')?.column;
  const firms = firmsAmong(target, references);
  const direct = references
    .filter(({ from, to }) => from.table === own.table && from !== id && to.table === target.table)
    .filter((each) => !isOfOther(each, own, references))
    // Firms that are left out are nobody's person.
    .filter((each) => !firms || shareOfFirms(each, firms) < 0.8)
    .flatMap((each) => directJoin(each, target, own.kind === 'comment' && isPartial(each, known), references));
  const events = drafts.filter(({ kind }) => kind !== 'comment').map(({ table }) => table);
  const third = tables
    .filter((each) => each !== own.table && each.list === undefined && !events.includes(each))
    .flatMap((each) => throughThird(own, each, target, references));
  // An id that is likely by chance alone counts where a type beside it tells the records apart.
  return [...direct, ...byTitle(own, target, references), ...third]
    .filter(({ score, byId }) => score > (byId ? 0.01 : 0.05))
    .sort((a, b) => b.score - a.score);
}

/**
 * Whether a column means something else than records in which its numbers happen to be: it has another role, its header names another
 * table that has them, or it has a few values again and again.
 */
function isOfOther(reference: Reference, { roles }: EntryDraft, references: readonly Reference[]): boolean {
  const { from, to, share } = reference;
  const isCalled = (each: Reference): boolean => namesTable(from, each.to.table) || isCalledAlike(from, each.to);
  if (to.is.digits < 0.9 || isCalled(reference)) return false;
  const isRival = (each: Reference): boolean =>
    each.from === from && each.to.table !== to.table && isUnique(each.to) && each.share >= share && isCalled(each);
  const hasRole = [...roles].some(([role, { column }]) => role !== 'id' && column === from);
  const isStep =
    !isSure(reference) && from.distinct < 8 && from.filled > from.distinct * 4 && !typeOf(from, references);
  return hasRole || isStep || references.some(isRival);
}

/**
 * Whether a column has further ids of records that are in no export: of other kinds, or of records that another parent of the same record
 * stands in for.
 */
function isPartial({ from, to, share }: Reference, { drafts, references }: KnownTables): boolean {
  const isUnknown = `${from.sql} is not null and ${from.sql} not in (select ${to.sql} from ${to.table.sql})`;
  const isSaved = (each: Reference): boolean =>
    each.from.table === from.table &&
    each.to.table !== to.table &&
    drafts.some(({ kind, key }) => kind !== 'comment' && key?.column === each.to) &&
    countOf(
      from.table,
      `from ${from.table.sql} where ${isUnknown} and ${each.from.sql} in (select ${each.to.sql} from ${each.to.table.sql})`,
    ) > 0;
  return share < 0.95 || (share < 1 && references.some(isSaved));
}

/** `isMixed`: a column may also have the ids of other records. */
function directJoin(
  reference: Reference,
  target: EntryDraft,
  isMixed: boolean,
  references: readonly Reference[],
): Join[] {
  const { from, to, by, share } = reference;
  const isId = to === target.key?.column;
  const take = idValue(target);
  const rank = rankOf(reference, target);
  if (rank === 0 || take === undefined) return [];
  const isUnnamed = reference.isSpread && from.meaning.concepts.size === 0;
  const named =
    (namesTable(from, target.table) ? 0.1 : 0) + (fold(from.name) === fold(to.name) ? 0.05 : 0) - (isUnnamed ? 0.1 : 0);
  const cut = by.several ? from.values.filter((value) => by.take(value).filter(Boolean).length > 1).length : 0;
  const match = COMPARED[by.apply.length === 0 ? 0 : (by.fold ?? 4)];
  const why = referenceText(reference);
  const common = {
    target,
    columns: [from],
    share,
    byId: isId && by.apply.length === 0,
    end: from,
    isOne: isUnique(to),
    isShared: rank <= 0.5 && !isUnique(to),
    score: share * (rank + named - (from.list === undefined ? 0 : 0.05)),
    several: cut > 0 ? `${haveSeveral(cut)}; the first one is used` : severalText(from),
    ...(match && { matched: `${match(from)} in (select ${match(to)} from ${to.table.sql})` }),
  };
  const isPart = isMixed && !reference.isTyped && target.table.whole && target.table.list === undefined;
  if (isId && !by.fold && !isPart) return [{ ...common, value: prefixed(partOf(reference), target), why }];
  if (target.table.list !== undefined) return [];
  const zeros = by.fold === 3 && isId ? ', compared without leading zeros' : undefined;
  const beside = isUnique(to) ? undefined : besideOf(reference, references);
  const { left = severalIn(reference), own = [], other = [] } = beside ?? {};
  const and = own.map(quoted).join(' and ');
  const several = left > 0 ? `; ${numberText(left)} match several, of which ${whichOf(to.table)} is used` : '';
  const more = `${zeros ?? (isId || take === to.name ? '' : ', which is not the id')}${and && `, together with ${and}`}${several}`;
  const value = beside
    ? lookupIn(target.table, { match: joined([to, ...other], ' '), with: joined([from, ...own], ' '), take }, left > 0)
    : lookupOf(reference, take, share < 0.98 || isPart);
  return [{ ...common, value, why: `${why}${more}` }];
}

/** Records whose value several of the other table have. */
function severalIn({ from, to }: Reference): number {
  const several = `select ${to.sql} from ${to.table.sql} group by ${to.sql} having count(*) > 1`;
  return countOf(from.table, `from ${from.table.sql} where ${from.sql} in (${several})`);
}

/**
 * The person or the firm that both records name, if that tells apart those of several with the same title or name; with how many are left
 * that it does not tell apart.
 */
function besideOf({ from, to, found, by }: Reference, references: readonly Reference[]) {
  if (by.apply.length > 0) return undefined;
  const sure = references.filter((each) => each.by.apply.length === 0 && isSure(each, 0.9) && !isStaff(each.from));
  const byThird = sure.flatMap(({ from: mine, to: third }) => {
    const isOfBoth = third.table.nouns.some((noun) => noun === 'lead' || noun === 'company');
    const others = isOfBoth ? sure.filter((each) => each.to === third).map((each) => each.from) : [];
    return [third, ...others].map((theirs) => [mine, theirs] as const);
  });
  const byHeader = plainColumns(from.table).flatMap((mine) => {
    const isOfBoth =
      isOfFirm(mine) || (['person', 'customer'] as const).some((each) => mine.meaning.concepts.has(each));
    return isOfBoth
      ? to.table.columns.filter((each) => isCalledAlike(mine, each)).map((each) => [mine, each] as const)
      : [];
  });
  for (const [mine, theirs] of [...byThird, ...byHeader]) {
    if (mine.table !== from.table || mine === from || theirs.table !== to.table || theirs === to) continue;
    if ([from, to, mine, theirs].some(({ pair, list }) => pair || list !== undefined)) continue;
    const pairs = `from ${from.table.sql} a join ${to.table.sql} b on a.${from.sql} = b.${to.sql} and a.${mine.sql} = b.${theirs.sql} group by a.rowid`;
    if (countOf(from.table, `from (select 1 ${pairs})`) < found) continue;
    return { own: [mine], other: [theirs], left: countOf(from.table, `from (select 1 ${pairs} having count(*) > 1)`) };
  }
  return undefined;
}

/** By a title that several deals have, if those beside it tell them apart. */
function byTitle(own: EntryDraft, target: EntryDraft, references: readonly Reference[]): Join[] {
  const to = target.kind === 'deal' && target.table.list === undefined ? target.roles.get('title')?.column : undefined;
  if (!to || isUnique(to)) return [];
  return plainColumns(own.table).flatMap((from) => {
    if (from.is.words < 0.8 || from.distinct < 2 || references.some((each) => each.from === from && each.to === to))
      return [];
    const found = countOf(
      own.table,
      `from ${own.table.sql} where ${from.sql} in (select ${to.sql} from ${to.table.sql})`,
    );
    const reference = { from, to, by: WHOLE, found, of: from.filled, share: found / from.filled };
    const isTold = reference.share > 0.9 && besideOf(reference, references) !== undefined;
    return isTold ? directJoin(reference, target, false, references) : [];
  });
}

/** Which of several records is taken. */
function whichOf(table: Table): string {
  const flag = flagOf(table);
  return flag ? `the one with ${quoted(flag.column)} (${flag.value}), or else the first,` : 'the first';
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
  const isOfFew = to.distinct > distinct * 3 || to.filled >= to.distinct * 5;
  const isSame = distinct <= 3 && filled >= Math.max(12, distinct * 4) && isOfFew;
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
      .map(({ columns, other, by, lookup, share }) => ({
        target,
        value: lookup(prefixed(partOf(end), target)),
        columns,
        end: end.from,
        share: share * end.share,
        score: share * end.share * 0.7,
        why: `${ofText(takenBy(by, other, end.from), own.table.rows)} are found through ${third.source}; if there are several, ${whichOf(third)} is used`,
      })),
  );
}

/** Records for which the linked one has a value there. */
function takenBy(by: Column, { sql: key, table }: Column, taken: Column): number {
  const linked = `select ${key} from ${table.sql} where ${taken.sql} is not null`;
  return countOf(table, `from ${by.table.sql} where ${by.sql} in (${linked})`);
}

interface LinkStep {
  /** The column of the other table by which its record is found. */
  readonly other: Column;
  /** What it is compared with. */
  readonly by: Column;
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
      return [{ other: to, by: from, columns: [from], share, found, lookup: (take) => lookupOf(each, take) }];
    if (!id || to !== id || from.table !== other || from.list !== undefined) return [];
    const linked = countOf(table, `from ${table.sql} where ${id.sql} in (select ${from.sql} from ${other.sql})`);
    const lookup = (take: ValueSpec): ValueSpec =>
      lookupIn(other, { match: partOf(each), with: valueIn(id), take }, !isUnique(from));
    return [{ other: from, by: id, columns: [], share: linked / table.rows, found: linked, lookup }];
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
