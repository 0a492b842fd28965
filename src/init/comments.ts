/** Writes the entries of comments: notes, activities, calls, tasks. */
import { numberText } from '../numbers.ts';
import { head, idLine } from './entry-lines.ts';
import { entryText, type EntryLine } from './entry-text.ts';
import type { NamedGuess } from './guess.ts';
import type { ExportColumn } from './head.ts';
import { authorJoin } from './name-joins.ts';
import { parentLine, parentOf } from './parents.ts';
import { foldHeader } from './value-text.ts';

/** Undefined if no column has a text, or none refers to a lead or deal. */
export function commentText(guess: NamedGuess, all: readonly NamedGuess[]): string | undefined {
  const parents = (['deals', 'leads'] as const).map((kind) => parentOf(guess, kind, all));
  const [deal, lead] = parents;
  const texts = textColumns(guess);
  if (texts.length === 0 || parents.every(({ found, candidates }) => !found && candidates.length === 0))
    return undefined;
  const found = [...new Set(parents.flatMap((parent) => parent.found?.columns ?? []))];
  const author = guess.roles.get('author');
  const staff = authorJoin(guess, all, author);
  return entryText(
    'comment/created',
    guess.source,
    [
      ...present(guess, [
        { columns: texts, what: 'text' },
        { columns: found, what: 'lead or deal' },
      ]),
      ...(deal?.found && lead?.found ? [{ key: 'if_both', value: 'deal' }] : []),
      ...head(guess),
    ],
    [
      ...(guess.roles.has('id') ? [idLine(guess)] : []),
      { key: 'content', value: content(texts) },
      ...(staff ? [staff.line('author_name')] : author ? [{ key: 'author_name', value: author.name }] : []),
      ...(deal?.found || lead?.found ? [] : [{ key: 'lead_external_id', value: 'Lead ID', comment: NO_PARENT }]),
      ...parentLine('deal_external_id', deal!),
      ...parentLine('lead_external_id', lead!),
    ],
  );
}

const NO_PARENT = 'set this: no column contains the id of its lead or deal';

/** The subject and the text; what kind of activity it was, if some records have neither. */
function textColumns({ roles, export: { columns, rows } }: NamedGuess): ExportColumn[] {
  const texts = (['subject', 'content'] as const).flatMap((role) => roles.get(role) ?? []);
  if (texts.some(({ facts }) => facts.filled === rows)) return texts;
  const kind = columns.find(
    ({ name, facts }) =>
      facts.filled === rows && /(?:^| )(?:type|kind|typ|tipo|art|outcome|esito)$/.test(foldHeader(name)),
  );
  return kind && !texts.includes(kind) ? [kind, ...texts] : texts;
}

function content(texts: readonly ExportColumn[]): unknown {
  const html = texts.some(({ facts }) => facts.html) ? ['html_to_text'] : [];
  const [only] = texts;
  if (texts.length > 1) return { list: texts.map(({ name }) => name), apply: [{ join: '\n\n' }, ...html] };
  return html.length > 0 ? { from: only!.name, apply: html } : only!.name;
}

interface Needed {
  readonly columns: readonly ExportColumn[];
  readonly what: string;
}

/** Skips the records without a text or a parent, which the service would refuse. */
function present({ export: { rows } }: NamedGuess, needed: readonly Needed[]): EntryLine[] {
  const conditions = needed.flatMap(({ columns, what }) => {
    const names = columns.map(({ name }) => name);
    if (columns.length === 0 || columns.some(({ facts }) => facts.filled === rows)) return [];
    const some = rows - Math.max(...columns.map(({ facts }) => facts.filled));
    const count = columns.length > 1 ? `up to ${numberText(some)}` : numberText(some);
    return [
      {
        value: { from: names.length > 1 ? names : names[0], present: true },
        why: `${count} of ${numberText(rows)} records have no ${what}`,
      },
    ];
  });
  if (conditions.length === 0) return [];
  const comment = `check: ${conditions.map(({ why }) => why).join(', ')}; they are skipped`;
  const [only] = conditions;
  return [
    {
      key: 'when',
      value: conditions.length > 1 ? { all: conditions.map(({ value }) => value) } : only!.value,
      comment,
    },
  ];
}
