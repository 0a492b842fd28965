/** What the records of every export are, and the role of each column. */
import { basename } from 'node:path';
import type { ExportColumn, Table } from './columns.ts';
import { kindOf, kindOfNoun, type ExportKind, type Kind } from './kinds.ts';
import { shareOf, type Reference } from './references.ts';
import { fits, isIdName, roleOf, type Finding, type Role } from './roles.ts';
import { foldHeader } from './value-text.ts';

export interface Guess {
  readonly table: Table;
  readonly kind: ExportKind;
  readonly roles: ReadonlyMap<Role, Finding>;
  /** Its name in `sources`. */
  readonly source: string;
  /** Added to its ids, which are also those of records of another export, and why. */
  readonly prefix: { readonly text: string; readonly why: string } | undefined;
  /** Written above its entry, or why it has none. */
  readonly note?: string | undefined;
}

const ROLES_OF: Readonly<Partial<Record<ExportKind, readonly Role[]>>> = {
  leads: ['id', 'email', 'phone', 'first_name', 'last_name', 'full_name', 'created'],
  deals: ['id', 'outcome', 'stage', 'amount', 'currency', 'pipeline', 'owner', 'created', 'title'],
  comments: ['id', 'content', 'subject', 'author', 'happened'],
  users: ['id', 'email', 'first_name', 'last_name', 'full_name'],
  companies: ['id', 'company'],
  stages: ['id', 'stage', 'label'],
};

/** `known`: what its records are, if that is known. */
export function guess(
  table: Table,
  references: readonly Reference[],
  source: string,
  known: Kind = kindOf(table, references),
): Guess {
  const { kind, why } = known;
  const roles = new Map<Role, Finding>();
  const taken = new Set<ExportColumn>();
  const elements = table.lists.flatMap(({ columns }) => columns);
  for (const role of ROLES_OF[kind] ?? []) {
    const rest = columnsFor(role, table, references).filter((each) => !taken.has(each));
    const lists = role === 'email' || role === 'phone' ? elements : [];
    const found = role === 'id' ? idOf(table, kind, references) : roleOf(role, [...rest, ...lists]);
    if (!found) continue;
    roles.set(role, found);
    // An id that is an e-mail address, a name or a title is also that.
    if (role !== 'id' || isIdName(found.column.name) || isKeyName(found.column.name)) taken.add(found.column);
  }
  settleNames(roles);
  settleStage(roles);
  const pipeline = roles.get('pipeline')?.column;
  // One id is no name that could choose between stages.
  if (pipeline?.distinct === 1 && (pipeline.number || pipeline.code)) roles.delete('pipeline');
  return { table, kind, roles, source, prefix: undefined, note: why };
}

/** The value of an id column, or path, with the prefix of its export. */
export function prefixed({ prefix }: Guess, path: string): unknown {
  return prefix ? { from: path, apply: [{ prefix: prefix.text }] } : path;
}

/** A text of a comment is no name of another record, such as the title of its deal. */
function columnsFor(role: Role, { columns }: Table, references: readonly Reference[]): readonly ExportColumn[] {
  if (role !== 'subject' && role !== 'content') return columns;
  return columns.filter((column) => !references.some((each) => each.from === column && shareOf(each) > 0.5));
}

/** A first or last name without the other one is the full name (`nome` without `cognome`). */
function settleNames(roles: Map<Role, Finding>): void {
  const [first, last, full] = [roles.get('first_name'), roles.get('last_name'), roles.get('full_name')];
  const only = first && last ? undefined : (first ?? last);
  if (first && last && full?.unnamed) roles.delete('full_name');
  if (!only) return;
  if (!full || full.unnamed) roles.set('full_name', only);
  roles.delete('first_name');
  roles.delete('last_name');
}

/** Without another stage, the outcome is the stage. */
function settleStage(roles: Map<Role, Finding>): void {
  const outcome = roles.get('outcome');
  if (!outcome || roles.has('stage')) return;
  roles.set('stage', outcome);
  roles.delete('outcome');
}

/** The longest id, such as a UUID with a prefix. */
const MAX_ID = 60;

/**
 * The column that is unique in every record: by what others refer to, by its look, then by its header, in which the noun
 * of the file counts most: `payment_id` of payments, which may also have a `deal_id`. Otherwise a column with the name of
 * an id; otherwise the e-mail address, the name or the title, if they are unique.
 */
