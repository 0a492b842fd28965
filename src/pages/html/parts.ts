/** Building blocks of the page. */
import { numberText } from '../../numbers.ts';
import { fieldWords } from '../../report/words.ts';
import { html, type Content, type Markup } from './markup.ts';

export interface ColumnHead {
  readonly title: string;
  readonly numeric?: boolean;
}

/** A table with a caption; the first cell of each row is its heading. */
export function dataTable(
  caption: Content,
  heads: readonly ColumnHead[],
  rows: readonly (readonly Content[])[],
  ...totals: readonly (readonly Content[])[]
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
        totals.length > 0
          ? html`<tfoot>
              ${totals.map(line)}
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

/** A text of this program; text in backticks becomes code. */
export function prose(text: string): Markup {
  return html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`;
}

export function number(value: number): string {
  return numberText(value);
}

/** A time with the name of its zone, and the machine-readable time in an attribute. `timezone`: undefined for that of this machine. */
export function time(iso: string | undefined, timezone: string | undefined, withSeconds = false): Markup {
  const date = new Date(iso ?? '');
  if (Number.isNaN(date.getTime())) return html`–`;
  const text = new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    ...(withSeconds && { second: '2-digit' }),
    timeZoneName: 'short',
    ...(timezone !== undefined && { timeZone: timezone }),
  }).format(date);
  return html`<time datetime="${date.toISOString()}">${text}</time>`;
}

/** A text from an export or the service: shortened, and isolated for its writing direction. */
export function externalText(text: string, maxLength = 300): Markup {
  const characters = text.length > maxLength ? [...text] : undefined;
  const shown = characters && characters.length > maxLength ? `${characters.slice(0, maxLength - 1).join('')}…` : text;
  return html`<bdi>${shown}</bdi>`;
}

export function externalId(id: string | null): Markup {
  return id === null ? html`–` : html`<span class="id">${externalText(id, 80)}</span>`;
}

/** `contacts.csv:17`, or the number of the record if there is no line number. */
export function place({ file, line, record }: { file: string; line: number; record?: number }): Markup {
  const name = file.slice(Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1);
  const at = line > 0 ? `:${line}` : record === undefined ? '' : ` record ${record}`;
  return html`<span class="place" title="${file}">${externalText(name, 60)}${at}</span>`;
}

/** Words, with their code in small print. */
export function coded(words: Content, code: string): Markup {
  return html`${words} <code class="code">${externalText(code, 80)}</code>`;
}

/** A field or another key of an entry: `e-mail address`, `custom field “origin”`. */
export function fieldName(field: string): Markup {
  const [, custom] = /^custom_(?:params|fields)\.(.*)$/s.exec(field) ?? [];
  if (custom === '*') return html`other custom fields`;
  if (custom !== undefined) return html`custom field “${externalText(custom, 80)}”`;
  const name = fieldWords(field);
  return name === field ? externalText(field, 80) : coded(name, field);
}
