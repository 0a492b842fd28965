/** What the mapping reads and the exports do not have, and what a dry run assumes because nobody has decided it. */
import { entityOf, kindOf } from '../../kinds/index.ts';
import type { StoredMapping } from '../files/documents.ts';
import { enumerated } from '../words/numbers.ts';
import { column, LIMITS, sectionOf, type Cells, type Section } from './figures.ts';

/** Sources without a file first, then events of which there are none, then single values. */
export function notInExportSection({ not_in_export: { sources, entries, values, named } }: StoredMapping): Section {
  const code = (name: string): string => `\`${name}\``;
  const rows: Cells[] = [
    ...sources.map((source) => [source, 'no file']),
    ...entries.map(({ type, source, columns }) => {
      const what = kindOf(entityOf(type)).words[1];
      return [source, `no ${what}, for want of ${enumerated(columns.map(code), 'and')}`];
    }),
    ...values.map((each) => [each.source, code(each.column)]),
    ...named.map(({ source, name, header }) => [source, `${code(name)} is read from ${code(header)}`]),
  ];
  return sectionOf({
    id: 'not-in-export',
    title: 'Not in this export',
    columns: [column('label'), column('text')],
    rows,
    limit: LIMITS.lacking,
  });
}

export function assumedSection({ assumed }: StoredMapping): Section {
  return sectionOf({
    id: 'assumed',
    title: 'Set before a live run',
    columns: [column('label'), column('text', 'assumed now')],
    rows: assumed.map(({ place, text }) => [place, text.startsWith('#') ? `nothing: ${text}` : text]),
    limit: LIMITS.assumed,
  });
}
