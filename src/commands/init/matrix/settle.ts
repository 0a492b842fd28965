/** What the assignment of one table has in common: names of people in parts, an outcome beside a stage, who wrote a text. */
import { bothOf, cellsOf, countOf, fillOf, isComplete, objectOf, type Column } from '../columns.ts';
import { fold, isJob } from '../words.ts';
import { stageBeside } from './ends.ts';
import { headerScore, whoseOf, type RecordKind, type Role } from './roles.ts';

export interface RoleCandidate {
  readonly column: Column;
  readonly score: number;
}

export type Scores = ReadonlyMap<Role, readonly RoleCandidate[]>;

/** From here on it needs no check. */
export const SURE = 0.62;

/** A first or a last name alone is the full name; an outcome alone is the stage. */
export function settle(kind: RecordKind, taken: Map<Role, Column>, scores: Scores): void {
  if (kind === 'lead') {
    pairUp(taken, scores);
    const [first, last, full] = [taken.get('first'), taken.get('last'), taken.get('full')];
    const part = first ?? last;
    // Beside a first name, a column of other names is the last name, whatever it is called (`Prénom`, `Nom`), and the reverse.
    if (full && part && !(first && last) && (full.is.spaced < 0.4 || !isPartOf(part, full))) {
      taken.set(first ? 'last' : 'first', full);
      taken.delete('full');
    } else if (!(first && last)) {
      const only = first ?? last;
      if (only && (!full || scoreOfTaken(scores, 'full', full) < SURE)) taken.set('full', only);
      taken.delete('first');
      taken.delete('last');
    } else if (full && isMoreThan(full, [first, last])) {
      taken.delete('first');
      taken.delete('last');
    } else taken.delete('full');
    sameAs(taken, scores);
  }
  const currency = taken.has('currency') ? currencyBeside(taken.get('amount'), scores) : undefined;
  if (currency) taken.set('currency', currency);
  const text = taken.get('content');
  const theirs = text && (writerOf(text) ?? signedBy(taken, scores));
  if (theirs) taken.set('author', theirs);
  const [end, ...both] = (['stage', 'outcome'] as const).flatMap((role) => taken.get(role) ?? []);
  const used = [...taken.values()];
  const able = (scores.get('stage') ?? []).flatMap(({ column }) => (used.includes(column) ? [] : [column]));
  const stage = end && both.length === 0 ? stageBeside(end, able) : undefined;
  if (stage) taken.set('outcome', end!).set('stage', stage);
  const outcome = taken.get('outcome');
  if (outcome && !taken.has('stage') && outcome.is.words > 0.8) {
    taken.set('stage', outcome);
    taken.delete('outcome');
  }
}

/** `Currency of Value` is that of `Value`, and `Currency of Weighted value` is not: the one that is called like the amount, and by no more. */
function currencyBeside(amount: Column | undefined, scores: Scores): Column | undefined {
  if (!amount) return undefined;
  const of = fold(amount.name).split(' ');
  const alike = (scores.get('currency') ?? []).flatMap(({ column }) => {
    const words = fold(column.name).split(' ');
    return of.every((word) => words.includes(word)) ? [{ column, more: words.length - of.length }] : [];
  });
  return alike.sort((a, b) => a.more - b.more)[0]?.column;
}

/** `source.author.name` beside `source.body`: who wrote it is in the object that has the text. */
function writerOf(text: Column): Column | undefined {
  const above = objectOf(text);
  const [best] = text.table.columns
    .filter((each) => above !== '' && each.name.startsWith(above) && each.list === text.list && each.is.words > 0.8)
    .filter((each) => headerScore('author', each, 'comment') > 0.8 && each.is.email < 0.5)
    .sort((a, b) => b.is.person - a.is.person);
  return best;
}

/** Of two likely authors, the one who is named just where there is a time, or a text: who logged a call, not who planned it. */
function signedBy(taken: Map<Role, Column>, scores: Scores): Column | undefined {
  const some = [taken.get('happened'), taken.get('content')].find((each) => each && !isComplete(each));
  const author = taken.get('author');
  if (!some || !author) return undefined;
  const isFar = ({ table, sql }: Column): boolean =>
    countOf(table, `from ${table.sql} where (${sql} is null) <> (${some.sql} is null)`) > table.rows * 0.05;
  const near = scores.get('author')!.filter(({ score }) => score > scoreOfTaken(scores, 'author', author) - 0.2);
  return isFar(author) ? near.find(({ column }) => !isFar(column))?.column : undefined;
}

/** `billing.first_name` and `shipping.last_name` are of two people: both are taken from one of the groups, the fuller one. */
function pairUp(taken: Map<Role, Column>, scores: Scores): void {
  const [first, last] = [taken.get('first'), taken.get('last')];
  if (!first || !last || whoseOf(first) === whoseOf(last)) return;
  const pairs = [
    ...ofSame('last', first, scores).map((each) => [first, each] as const),
    ...ofSame('first', last, scores).map((each) => [each, last] as const),
  ].filter(([own, other]) => own !== other);
  // The names of the record itself come before those of its addresses.
  const worth = (pair: readonly [Column, Column]): number =>
    Math.min(...pair.map(fillOf)) - 0.2 * pair[0].name.split('.').length;
  const [best] = pairs.sort((one, other) => worth(other) - worth(one));
  if (best) taken.set('first', best[0]).set('last', best[1]);
}

/** Where the address is the `Parent Email`, the person is the `Parent Name`, not the child. */
function sameAs(taken: Map<Role, Column>, scores: Scores): void {
  const address = taken.get('email') ?? taken.get('phone');
  const own = [taken.get('full'), taken.get('first'), taken.get('last')].flatMap((each) => each ?? []);
  const [theirs] = address && whoseOf(address) !== '' ? ofSame('full', address, scores) : [];
  if (!theirs || own.length === 0 || own.some((each) => whoseOf(each) === whoseOf(address!))) return;
  for (const role of ['first', 'last'] as const) taken.delete(role);
  taken.set('full', theirs);
}

function ofSame(role: Role, column: Column, scores: Scores): Column[] {
  return scores.get(role)!.flatMap((each) => (whoseOf(each.column) === whoseOf(column) ? [each.column] : []));
}

/** Whether whole names have both parts, and sometimes another one: `Sjoerd van der Velde`. A title before some is none. */
function isMoreThan(full: Column, parts: readonly [Column, Column]): boolean {
  const rows = cellsOf([full, ...parts]).filter((row) => !row.includes(null));
  const rest = rows.map(([whole, ...own]) => {
    const words = own.flatMap((each) => fold(each!).split(' '));
    const all = fold(whole!).split(' ');
    return words.every((word) => all.includes(word)) ? all.filter((word) => !words.includes(word)) : undefined;
  });
  const more = rest.filter((each) => each?.some((word) => !isJob(word)));
  return rows.length >= full.table.rows / 2 && !rest.includes(undefined) && more.length > 0;
}

/** Whether full names have the names of another column in them. */
function isPartOf(part: Column, full: Column): boolean {
  const pairs = bothOf(part, full);
  return pairs.filter(([own, all]) => fold(all).includes(fold(own))).length > pairs.length / 2;
}

export function scoreOfTaken(scores: Scores, role: Role, column: Column): number {
  return scores.get(role)!.find((each) => each.column === column)?.score ?? 0;
}
