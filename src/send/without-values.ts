import { NumberText, type JsonObject, type JsonValue } from '../json.ts';

const QUOTED = /"[^"]*"|`[^`]*`|«[^»]*»|“[^”]*”|‘[^’]*’|(?<![\p{L}\p{N}])'[^']*'(?![\p{L}\p{N}])/gu;
const EMAIL = /[^\s<>(),;:]+@[^\s<>(),;:]+/gu;
/** Phone numbers, ids, dates: at least five digits, with separators among them. */
const DIGITS = /\+?\d(?:[\s()./-]?\d){4,}/gu;
/** Shorter words are too common in ordinary text. */
const WORD = /[\p{L}\p{N}]{3,}/gu;

/**
 * A message of the service as it may be logged: without quoted text and without words of the event, which the service may
 * repeat. `data`: of the event.
 */
export function withoutValues(message: string, data: JsonObject): string {
  const words = new Set<string>();
  for (const text of textsIn(data)) for (const [word] of text.matchAll(WORD)) words.add(word.toLowerCase());
  return message
    .replace(QUOTED, '…')
    .replace(EMAIL, '…')
    .replace(WORD, (word) => (words.has(word.toLowerCase()) ? '…' : word))
    .replace(DIGITS, '…');
}

function* textsIn(value: JsonValue | undefined): Generator<string, void, undefined> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'number') yield String(value);
  else if (value instanceof NumberText) yield value.text;
  else if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) yield* textsIn(inner);
}
