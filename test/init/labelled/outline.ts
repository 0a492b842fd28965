/** A draft in a line for each field: what it reads, `?` for what is to be checked, `!` for what is to be set, `#` for what is left out. */
import type { EntryDraft, Field, MappingDraft } from '../../../src/init/decide/draft.ts';
import { readsOf } from '../../../src/init/lines/fates.ts';

const DOUBTS = { check: ' ?', set: ' !' } as const;

export function outline({ entries }: MappingDraft): string {
  return `${entries.map(entryLines).join('\n\n')}\n`;
}

function entryLines({ table, kind, doubt, fields }: EntryDraft): string {
  const name = `${table.source}${table.list === undefined ? '' : `#${table.list}`}: ${kind}${doubt ? DOUBTS[doubt.mark] : ''}`;
  const custom = fields.filter(({ place }) => place === 'custom').length;
  return [
    name,
    ...fields.filter(({ place }) => place !== 'custom').map(fieldLine),
    ...(custom > 0 ? [`  ${custom} custom fields`] : []),
  ].join('\n');
}

function fieldLine({ key, value, off, doubt }: Field): string {
  const reads = [...readsOf(value)].map(({ path, source }) => (source === undefined ? path : `${source}.${path}`));
  const plain =
    reads.length > 0 && typeof value === 'object' ? reads.join(' + ') : JSON.stringify(value).replaceAll('"', '');
  return `  ${off ? '# ' : ''}${key}: ${plain}${doubt ? DOUBTS[doubt] : ''}`;
}
