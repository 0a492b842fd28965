import { z } from 'zod';
import { nearest } from '../../problem.ts';
import { ValueError } from '../value-error.ts';
import { shown } from '../value-text.ts';
import { textOrNull } from '../schema-parts.ts';
import { onText, transform } from './transform.ts';

/** The key that takes whatever no other key takes, and the value that keeps what was read. */
const ANY = '*';
const SAME = '=';

export const map = transform<Readonly<Record<string, string | null>>>({
  name: 'map',
  doc: 'Replaces a value by the one beside it; `"*"` takes all others (`"*": "="` keeps them), null means no value. A value it lacks is the error `not_mapped`.',
  usage: ['{ map: { OLD: NEW, "*": OTHER } }'],
  examples: [
    { apply: '{ map: { customer: client, "*": "=" } }', from: 'customer', to: 'client' },
    { apply: '{ map: { customer: client, "*": "=" } }', from: 'lead', to: 'lead' },
    { apply: '{ map: { spam: null } }', from: 'spam', to: undefined },
  ],
  argument: () => z.record(z.string(), textOrNull),
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
        near.length > 0 ? `the map has ${near.map(shown).join(' and ')}; add this one` : 'add it to the map, or a "*"';
      return new ValueError('not_mapped', `${shown(input)} is not in the map`, hint);
    });
  },
});

const YES = new Set(['true', 'yes', 'y', 't', '1', 'on']);
const NO = new Set(['false', 'no', 'n', 'f', '0', 'off']);

export const boolean = transform({
  name: 'boolean',
  doc: 'true for true, yes, y, t, 1 and on; false for false, no, n, f, 0 and off; in any case. Anything else is the error `bad_boolean`.',
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
      return new ValueError(
        'bad_boolean',
        `${shown(input)} is neither yes nor no`,
        'turn other words into these with `map` before',
      );
    }),
});
