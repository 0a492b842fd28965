/** Figures as HTML, and the building blocks of the page. */
import { grouped } from '../../decimal.ts';
import { isAmount, type Cell, type CellColumn, type Section as FigureSection } from '../figures/figures.ts';
import { html as template, raw } from 'hono/html';
import { placeText } from '../../model.ts';
import { numberText } from '../words/numbers.ts';
import { dateText } from '../words/times.ts';
import { shortened } from '../words/visible.ts';
import { capital, fieldWords } from '../words/terms.ts';

/** Safe HTML, made by `html` and `raw` alone. */
export type Markup = ReturnType<typeof raw>;
export type Content = Markup | readonly Markup[] | string | number | undefined;

/** Escapes every value that is not `Markup`. Typed without the promises that Hono would take as values too. */
export const html = template as (strings: TemplateStringsArray, ...values: readonly Content[]) => Markup;

/** Constant text of this program, as it is. */
export { raw };

/** Numbers are written out and right-aligned, and so is what is in `right`. */
export type TableCell = Content | { readonly right: Content };

/** A table with a caption; the first cell of each row is its heading. */
export function dataTable(
  caption: Content,
  heads: readonly string[],
  rows: readonly (readonly TableCell[])[],
  ...totals: readonly (readonly TableCell[])[]
): Markup {
  const line = (cells: readonly TableCell[]): Markup =>
    html`<tr>
      ${cells.map((cell, index) => {
        const content = typeof cell === 'number' ? numberText(cell) : isRight(cell) ? cell.right : (cell as Content);
        return index === 0
          ? html`<th scope="row">${content}</th>`
          : html`<td class="${isNumeric(cell) ? 'number' : 'value'}">${content}</td>`;
      })}
    </tr> `;
  const headings = heads.map(
    (head, index) =>
      html`<th scope="col" ${isNumeric(rows[0]?.[index]) ? html` class="number"` : undefined}>${head}</th>`,
  );
  return html`<div
    class="wide"
    tabindex="0"
    role="region"
    aria-label="${typeof caption === 'string' ? caption : 'Table'}"
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

function isNumeric(cell: TableCell): boolean {
  return typeof cell === 'number' || isRight(cell);
}

function isRight(cell: TableCell): cell is { readonly right: Content } {
  return typeof cell === 'object' && 'right' in cell;
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

/** A time with the name of its zone, and the machine-readable time in an attribute. */
export function time(iso: string | undefined, timezone: string): Markup {
  const date = new Date(iso ?? '');
  if (Number.isNaN(date.getTime())) return html`–`;
  const text = dateText(date, { timeZone: timezone, timeZoneName: 'short' });
  return html`<time datetime="${date.toISOString()}">${text}</time>`;
}

/** A text from an export or the service: shortened, and isolated for its writing direction. */
export function externalText(text: string, maxLength = 300): Markup {
  return html`<bdi>${shortened(text, maxLength)}</bdi>`;
}

export function externalId(id: string | null): Markup {
  return id === null ? html`–` : html`<span class="id">${externalText(id, 80)}</span>`;
}

/** `contacts.csv:17`, or the number of the record if there is no line number. */
export function place({ file, line, record }: { file: string; line: number; record: number }): Markup {
  const name = file.slice(Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1);
  const at = placeText({ file, line, record }).slice(file.length);
  return html`<span class="place" title="${file}">${externalText(name, 60)}${at}</span>`;
}

/** Words, with their code in small print. */
export function coded(words: Content, code: string): Markup {
  return html`${words} <code class="code">${externalText(code, 80)}</code>`;
}

/** A field or another key of an entry in words: `e-mail address`, `custom field “origin”`. */
export function fieldText(field: string): Markup {
  return customField(field) ?? externalText(fieldWords(field), 80);
}

/** The same with its name in small print. */
export function fieldName(field: string): Markup {
  const custom = customField(field);
  if (custom) return custom;
  const name = fieldWords(field);
  return name === field ? externalText(field, 80) : coded(name, field);
}

function customField(field: string): Markup | undefined {
  const [, custom] = /^custom_(?:params|fields)\.(.*)$/s.exec(field) ?? [];
  if (custom === '*') return html`other custom fields`;
  return custom === undefined ? undefined : html`custom field “${externalText(custom, 80)}”`;
}

/** A section of figures with all of its rows. Hints are for screens. */
export function figureSection({ id, title, columns, rows, totals, notes }: FigureSection): Markup {
  const shown = columns.flatMap(({ kind, head }, at) => (kind === 'hint' ? [] : [{ kind, head, at }]));
  const line = (cells: readonly Cell[]): TableCell[] =>
    shown.map(({ kind, at }) => figureCell(cells[at] ?? null, kind));
  const heads = shown.map(({ head }) => capital(head));
  const caption = html`<span class="unseen">${title}</span>`;
  return section(
    id,
    title,
    rows.length === 0 ? undefined : dataTable(caption, heads, rows.map(line), ...totals.map(line)),
    ...notes.map((note) => html`<p>${cellText(note)}</p>`),
  );
}

function figureCell(cell: Cell, kind: CellColumn['kind']): TableCell {
  if (cell === null) return '–';
  if (isAmount(cell)) return { right: `${cell.currency ?? ''} ${grouped(cell.amount)}` };
  if (typeof cell === 'number') return cell;
  if (kind === 'code') return html`<code class="code">${externalText(cell, 80)}</code>`;
  return kind === 'path' ? html`<span class="id">${externalText(cell, 80)}</span>` : cellText(cell);
}

/** Text in backticks, such as a name, is set apart. A backtick without a partner is text. */
function cellText(text: string): Markup {
  const parts = text.split('`');
  if (parts.length % 2 === 0) return externalText(text, 2_000);
  return html`${parts.map((part, at) => (at % 2 === 1 ? html`<code>${externalText(part, 120)}</code>` : externalText(part, 2_000)))}`;
}
