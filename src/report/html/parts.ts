/** The building blocks that sections are made of. */
import { html, type Content, type Markup } from './markup.ts';

export interface ColumnHead {
  readonly title: string;
  readonly numeric?: boolean;
}

/** A table with a caption; the first cell of each row heads it. */
export function dataTable(
  caption: Content,
  heads: readonly ColumnHead[],
  rows: readonly (readonly Content[])[],
  total?: readonly Content[],
): Markup {
  const kind = (index: number): string => (heads[index]?.numeric ? 'number' : 'value');
  const line = (cells: readonly Content[]): Markup =>
    html`<tr>
      ${cells.map((cell, index) =>
        index === 0 ? html`<th scope="row">${cell}</th>` : html`<td class="${kind(index)}">${cell}</td>`,
      )}
    </tr> `;
  const headings = heads.map(
    ({ title, numeric }) => html`<th scope="col" ${numeric ? html` class="number"` : undefined}>${title}</th>`,
  );
  return html`<div
    class="wide"
    tabindex="0"
    role="region"
    aria-label="${caption instanceof Object ? 'Table' : caption}"
  >
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${headings}
        </tr>
      </thead>
      <tbody>
        ${rows.map(line)}
      </tbody>
      ${
        total
          ? html`<tfoot>
              ${line(total)}
            </tfoot>`
          : undefined
      }
    </table>
  </div>`;
}

export function section(id: string, title: string, ...content: readonly (Markup | undefined)[]): Markup {
  return html`<section id="${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title">${title}</h2>
    ${content.filter((part) => part !== undefined)}
  </section> `;
}

/** A sentence of this program: what stands in backticks is code. */
export function prose(text: string): Markup {
  return html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`;
}

export function number(value: number): string {
  return value.toLocaleString('en');
}

/** Local time with its zone; the machine-readable time stands beside it. */
export function time(iso: string | undefined): Markup {
  const date = new Date(iso ?? '');
  if (Number.isNaN(date.getTime())) return html`–`;
  const text = new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
  }).format(date);
  return html`<time datetime="${date.toISOString()}">${text}</time>`;
}

/** A text of an export, however long and in whatever direction it is written. */
export function foreign(text: string, most = 300): Markup {
  const characters = text.length > most ? [...text] : undefined;
  const shown = characters && characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : text;
  return html`<bdi>${shown}</bdi>`;
}

export function externalId(id: string): Markup {
  return id === '' ? html`–` : html`<span class="id">${foreign(id, 80)}</span>`;
}

/** `contacts.csv:17`; where lines mean nothing, the number of the record. */
export function place({ file, line, record }: { file: string; line: number; record?: number }): Markup {
  const name = file.slice(Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1);
  const at = line > 0 ? `:${line}` : record === undefined ? '' : ` record ${record}`;
  return html`<span class="place" title="${file}">${foreign(name, 60)}${at}</span>`;
}

export function countsOf(counts: ReadonlyMap<string, number>): string {
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 6)
    .map(([name, count]) => `${name} ${number(count)}`)
    .join(', ');
}
