/** Damage of texts that each of them shows by itself: seen in what is about to be sent, when the mapping has done its work. Pure. */
import { isUtf8 } from 'node:buffer';
import { isObject, tryParseJson, type JsonObject, type JsonValue } from '../../json.ts';

type TextDamage = 'wrong_encoding' | 'html_entities' | 'html_entities/tags';

/** Most texts have none of these characters. */
const SUSPECT = /[\u0080-\u009f\u00c2-\u00f4&<]|\?\?\?/;
/** Control characters that are letters or quotes in Windows-1252; a text of which only question marks are left. */
const LOST = /[\u0080-\u009f]|^[\s?.,'-]*\?{3}[\s?.,'-]*$/;
/** The first byte of a character in UTF-8, and those that follow, as Windows-1252 or Latin-1 has them: `JosÃ©`, `â€™`, `Ð˜Ð²`, `ÅŸ`. */
const MISREAD = /[\u00c2-\u00f4][\u0080-\u00bf\u0152-\u0178\u0192\u02c6\u02dc\u2013-\u203a\u20ac\u2122]+/g;
/** The bytes from 0x80 on in Windows-1252. */
const WESTERN = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';
/** Signs that nobody writes: what `CAFÉ»` would be. */
const UNUSUAL = /[\u0180-\u0217\u021c-\u036f\u0500-\u058f\u0700-\u08ff\p{Cn}\p{Co}]/u;

/** Whether UTF-8 was read as Windows-1252 or Latin-1: read back, a piece of it is characters that people write. */
function isMisread(text: string): boolean {
  return [...text.matchAll(MISREAD)].some(({ 0: piece, index }) => {
    // A letter before a quotation mark or a dash, at the end of a word: `“Ä”`.
    if (/^.[‘’“”„…–—»]+$/.test(piece) && !/\p{L}/u.test(text[index + piece.length] ?? '')) return false;
    const bytes = [...piece].map((each) =>
      WESTERN.includes(each) ? 0x80 + WESTERN.indexOf(each) : each.charCodeAt(0),
    );
    const length = bytes[0]! >= 0xf0 ? 4 : bytes[0]! >= 0xe0 ? 3 : 2;
    const first = Buffer.from(bytes.slice(0, length));
    return isUtf8(first) && !UNUSUAL.test(first.toString('utf8'));
  });
}

const ENTITY =
  /&(?:amp|lt|gt|quot|apos|nbsp|[aeiouyAEIOUY](?:acute|grave|circ|uml|tilde)|ntilde|ccedil|szlig|euro|#\d{2,6}|#x[\da-f]{2,5});/i;

/** Whether a text, or the JSON of several, may be damaged at all. */
export function isSuspect(text: string): boolean {
  return SUSPECT.test(text);
}

export function textDamage(field: string, text: string): TextDamage | undefined {
  if (!isSuspect(text)) return undefined;
  if (LOST.test(text) || isMisread(text)) return 'wrong_encoding';
  if (ENTITY.test(text)) return 'html_entities';
  return field !== 'content' && TAG.test(text) ? 'html_entities/tags' : undefined;
}

const TAG = /<\/?(?:p|br|div|span|b|i|u|ul|ol|li|a|table|tr|td|h[1-6]|strong|em|font|body|html|blockquote)\b[^<>]*>/i;

type TextForm = 'rtf' | 'bbcode' | 'json' | 'quoted_printable' | 'line_breaks' | 'html';

/** Most comments have none of these characters. */
const MARKED = /[{[<\\=]/;
const FORMS: readonly (readonly [TextForm, (text: string) => boolean])[] = [
  ['rtf', (text) => /^\s*\{\\rtf/.test(text)],
  ['json', isJson],
  ['bbcode', (text) => /\[(b|i|u|s|url|quote|img|list|color|size|code)(?:=[^\]]*)?\][^]*?\[\/\1\]/i.test(text)],
  ['quoted_printable', (text) => /=[89A-F][\dA-F](?:=[89A-F][\dA-F])+|=0D=0A|=20\r?\n|[^\s=]=\r?\n\S/.test(text)],
  // A folder of Windows may be named `new`.
  ['line_breaks', (text) => /[^:\\]\\n/.test(text) && !/[A-Za-z]:\\|\\\\\w/.test(text)],
  ['html', (text) => TAG.test(text)],
];

/** The form of a text in which nobody can read it. */
export function textForm(text: string): TextForm | undefined {
  return MARKED.test(text) ? FORMS.find(([, isSo]) => isSo(text))?.[0] : undefined;
}

/** What editors keep: Quill, ProseMirror, BlockNote, Lexical. */
function isJson(text: string): boolean {
  return /^\s*(?:\{\s*"|\[\s*\{)[^]*[}\]]\s*$/.test(text) && tryParseJson(text) !== undefined;
}

/** Lengths at which databases and spreadsheets cut a text. */
export const SHORTEST_CUT = 255;
export const CUT_LENGTHS: ReadonlySet<number> = new Set([SHORTEST_CUT, 4_000, 32_767, 65_535]);

/** Whether an entity is left in a text because the record has it encoded once more: it was decoded already. */
export function isEncodedTwice(raw: string, text: string): boolean {
  const [entity] = ENTITY.exec(text) ?? [];
  return entity !== undefined && raw.trim() !== text && raw.includes(`&amp;${entity.slice(1)}`);
}

/** The texts of an event by their fields: `custom_params.origin`. */
export function* textsOf(data: JsonObject, within = ''): Generator<readonly [field: string, text: string]> {
  for (const [name, value] of Object.entries(data) as [string, JsonValue][]) {
    if (typeof value === 'string') yield [within + name, value];
    else if (within === '' && isObject(value)) yield* textsOf(value, `${name}.`);
  }
}
