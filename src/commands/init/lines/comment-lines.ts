/** The lines that only comments have: text and author. */
import { columnsOf } from '../matrix/assign.ts';
import { SURE, type RoleCandidate } from '../matrix/settle.ts';
import type { ValueSpec } from '../../../mapping/spec.ts';
import { countOf, countWithout, fillOf, isComplete, valueIn, type Column } from '../columns.ts';
import { standIns, texts } from '../matrix/content.ts';
import { figuresOf, nextText, quoted } from '../evidence.ts';
import { isSure, referenceText } from '../relations/references.ts';
import { joined, lookupOf } from '../relations/lookups.ts';
import { headerScore, NAMES } from '../matrix/roles.ts';
import { namedLine, openLine, type Context, type Made } from './field-lines.ts';
import { reads, type Line } from './yaml.ts';

/** Why the text and the parent of a comment are always marked. */
export const FINAL = 'comments cannot be changed later';

export function contentLine(context: Context): Made {
  const { roles, table } = context.draft;
  const [content, subject] = [roles.get('content'), roles.get('subject')];
  // The step of a task is what it is called, with or without a text.
  const isNamed = subject !== undefined && (subject.score > SURE || table.only?.as === 'parts');
  // What all have, and some without a text.
  const isHeading = ({ column }: RoleCandidate): boolean =>
    fillOf(column) > 0.9 &&
    fillOf(content!.column) < 0.9 &&
    column.length < content!.column.length &&
    texts(column) > 0 &&
    headerScore('content', column, 'comment') > 0.5;
  const heading = isNamed ? subject : content?.others.find(isHeading);
  const found = [...(heading ? [heading] : []), ...(content ? [content] : [])];
  const columns = found.map(({ column }) => column);
  const near = content
    ? [...(subject && !found.includes(subject) ? [subject] : []), ...content.others.filter((each) => each !== heading)]
    : [];
  // What says how a deal ended is no text about it.
  const theirs = context.known.drafts.flatMap((each) =>
    each.table === table && each !== context.draft ? [...each.roles.values()].map(({ column }) => column) : [],
  );
  const instead = standIns(table).filter((each) => !columns.includes(each) && !theirs.includes(each));
  if (columns.length === 0) {
    const [first, ...more] = instead.slice(0, 3);
    if (!first) return openLine(context, 'content');
    for (const each of [first, ...more]) context.used.add(each);
    const comment = `check: no column has a text, so these are used instead: ${[first, ...more].map(quoted).join(', ')}`;
    return { value: joined([first, ...more], ' - '), comment };
  }
  const others = alternatives(columns, near);
  const outcome = instead.find((each) => isComplete(each) && each.meaning.concepts.has('outcome'));
  if (outcome && countWithout(table, [...columns, ...others]) > table.rows * 0.25) others.push(outcome);
  for (const each of [...columns, ...others]) context.used.add(each);
  const figures = [...columns, ...others]
    .map((column) => `${quoted(column)} ${figuresOf('content', column)}`)
    .join(', ');
  const next = (content ? near : subject!.others).filter(({ column }) => !others.includes(column));
  return { value: textValue(columns, others), comment: `check: ${figures}; ${FINAL}${nextText(next)}` };
}

/** Texts of records that have none of those before: of calls `body`, of mails `html`. */
function alternatives(columns: readonly Column[], candidates: readonly RoleCandidate[]): Column[] {
  const found: Column[] = [];
  for (const { column } of candidates) {
    const { table, sql, list, length } = column;
    const before = [...columns.filter((each) => each.length >= length / 4), ...found];
    const without = before.map((each) => `and ${each.sql} is null`).join(' ');
    const isText = list === undefined && headerScore('content', column, 'comment') > 0 && texts(column) > 0.15;
    const more = `from ${table.sql} where ${sql} is not null ${without}`;
    if (isText && countOf(table, more) > table.rows * 0.1) found.push(column);
  }
  return found;
}

/** The texts, and what stands for the last of them where it has none. */
function textValue(columns: readonly Column[], others: readonly Column[]): ValueSpec {
  const html = [...columns, ...others].some(({ is }) => is.html > 0.05) ? (['html_to_text'] as const) : [];
  if (others.length === 0) return joined(columns, '\n\n', html);
  const from = [columns.at(-1)!, ...others].map((each) => valueIn(each));
  if (columns.length === 1) return { from, ...(html.length > 0 && { apply: html }) };
  return { list: [valueIn(columns[0]!), { from }], apply: [{ join: '\n\n' }, ...html] };
}

/** The author; where no column looks like one, a person whom a record names beside its parent is proposed. */
export function authorLine(context: Context, parents: readonly Line[]): Made {
  const { draft, known } = context;
  const line = namedLine(context, 'author');
  if (draft.notes || draft.roles.has('author') || draft.candidates.get('author')?.length) return line;
  for (const reference of known.references) {
    const { from, to } = reference;
    const person = known.drafts.find(({ kind, key }) => kind === 'lead' && key?.column === to);
    const isParent = parents.some(({ off, value }) => off || reads(value, from));
    if (!person || isParent || from.table !== draft.table || from.list !== undefined || !isSure(reference, 0.8))
      continue;
    const name = columnsOf(person.roles, ...NAMES);
    const value = name.length > 0 ? lookupOf(reference, joined(name, ' ')) : from.name;
    return { value, off: true, comment: `set this: ${quoted(from)} may be the author: ${referenceText(reference)}` };
  }
  return line;
}
