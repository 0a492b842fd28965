import { textWith, type JsonValue } from '../../json.ts';
import { valueText, textOf } from '../values/result.ts';
import { checked, integer, text } from '../schema-parts.ts';
import { onText, transform } from './transform.ts';
import { issueOf } from '../../report/words/words.ts';

export const split = transform<string>({
  name: 'split',
  doc: 'Splits a text into a list at a separator and trims the elements.',
  words: (separator) => `splits the text at ${separatorWords(separator)}`,
  usage: ['{ split: TEXT }'],
  examples: [{ apply: '{ split: ";" }', from: '101; 102', to: ['101', '102'] }],
  argument: () =>
    checked(text, (separator) =>
      separator === '' ? 'the separator is empty\nuse the text between the elements' : undefined,
    ),
  shape: () => 'list',
  compile: (separator) => {
    const one = onText((input) => input.split(separator!).map((piece) => piece.trim() || null));
    return (input, row) => {
      const result = one(input, row);
      return Array.isArray(input) && Array.isArray(result) ? (result as readonly JsonValue[]).flat() : result;
    };
  },
});

function separatorWords(separator: string): string {
  if (separator.trim() !== '') return valueText(separator);
  return separator.includes('\n') ? 'a line break' : 'a space';
}

function elementWords(index: number): string {
  if (index === 0) return 'the first element';
  if (index === -1) return 'the last element';
  return index > 0 ? `element ${index + 1}` : `element ${-index} from the end`;
}

export const at = transform<number>({
  name: 'at',
  doc: 'Takes one element of a list: 0 is the first, -1 the last. No value if the list is shorter.',
  words: (index) => `takes ${elementWords(index)}`,
  usage: ['{ at: N }'],
  examples: [
    { apply: '{ at: 0 }', from: ['101', '102'], to: '101' },
    { apply: '{ at: -1 }', from: ['101', '102'], to: '102' },
  ],
  argument: () => integer,
  shape: (input) => (input === 'list' ? 'scalar' : 'unknown'),
  compile: (index) => (input) => {
    const list = Array.isArray(input) ? (input as readonly JsonValue[]) : [input];
    return list.at(index!) ?? undefined;
  },
});

export const join = transform<string>({
  name: 'join',
  doc: 'Joins a list into one text; elements without a value are skipped.',
  words: (separator) => `joined ${separator === '' ? 'without a separator' : `with ${separatorWords(separator)}`}`,
  usage: ['{ join: TEXT }'],
  examples: [{ apply: '{ join: " " }', from: ['Ada', 'Lovelace'], to: 'Ada Lovelace' }],
  argument: () => text,
  shape: () => 'scalar',
  compile: (separator) => (input) => {
    if (!Array.isArray(input)) return input;
    let joined: string | undefined;
    const given = input as readonly JsonValue[];
    const list = given.some(Array.isArray) ? flattened(given) : given;
    for (const element of list) {
      if (element === null) continue;
      const piece = textOf(element);
      if (piece === undefined) {
        return issueOf('not_text', valueText(element));
      }
      joined = joined === undefined ? piece : joined + separator! + piece;
    }
    return joined === undefined ? undefined : textWith(joined, list);
  },
});

function flattened(list: readonly JsonValue[]): readonly JsonValue[] {
  return list.flatMap((element) => (Array.isArray(element) ? flattened(element as readonly JsonValue[]) : [element]));
}
