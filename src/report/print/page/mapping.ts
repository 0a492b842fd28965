/** How the exports were mapped, which parts were not, and what cannot be. */
import type { EntryWords } from '../../../mapping/words.ts';
import { numberText } from '../../words/numbers.ts';
import { NOT_MIGRATED, typeName } from '../../words/terms.ts';
import type { PageData } from '../page-data.ts';
import { dataTable, externalText, fieldText, html, prose, section, type Markup } from '../html.ts';

/** Unused columns and files that are listed. */
const MAX_COLUMNS = 200;

export function mapping({ mapping: stored }: PageData): Markup | undefined {
  if (!stored) return undefined;
  return section('mapping', 'How the exports were mapped', html`${stored.entries.map(entry)}`);
}

function entry({ type, source, each, when, fields }: EntryWords): Markup {
  const records = each === undefined ? html`Every record` : html`Every element of ${prose(each)} of every record`;
  return html`<h3>${typeName(type)} from ${externalText(source)}</h3>
    <div class="stack">
      ${dataTable(
        html`${records}${when === undefined ? undefined : html` in which ${prose(when)}`}`,
        ['From the export', 'Field in the service', 'How'],
        fields.map(({ field, from, how }) => [
          prose(from),
          fieldText(field),
          how.length === 0 ? 'as it is' : html`${how.map((step) => html`<div>${prose(step)}</div>`)}`,
        ]),
      )}
    </div>`;
}

/** Undefined if the mapping uses everything. */
export function notUsed({ mapping: stored }: PageData): Markup | undefined {
  const sources = Object.entries(stored?.sources ?? {});
  const files = stored?.unread_files ?? [];
  const columns = sources.flatMap(([source, { records, unused }]) =>
    Object.entries(unused).map(([column, values]) => ({ source, records, column, values })),
  );
  if (columns.length + files.length === 0) return undefined;
  const filled = columns.filter(({ values }) => values > 0).sort((a, b) => b.values - a.values);
  const empty = columns.filter(({ values }) => values === 0);
  return section(
    'not-used',
    'Columns and files that are not migrated',
    filled.length === 0
      ? undefined
      : dataTable(
          filled.length > MAX_COLUMNS
            ? `The ${MAX_COLUMNS} columns with the most values, of ${numberText(filled.length)} that the mapping does not use`
            : 'Columns that the mapping does not use',
          ['Column', 'Source', 'Values', 'Records'],
          filled
            .slice(0, MAX_COLUMNS)
            .map(({ column, source, values, records }) => [
              externalText(column),
              externalText(source),
              values,
              records,
            ]),
        ),
    empty.length === 0
      ? undefined
      : html`<p>
          Not used and without any value: ${listed(empty.map(({ source, column }) => `${column} (${source})`))}.
        </p>`,
    files.length === 0 ? undefined : html`<p>These files beside the exports were not read: ${listed(files)}.</p>`,
  );
}

export function notMigrated(): Markup {
  return section(
    'not-carried',
    'What cannot be migrated',
    dataTable(
      'Limits of importing into the new CRM, which apply to every migration',
      ['What', 'Why'],
      NOT_MIGRATED.map(([what, why]) => [what, why]),
    ),
  );
}

function listed(names: readonly string[]): Markup {
  const shown = names.slice(0, MAX_COLUMNS).map((name, index) => html`${index > 0 ? ', ' : ''}${externalText(name)}`);
  const more = names.length - shown.length;
  return html`${shown}${more > 0 ? ` and ${numberText(more)} more` : undefined}`;
}
