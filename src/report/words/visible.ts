/** Control and invisible format characters in texts from exports, mappings and the service. Pure. */

/**
 * What a terminal would interpret (escape sequences) and what reorders or hides text. Line feeds and tabs stay, and so do the
 * two joiners, which are part of words in several scripts.
 */
const INVISIBLE = /(?![\t\n\u200c\u200d]|\r\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The text with such characters shown by their code point: `[U+001B]`. */
export function visible(text: string): string {
  return text.replace(
    INVISIBLE,
    (character) => `[U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`,
  );
}

/** The text with its line breaks as `\\n` and `\\r`: a quoted value never breaks the line of a message. */
export function oneLine(text: string): string {
  return text.replaceAll('\n', '\\n').replaceAll('\r', '\\r');
}

/** The beginning of a text of more than `most` characters, with `…` for the rest. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const characters = [...text.slice(0, 2 * most + 1)];
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : text;
}

/** A JSON text with such characters escaped: the same value, in characters that a terminal shows. */
export function visibleJson(json: string): string {
  return json.replace(INVISIBLE, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

/** One line without characters that cannot be printed: control and format characters, and what is no valid UTF-8. */
export function printable(text: string): string {
  return text.replace(/[\s\p{C}\ufffd]+/gu, ' ').trim();
}
