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

/** Control and invisible format characters (including those that reverse text), shown by their code point instead. */
const INVISIBLE = /(?![\t\n\r\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

export function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/[&<>"']/g, (character) => ENTITIES[character]!)
    .replace(INVISIBLE, (character) => `[U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`);
}
