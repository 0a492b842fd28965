/** Damage of texts that each of them shows by itself: seen in what is about to be sent, when the mapping has done its work. Pure. */
import { isObject, type JsonObject, type JsonValue } from '../../json.ts';

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
