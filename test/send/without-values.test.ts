import { expect, it } from 'vitest';
import { withoutValues } from '../../src/send/without-values.ts';

const data = { external_id: 'L-7', full_name: 'Mario Rossi', phone_number: '+393331234567', amount: 12550.5 };

it.each([
  ['a quoted value', 'invalid value "Anna B." for email', 'invalid value … for email'],
  ['a value in backticks', 'field `x y` unknown', 'field … unknown'],
  ['a value of the event', 'Rossi, MARIO cannot be stored', '…, … cannot be stored'],
  ['an e-mail address', 'duplicate of anna@example.com in lead', 'duplicate of … in lead'],
  ['a phone number in another form', 'number 333 123-4567 is taken', 'number … is taken'],
  [
    'nothing',
    "can't store the record: the account's quota is used up",
    "can't store the record: the account's quota is used up",
  ],
])('cuts %s', (_name, message, clean) => {
  expect(withoutValues(message, data)).toBe(clean);
});

it('cuts a word of a long comment', () => {
  const content = Array.from({ length: 200_000 }, (_, n) => `word${n}`).join(' ');
  expect(withoutValues('refused: word199999 and wordless', { content })).toBe('refused: … and wordless');
});
