/**
 * Writes the entries of comments: notes, activities, calls, tasks. They cannot be corrected once they are sent, so their text,
 * their parent and their time are always to be checked.
 */
import { numberText } from '../numbers.ts';
import { isFew, type ExportColumn } from './columns.ts';
import { idLine, notDeleted, timeLines, whenLines } from './entry-lines.ts';
import { entryText, type EntryLine, type EntryText } from './entry-text.ts';
import type { Guess } from './guess.ts';
import { isActivityKind } from './kinds.ts';
import { nameJoin, type KnownExports } from './joins.ts';
import { parentLine, parentsOf, type Parent } from './parents.ts';
import { fits, type Finding } from './roles.ts';
import { flow, foldHeader } from './value-text.ts';

/** Undefined if no column has a text, or none refers to a lead or deal. */
export function commentText(guess: Guess, known: KnownExports): EntryText | undefined {
  const { texts, comment } = textsOf(guess);
  if (texts.length === 0) return undefined;
  const owner = guess.table.parent && known.guesses.find(({ table }) => table === guess.table.parent);
  const parents = owner ? undefined : parentsOf(guess, known);
  if (parents?.every(({ found, candidates }) => !found && candidates.length === 0)) return undefined;
  if (owner && owner.kind !== 'leads' && owner.kind !== 'deals') return undefined;
  const columns = [...new Set(parents?.flatMap((parent) => parent.found?.columns ?? []))];
  const author = guess.roles.get('author')?.column;
  const authors = nameJoin(guess, known, 'author');
  const staff = author === undefined || authors?.column === author ? authors : undefined;
  const used = new Set<ExportColumn | undefined>([...texts, ...columns, author, staff?.column]);
  return entryText(
    'comment/created',
    guess.source,
    [
      ...(owner ? [{ key: 'each', value: guess.table.list }] : []),
      ...present(guess, [
        { columns: texts, what: 'text' },
        { columns, what: 'lead or deal', values: parentValues(parents ?? []) },
      ]),
      ...(parents?.every(({ found }) => found) ? [{ key: 'if_both', value: 'deal' }] : []),
      ...timeLines(guess),
    ],
    [
      ...(guess.roles.has('id') ? [idLine(guess)] : []),
      { key: 'content', value: content(texts), comment },
      ...(staff ? [staff.line('author_name')] : author ? [{ key: 'author_name', value: author.name }] : []),
      ...(owner ? [ownLine(owner)] : parentLines(parents!)),
    ],
    { above: leftOut(guess, used) },
  );
}

/** The record that has the list of comments. */
function ownLine(owner: Guess): EntryLine {
  const id = owner.roles.get('id')?.column;
  const key = owner.kind === 'deals' ? 'deal_external_id' : 'lead_external_id';
  if (!id) return { key, value: '$.id', comment: 'set this: the record has no id' };
  const path = `$.${id.name}`;
  const value = owner.prefix ? { from: path, apply: [{ prefix: owner.prefix.text }] } : path;
  return { key, value, comment: 'check: the record in which they are' };
}

function parentLines([deal, lead]: readonly Parent[]): EntryLine[] {
  const lines = [
    ...parentLine('deal_external_id', deal!, { inDoubt: true }),
    ...parentLine('lead_external_id', lead!, { inDoubt: true }),
  ];
  if (deal?.found || lead?.found) return lines.filter(({ off }) => !off);
  const none = 'set this: no column contains the id of its lead or deal';
  return [{ key: 'lead_external_id', value: 'Lead ID', comment: none }, ...lines];
}

/** Columns of few values that stand for a text where there is none. */
const SUBJECT = /subject|oggetto|betreff|title|asunto|objet|note|content|body|text|comment|description|^name$/;

/** The subject and the text; behind them what kind of activity it was, if some records have neither. Without a text, what there is. */
function textsOf({ roles, table: { columns, rows } }: Guess): { texts: ExportColumn[]; comment: string } {
  const texts = (['subject', 'content'] as const).flatMap((role) => roles.get(role) ?? []);
  const found = texts.map(({ column }) => column);
  const subjects = columns.filter(
    (column) => column.words && isFew(column) && SUBJECT.test(foldHeader(column.name)) && !isActivityKind(column),
  );
  const kinds = columns.filter((column) => isActivityKind(column));
  const more = [...subjects, ...kinds].filter((column) => !found.includes(column) && !fits('author', column));
  if (found.length > 0) {
    const behind = found.some(({ filled }) => filled === rows) ? undefined : more.find(({ filled }) => filled === rows);
    return { texts: behind ? [...found, behind] : found, comment: `check: ${evidenceOf(texts)}` };
  }
  const details = columns.filter(
    (column) =>
      column.filled > 0 && !column.date && /duration|dauer|durata|status|priority/.test(foldHeader(column.name)),
  );
  const several = more.filter(({ distinct }) => distinct > 1);
  const all = more.length > 0 ? [...new Set([...(several.length > 0 ? several : more), ...details])].slice(0, 4) : [];
  return { texts: all, comment: 'check: no column has a text, so these stand for one' };
}

function evidenceOf(texts: readonly Finding[]): string {
  return [...new Set(texts.map(({ why }) => why))].join(', ');
}

function content(texts: readonly ExportColumn[]): unknown {
  const html = texts.some((column) => column.html) ? ['html_to_text'] : [];
  const [only] = texts;
  const separator = texts.every((column) => isFew(column)) ? ' - ' : '\n\n';
  if (texts.length > 1) return { list: texts.map(({ name }) => name), apply: [{ join: separator }, ...html] };
  return html.length > 0 ? { from: only!.name, apply: html } : only!.name;
}

/** A comment has no custom fields: what else the records have stays behind. */
function leftOut({ roles, table: { columns } }: Guess, used: ReadonlySet<ExportColumn | undefined>): string[] {
  const known = new Set([...used, ...[...roles.values()].map(({ column }) => column)]);
  const left = columns.filter((column) => column.filled > 0 && !known.has(column)).map(({ name }) => flow(name));
  return left.length === 0 ? [] : [`check: not carried, since a comment has only a text: ${left.join(', ')}`];
}

interface Needed {
  readonly columns: readonly ExportColumn[];
  readonly what: string;
  /** Looked up, so that a column with a value may be without a record. */
  readonly values?: readonly unknown[] | undefined;
}

/** Undefined if the columns themselves have the ids. */
function parentValues(parents: readonly Parent[]): unknown[] | undefined {
  const found = parents.flatMap((parent) => parent.found ?? []);
  if (found.length === 0 || found.some(({ isOptional }) => isOptional !== true)) return undefined;
  return found.map(({ value }) => value);
}

/** Skips the records without a text or a parent, which the service would refuse. */
function present(guess: Guess, needed: readonly Needed[]): EntryLine[] {
  const { rows } = guess.table;
  const gone = notDeleted(guess);
  const conditions = needed.flatMap(({ columns, what, values }) => {
    if (values) {
      const value = { from: values.length > 1 ? values : values[0], present: true };
      return [{ value, why: `records whose ${what} is in no export` }];
    }
    const names = columns.map(({ name }) => name);
    if (columns.length === 0 || columns.some(({ filled }) => filled === rows)) return [];
    const some = rows - Math.max(...columns.map(({ filled }) => filled));
    const count = columns.length > 1 ? `up to ${numberText(some)}` : numberText(some);
    return [
      {
        value: { from: names.length > 1 ? names : names[0], present: true },
        why: `${count} of ${numberText(rows)} records have no ${what}`,
      },
    ];
  });
  return whenLines(gone ? [...conditions, gone] : conditions);
}
