import { visible } from '../../visible.ts';

/** Safe HTML. Created by `html` and `trusted` only. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Content = Markup | readonly Markup[] | string | number | undefined;

/**
 * A template tag that escapes every value that is not `Markup`, for text and for quoted attributes, so that no text
 * from an export or from the service can become a tag, a style or an attribute.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Content[]): Markup {
  let text = strings[0]!;
  values.forEach((value, index) => {
    text += asText(value) + strings[index + 1]!;
  });
  return new Markup(text);
}

/** Marks constant text of this program as HTML; used for the style sheet. */
export function trusted(text: string): Markup {
  return new Markup(text);
}

function asText(value: Content): string {
  if (value === undefined) return '';
  if (value instanceof Markup) return value.text;
  if (typeof value === 'object') return value.map(({ text }) => text).join('');
  return escaped(String(value));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escaped(text: string): string {
  return visible(text.toWellFormed().replace(/[&<>"']/g, (character) => ENTITIES[character]!));
}
