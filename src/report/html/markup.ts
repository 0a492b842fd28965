/** HTML that is already safe. Only `html` makes it. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Content = Markup | readonly Markup[] | string | number | undefined;

/**
 * HTML from a template: every value that is not markup itself is escaped, for text and for quoted attributes alike, so
 * that nothing out of an export or an answer of the service can become a tag, a style or an attribute.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Content[]): Markup {
  let text = strings[0]!;
  values.forEach((value, index) => {
    text += asText(value) + strings[index + 1]!;
  });
  return new Markup(text);
}

/** Text of this program that is HTML as it stands: the style sheet. */
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

/** Controls and invisible format characters: those that turn text around are shown by their number instead. */
const INVISIBLE = /(?![\t\n\r\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

export function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/[&<>"']/g, (character) => ENTITIES[character]!)
    .replace(INVISIBLE, (character) => `[U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`);
}
