/** How the exports were mapped, and what of them was not. */
import type { EntryWords } from '../../mapping/words.ts';
import type { UnusedData } from '../stored-mapping.ts';
import { html, type Markup } from './markup.ts';
import { dataTable, externalText, number, prose, section } from './parts.ts';
import type { ReportData } from './report-data.ts';
import { coded, fieldName, typeName } from './words.ts';

/** Unused columns of a source that are listed. */
const MAX_COLUMNS = 200;

export function mapping({ mapping: stored }: ReportData): Markup | undefined {
  if (!stored) return undefined;
  return section('mapping', 'How the exports were mapped', html`${stored.entries.map(entry)}`);
}

function entry({ type, source, each, when, fields }: EntryWords): Markup {
  const records = each === undefined ? html`Every record` : html`Every element of ${prose(each)} of every record`;
  const table = dataTable(
    html`${records}${when === undefined ? undefined : html` in which ${prose(when)}`}`,
    [{ title: 'Field in the service' }, { title: 'From the export' }, { title: 'How' }],
    fields.map(({ field, from, how }) => [
      coded(fieldName(field), field),
      prose(from),
      how.length === 0 ? 'as it is' : prose(how.join('; ')),
    ]),
  );
  return html`<h3>${coded(html`${typeName(type)} from ${externalText(source)}`, type)}</h3>
    ${table}`;
}

/** Undefined if the mapping uses everything. */
export function notUsed({ mapping: stored }: ReportData): Markup | undefined {
  const sources = Object.entries(stored?.sources ?? {}).filter(([, { unused }]) => Object.keys(unused).length > 0);
  const files = stored?.unread_files ?? [];
  if (sources.length + files.length === 0) return undefined;
  return section(
    'not-used',
    'Columns and files that were not carried',
    sources.length === 0 ? undefined : html`<p>The mapping does not use these columns of the exports.</p>`,
    html`${sources.map(([name, data]) => unusedColumns(name, data))}`,
    files.length === 0
      ? undefined
      : html`<p>No source reads these files, which lie beside the exports: ${listed(files)}.</p>`,
  );
}

function unusedColumns(source: string, { records, unused }: UnusedData): Markup {
  const columns = Object.entries(unused).sort((a, b) => b[1] - a[1]);
  const filled = columns.filter(([, values]) => values > 0);
  const empty = columns.filter(([, values]) => values === 0).map(([column]) => column);
  const more = filled.length - MAX_COLUMNS;
  return html`${
    filled.length === 0
      ? undefined
      : dataTable(
          html`${externalText(source)}: ${number(records)}
          records${
            more > 0 ? html`; the ${MAX_COLUMNS} columns with the most values, and ${number(more)} more` : undefined
          }`,
          [{ title: 'Column' }, { title: 'Values', numeric: true }],
          filled.slice(0, MAX_COLUMNS).map(([column, values]) => [externalText(column), number(values)]),
        )
  }${empty.length === 0 ? undefined : html`<p class="soft">Without any value in ${source}: ${listed(empty)}.</p>`}`;
}

function listed(names: readonly string[]): Markup {
  const shown = names.slice(0, MAX_COLUMNS).map((name, index) => html`${index > 0 ? ', ' : ''}${externalText(name)}`);
  const more = names.length - shown.length;
  return html`${shown}${more > 0 ? ` and ${number(more)} more` : undefined}`;
}
