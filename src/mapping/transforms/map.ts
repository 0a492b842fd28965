import { nearest } from '../../problem.ts';
import { valueText } from '../values/result.ts';
import { record, textOrNull } from '../schema-parts.ts';
import { onText, transform } from './transform.ts';
import { enumerated } from '../../report/words/numbers.ts';
import { issueOf } from '../../report/words/words.ts';

/** The key that matches all other values, and the value that keeps the input. */
const ANY = '*';
const SAME = '=';

export const map = transform<Readonly<Record<string, string | null>>>({
  name: 'map',
  doc: 'Replaces values. `"*"` matches all other values (`"*": "="` keeps them); null means no value. Fails with `not_mapped` for a value that is not in the map.',
  words: mapWords,
  usage: ['{ map: { OLD: NEW, "*": OTHER } }'],
  examples: [
    { apply: '{ map: { customer: client, "*": "=" } }', from: 'customer', to: 'client' },
    { apply: '{ map: { customer: client, "*": "=" } }', from: 'lead', to: 'lead' },
    { apply: '{ map: { spam: null } }', from: 'spam', to: undefined },
  ],
  argument: () => record(textOrNull),
  compile: (argument) => {
    const table = new Map(Object.entries(argument!).filter(([key]) => key !== ANY));
    const other = Object.hasOwn(argument!, ANY) ? argument![ANY]! : undefined;
    return onText((input) => {
      const known = table.get(input);
      if (known !== undefined) return known ?? undefined;
      if (other === SAME) return input;
      if (other !== undefined) return other ?? undefined;
      const near = nearest(input, table.keys(), 2);
      const hint =
        near.length > 0 ? `similar keys: ${near.map(valueText).join(', ')}; add this value to the map` : undefined;
      return issueOf('not_mapped', valueText(input)).with({ hint });
    });
  },
});

function mapWords(argument: Readonly<Record<string, string | null>>): string {
  const becomes = (value: string | null): string => (value === null ? 'is left out' : `becomes ${valueText(value)}`);
  const { [ANY]: other, ...named } = argument;
  const pairs = Object.entries(named).map(([from, to]) => `${valueText(from)} ${becomes(to)}`);
  const rest = other === undefined ? 'is an error' : other === SAME ? 'stays' : becomes(other);
  return [...(pairs.length > 0 ? [enumerated(pairs, 'and')] : []), `any other value ${rest}`].join('; ');
}

/** In the languages of most exports. */
const YES = wordsOf('true yes y t 1 on ja j wahr oui vrai sí si verdadero sim verdadeiro sì vero waar да');
const NO = wordsOf('false no n f 0 off nein falsch non faux falso não nao nee onwaar нет');

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.split(' '));
}

export const boolean = transform({
  name: 'boolean',
  doc: 'Converts to true (true, yes, y, t, 1, on) or false (false, no, n, f, 0, off), ignoring case and in several languages. Fails with `bad_boolean` for anything else.',
  words: () => 'reads it as true or false',
  usage: ['boolean'],
  examples: [
    { apply: 'boolean', from: 'Yes', to: true },
    { apply: 'boolean', from: '0', to: false },
  ],
  compile: () =>
    onText((input) => {
      const word = input.toLowerCase();
      if (YES.has(word)) return true;
      if (NO.has(word)) return false;
      return issueOf('bad_boolean', valueText(input));
    }),
});
