import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Redactor, Secret } from '../src/redact.ts';

const SECRET = 'Sk_live-Äé/+9z';

function clean(text: string, secret = SECRET): string {
  const redactor = new Redactor();
  redactor.add(new Secret(secret));
  return redactor.redact(text);
}

const upper = (text: string): string => text.replace(/%../g, (code) => code.toUpperCase());
const lower = (text: string): string => text.replace(/%../g, (code) => code.toLowerCase());
const allPercent = [...Buffer.from(SECRET)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('a secret is replaced', () => {
  it.each([
    ['as it is', SECRET],
    ['in another letter case', SECRET.toUpperCase()],
    ['percent-encoded', upper(encodeURIComponent(SECRET))],
    ['percent-encoded in lower case', lower(encodeURIComponent(SECRET))],
    ['percent-encoded as a whole', allPercent],
    ['percent-encoded in part', SECRET.replace('_', '%5f')],
    ['JSON-escaped', SECRET.replace('Ä', '\\u00c4').replace('é', '\\u00E9')],
    ['in Base64', base64(SECRET)],
    ['in URL-safe Base64', Buffer.from(SECRET).toString('base64url')],
  ])('%s', (_name, form) => {
    expect(clean(`before ${form} after`)).not.toContain(form);
    expect(clean(`before ${form} after`)).toMatch(/^before .{0,4}\*\*\*.{0,4} after$/);
  });

  it('in Base64 as part of a longer text, wherever it lies', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 12, unit: 'binary' }), fc.string({ maxLength: 12 }), (before, after) => {
        expect(clean(base64(`${before}${SECRET}${after}`))).toContain('***');
      }),
    );
  });
});

it('leaves other text as it is', () => {
  expect(clean('a live sk with 9z and QUJD')).toBe('a live sk with 9z and QUJD');
  expect(clean('a Test of the token', 'test')).toBe('a Test of the token');
  expect(clean('abc', 'abc')).toBe('abc');
});

it('replaces a secret of many thousand characters, whatever it consists of', () => {
  for (const unit of ['abcdefgh', '(((a+)+$', '%41\\u0041', 'İİİİ']) {
    const secret = unit.repeat(4000);
    expect(clean(`x ${secret} y ${base64(secret)}`, secret)).toMatch(/^x \*\*\* y .{0,4}\*\*\*.{0,4}$/);
  }
});

it('replaces every occurrence, one after the other too', () => {
  expect(clean('keykeykey key', 'key-')).toBe('keykeykey key');
  expect(clean('abcdabcd abcd', 'abcd')).toBe('****** ***');
});
