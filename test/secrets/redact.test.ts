// Lost without it: a secret could pass in another form.
import { expect, it } from 'vitest';
import { Redactor, Secret } from '../../src/redact.ts';

const SECRET = 'Sk_live-?a/+9z';

function clean(text: string, secret = SECRET): string {
  const redactor = new Redactor();
  redactor.add(new Secret(secret));
  return redactor.redact(text);
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

it.each([
  ['as it is', SECRET],
  ['percent-encoded', encodeURIComponent(SECRET)],
  ['percent-encoded in lower case', encodeURIComponent(SECRET).replace(/%../g, (escape) => escape.toLowerCase())],
  ['in JSON with escaped slashes', SECRET.replaceAll('/', '\\/')],
  ['in Base64', base64(SECRET)],
  ['in URL-safe Base64', Buffer.from(SECRET).toString('base64url')],
])('a secret is replaced %s', (_name, form) => {
  expect(clean(`before ${form} after`)).not.toContain(form);
  expect(clean(`before ${form} after`)).toMatch(/^before .{0,4}\*\*\*.{0,4} after$/);
});

it('other text is left as it is', () => {
  for (const text of ['a live sk with 9z and QUJD', '{"id": 9007199254740993, "a":"\\/x\\u00e9"}', ''])
    expect(clean(text)).toBe(text);
  expect(clean('abc', 'abc')).toBe('abc');
  expect(clean('keykeykey key', 'key-')).toBe('keykeykey key');
});

it('every occurrence is replaced, one after the other too, and a secret that is part of another', () => {
  expect(clean('abcdabcd abcd', 'abcd')).toBe('****** ***');
  const redactor = new Redactor();
  redactor.add(new Secret('token'), new Secret('https://h/token'));
  expect(redactor.redact('https://h/token, token')).toBe('***, ***');
});