export function idOf(table: Table, kind: ExportKind, references: readonly Reference[]): Finding | undefined {
  const { columns, rows, from, list } = table;
  const file = foldHeader(list ?? basename(from.path));
  const own = columns.filter(({ name }) => {
    const stem = stemOf(name);
    const noun = kindOfNoun(stem ?? foldHeader(name).split(' ').at(-1)!);
    const isOther = noun !== undefined && noun !== kind && noun !== 'unknown' && kind !== 'unknown';
    const isForeign = /^(?:z )?fk\b/.test(foldHeader(name));
    return !isForeign && (!isOther || (noun === 'comments' && stem === undefined));
  });
  const score = (column: ExportColumn): number => {
    const stem = stemOf(column.name);
    const isOwn = stem !== undefined && (file.includes(stem) || kindOfNoun(stem) === kind);
    const isReferred = references.some((each) => each.to === column && isSure(each) && shareOf(each) > 0.5);
    const refers = references.some(
      (each) => each.from === column && each.to.unique && isSure(each) && shareOf(each) > 0.9,
    );
    return (
      8 * Number(isOwn) +
      4 * Number(isKeyName(column.name)) +
      2 * Number(stem !== undefined) +
      4 * Number(/id$/.test(foldHeader(column.name))) +
      5 * Number(isReferred) +
      3 * Number(column.code) +
      Number(isWholeNumber(column) && column === columns[0]) -
      6 * Number(refers && !isReferred)
    );
  };
  const unique = own.filter((column) => column.unique && column.whole);
  const why = `unique in all ${rows} records`;
  const [best] = unique.filter(couldBeId).sort((a, b) => score(b) - score(a));
  if (best && score(best) > 0) return { column: best, why, unnamed: false };
  const named = own.find(
    (column) => column.filled > rows / 2 && (isKeyName(column.name) || stemOf(column.name) === ''),
  );
  if (named) return { column: named, why: '', unnamed: false };
  if (kind === 'comments' || kind === 'unknown') return undefined;
  const found =
    unique.find(({ email }) => email) ?? unique.find((column) => fits('full_name', column) || fits('title', column));
  return found && { column: found, why, unnamed: true };
}

function couldBeId({ email, date, number, length, html, values, person, phone, name }: ExportColumn): boolean {
  const isName = person || (phone && !isKeyName(name) && stemOf(name) === undefined);
  const hasBlanks = values.some((value) => value.includes(' '));
  const isDecimal = number !== undefined && values.some((value) => /[.,]\d/.test(value));
  return !email && !date && !html && !isName && !hasBlanks && !isDecimal && length <= MAX_ID;
}

function isWholeNumber({ values }: ExportColumn): boolean {
  return values.every((value) => /^\d+$/.test(value));
}

/** Small whole numbers are among each other by chance. */
function isSure({ from, to }: Reference): boolean {
  return !isWholeNumber(to) || foldHeader(from.name) === foldHeader(to.name) || isIdName(from.name);
}

function isKeyName(name: string): boolean {
  return /^(?:(?:record|contact|lead|person|deal|opportunity|customer|client|note|activity|company|account|user|owner|stage|external|cliente|contatto|trattativa|kunden?|kontakt|vorgangs?) ?)?(?:id|guid|uuid|key|nr|nummer|no|numero|codice|code|cod)$|^(?:id|codice|cod|code) (?:cliente|contatto|trattativa|contact|lead|deal|nota|client|opportunit\w*)$|^identifi\w+$|^external id(?: c)?$|\breference id$|^(?:z )?pk\b/.test(
    foldHeader(name),
  );
}

/** What the name of an id column is the id of: `contact` for `Contact ID` and `CONTACTID`, empty for `Id`. */
function stemOf(name: string): string | undefined {
  const header = foldHeader(name);
  const joined = /^(\w+?)(?:id|nummer|nr)$/.exec(header)?.[1];
  if (joined !== undefined) return kindOfNoun(joined) === undefined ? undefined : joined;
  const spaced = /^(?:(.+) )?(?:id|nr|no|number|code|codice)$/.exec(header);
  return spaced ? (spaced[1] ?? '') : undefined;
}
