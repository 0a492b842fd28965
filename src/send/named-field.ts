import { isObject, type JsonObject } from '../json.ts';
import { CUSTOM_FIELDS } from '../kinds/index.ts';

/**
 * The field of an event that a message of the service names; messages of the webhook may name the wrong field (service interface, section
 * 7.3). It is the first field whose name is a word of the message. A custom field must be in quotes or follow the name of all custom
 * fields, because its name may be any word. Undefined if there is none.
 */
export function namedField(message: string, data: JsonObject): string | undefined {
  const found = Object.entries(data)
    .flatMap(([name, value]) => [
      { text: name, field: name },
      ...(CUSTOM_FIELDS.includes(name) && isObject(value) ? Object.keys(value).flatMap((key) => forms(name, key)) : []),
    ])
    .map(({ text, field }) => ({ field, length: text.length, at: placeOf(text, message) }))
    .filter(({ at }) => at >= 0);
  return found.sort((one, other) => one.at - other.at || other.length - one.length)[0]?.field;
}

function forms(name: string, key: string): { readonly text: string; readonly field: string }[] {
  const field = `${name}.${key}`;
  return [field, `"${key}"`, `'${key}'`, `\`${key}\``].map((text) => ({ text, field }));
}

/** The index of a text in another as a word of its own; -1 if there is none. */
function placeOf(word: string, text: string): number {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const around = `${text[at - 1] ?? ''}${text[at + word.length] ?? ''}`;
    if (!/[\p{L}\p{N}_]/u.test(around)) return at;
  }
  return -1;
}
