/** Damage of texts that each of them shows by itself: seen in what is about to be sent, when the mapping has done its work. Pure. */
import { isObject, tryParseJson, type JsonObject, type JsonValue } from '../../json.ts';

type TextDamage = 'wrong_encoding' | 'html_entities';

/** Most texts have none of these characters. */
const SUSPECT = /[ÃÂâÐÑ&]|\?\?\?/;
/** UTF-8 that was read as Windows-1252 or Latin-1 (`JosÃ©`, `â€™`, `Ð˜Ð²Ð°Ð½`); a text of which only question marks are left. */
const MISREAD =
  /[ÃÂÐÑ][\u0080-\u00bf\u0152-\u0178\u02c6\u02dc\u2013-\u203a\u20ac\u2122]|â[\u0080\u0082\u20ac\u201a]|^[\s?.,'-]*\?{3}[\s?.,'-]*$/;
const ENTITY =
  /&(?:amp|lt|gt|quot|apos|nbsp|[aeiouyAEIOUY](?:acute|grave|circ|uml|tilde)|ntilde|ccedil|szlig|euro|#\d{2,6}|#x[\da-f]{2,5});/i;

/** Whether a text, or the JSON of several, may be damaged at all. */
export function isSuspect(text: string): boolean {
  return SUSPECT.test(text);
}

export function textDamage(text: string): TextDamage | undefined {
  if (!isSuspect(text)) return undefined;
  if (MISREAD.test(text)) return 'wrong_encoding';
  return ENTITY.test(text) ? 'html_entities' : undefined;
}

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
  [
    'html',
    (text) =>
      /<(?:p|br|div|span|b|i|u|ul|ol|li|a|table|tr|td|h[1-6]|strong|em|font|body|html|blockquote)\b[^<>]*>/i.test(text),
  ],
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
export const CUT_LENGTHS: ReadonlySet<number> = new Set([255, 4_000, 32_767, 65_535]);

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
