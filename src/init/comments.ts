/**
 * Writes the entries of comments: notes, activities, calls, tasks. They cannot be corrected once they are sent, so their text,
 * their parent and their time are always to be checked.
 */
import { numberText } from '../numbers.ts';
import { isFew, type ExportColumn } from './columns.ts';
import { idLine, notDeleted, timeLines, whenLines, type SkippedRecords } from './entry-lines.ts';
import { entryText, type EntryLine, type EntryText } from './entry-text.ts';
import { prefixed, type Guess } from './guess.ts';
import { isActivityKind } from './kinds.ts';
import { nameJoin, type KnownExports } from './joins.ts';
import { parentLine, parentsOf, type Parent } from './parents.ts';
import { fits, type Finding } from './roles.ts';
import { flow, foldHeader } from './value-text.ts';

/** Undefined if no column has a text, or none refers to a lead or deal. */
export function commentText(guess: Guess, known: KnownExports): EntryText | undefined {
  const { table, source, roles } = guess;
  const { texts, comment } = textsOf(guess);
  const owner = table.parent && known.guesses.find((each) => each.table === table.parent);
  const parents = owner ? [] : parentsOf(guess, known);
  const hasParent = owner
    ? owner.kind === 'leads' || owner.kind === 'deals'
    : parents.some(({ found, candidates }) => found ?? candidates.length > 0);
  if (texts.length === 0 || !hasParent) return undefined;
  const author = roles.get('author')?.column;
  const authors = nameJoin(guess, known, 'author');
  const staff = author === undefined || authors?.column === author ? authors : undefined;
  const columns = parents.flatMap(({ found }) => found?.columns ?? []);
  const used = new Set<ExportColumn | undefined>([...texts, ...columns, author, staff?.column]);
  return entryText(
    'comment/created',
    source,
    [
      ...(owner ? [{ key: 'each', value: table.list }] : []),
      ...present(guess, texts, parents),
      ...(!owner && parents.every(({ found }) => found) ? [{ key: 'if_both', value: 'deal' }] : []),
      ...timeLines(guess),
    ],
    [
      ...(roles.has('id') ? [idLine(guess)] : []),
      { key: 'content', value: content(texts), comment },
      ...(staff ? [staff.line('author_name')] : author ? [{ key: 'author_name', value: author.name }] : []),
      ...(owner ? [ownLine(owner)] : parentLines(parents)),
    ],
    { above: leftOut(guess, used) },
  );
}

/** The record that has the list of comments. */
function ownLine(owner: Guess): EntryLine {
  const id = owner.roles.get('id')?.column;
  const key = owner.kind === 'deals' ? 'deal_external_id' : 'lead_external_id';
  if (!id) return { key, value: '$.id', comment: 'set this: the record has no id' };
  return { key, value: prefixed(owner, `$.${id.name}`), comment: 'check: the record in which they are' };
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

/** Skips the records without a text or a parent, which the service would refuse. */
function present(guess: Guess, texts: readonly ExportColumn[], parents: readonly Parent[]): EntryLine[] {
  const { rows } = guess.table;
  const without = (what: string, columns: readonly ExportColumn[]): SkippedRecords[] => {
    if (columns.length === 0 || columns.some(({ filled }) => filled === rows)) return [];
    const some = numberText(rows - Math.max(...columns.map(({ filled }) => filled)));
    const why = `${columns.length > 1 ? 'up to ' : ''}${some} of ${numberText(rows)} records have no ${what}`;
    return [{ value: { from: onlyOf(columns.map(({ name }) => name)), present: true }, why }];
  };
  const found = parents.flatMap((parent) => parent.found ?? []);
  // Where parents are looked up, a column with a value may be without a record.
  const isLookedUp = found.length > 0 && found.every(({ isOptional }) => isOptional);
  const parentless = isLookedUp
    ? [
        {
          value: { from: onlyOf(found.map(({ value }) => value)), present: true },
          why: 'records whose lead or deal is in no export',
        },
      ]
    : without('lead or deal', [...new Set(found.flatMap(({ columns }) => columns))]);
  return whenLines([...without('text', texts), ...parentless, ...notDeleted(guess)]);
}

function onlyOf(values: readonly unknown[]): unknown {
  return values.length > 1 ? values : values[0];
}
