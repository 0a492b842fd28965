import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Redactor, Secret } from '../../src/redact.ts';

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

type Encoding = (text: string) => string;

const percentBytes: Encoding = (text) =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
const units = (text: string, write: (code: number) => string): string =>
  Array.from({ length: text.length }, (_, at) => write(text.charCodeAt(at))).join('');
const NAMED: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const ENCODINGS: Readonly<Record<string, Encoding>> = {
  'as it is': (text) => text,
  'percent-encoded': encodeURIComponent,
  'percent-encoded as a form': (text) => new URLSearchParams({ a: text }).toString().slice(2),
  'percent-encoded as a URL': encodeURI,
  'percent-encoded byte by byte': percentBytes,
  'percent-encoded in part': (text) => text.replace(/[/+]/g, percentBytes),
  'as JSON': (text) => JSON.stringify(text).slice(1, -1),
  'as JSON with escaped slashes': (text) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
  'as JSON by code units': (text) => units(text, (code) => `\\u${code.toString(16).padStart(4, '0')}`),
  'as HTML': (text) => text.replace(/[&<>"']/g, (character) => NAMED[character]!),
  'as HTML by numbers': (text) => [...text].map((character) => `&#${character.codePointAt(0)};`).join(''),
  'as HTML by hexadecimal numbers': (text) =>
    text.replace(/[^a-z]/gi, (it) => `&#x${it.codePointAt(0)!.toString(16)};`),
  'in Base64': base64,
  'in Base64 after other text': (text) => base64(`user:${text}`),
  'in Base64 for URLs': (text) => Buffer.from(text).toString('base64url'),
};

describe('a secret of any characters, encoded in any two ways', () => {
  const character = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...'abcXYZ019_-') },
    { weight: 3, arbitrary: fc.constantFrom(...'%/+=\\&"\'<>;:#u2F ') },
    { weight: 1, arbitrary: fc.constantFrom('Ä', 'é', '☃', '😀') },
  );
  const token = fc
    .string({ unit: character, minLength: 8, maxLength: 40 })
    .filter((text) => text.trim() === text && (text.match(/[a-z\d]/gi)?.length ?? 0) >= 6);
  // Another letter case is none: of Base64 it would be another text.
  const encoding = fc.constantFrom(...Object.keys(ENCODINGS));

  it('is replaced', () => {
    fc.assert(
      fc.property(token, encoding, encoding, (secret, first, second) => {
        const encoded = ENCODINGS[second]!(ENCODINGS[first]!(secret));
        const redacted = clean(`before ${encoded} after`, secret);
        expect(redacted).toMatch(/^before [\s\S]*\*\*\*[\s\S]* after$/);
        expect(redacted).not.toContain(encoded);
        // What is left around it is no part of it.
        expect(redacted.replaceAll('***', '').length).toBeLessThanOrEqual('before  after'.length + 8);
      }),
      { numRuns: 3_000 },
    );
  });

  it('is replaced in a body of JSON, whatever the body is parsed to', () => {
    fc.assert(
      fc.property(token, encoding, encoding, (secret, first, second) => {
        const encoded = ENCODINGS[second]!(ENCODINGS[first]!(secret));
        const redactor = new Redactor();
        redactor.add(new Secret(secret));
        const body = JSON.stringify({ error: { [encoded]: 1, message: `no ${encoded}` } }).replaceAll('/', '\\/');
        const { error } = JSON.parse(redactor.redactBody(body)) as { error: Record<string, string> };
        expect(error.message).toContain('***');
        for (const text of [...Object.keys(error), error.message!]) expect(text).not.toContain(encoded);
      }),
      { numRuns: 1_000 },
    );
  });
});

it('leaves a body without a secret as it was', () => {
  const redactor = new Redactor();
  redactor.add(new Secret(SECRET));
  for (const body of ['{"id": 9007199254740993, "a":"\\/x\\u00e9"}', '<p title="\\">&amp;</p>', '']) {
    expect(redactor.redactBody(body)).toBe(body);
  }
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
