import { expect, it } from 'vitest';
import { mapped } from './inline.ts';

const MAPPING =
  'sources: { people: { path: people.json, format: json } }\n' +
  'events: [{ type: lead/created, source: people, data: { external_id: id, email: mail } }]\n';

/** The address that is sent, or the code for which it is left out. */
async function sentOf(mail: string): Promise<unknown> {
  const [draft] = await mapped(MAPPING, { 'people.json': JSON.stringify([{ id: '1', mail }]) });
  return draft!.data.email ?? draft!.omissions.map(({ code }) => code);
}

it.each([
  'Ada Lovelace <ada@example.test>',
  '<ada@example.test>',
  '"Lovelace, Ada" <ada@example.test>',
  'ada@example.test,',
  'ada@example.test; ',
  ', ada@example.test',
  'ada@example.test.',
  'mailto:ada@example.test',
  'MAILTO:ada@example.test?subject=Hello',
  '<mailto:ada@example.test>',
  "'ada@example.test'",
  'ada@\u200bexample.test',
  '\ufeffada@example.test\u200e',
  'a\u00adda@example.test',
  '\u00a0ada@example.test\u00a0',
])('%j is read as the address in it', async (written) => {
  expect(await sentOf(written)).toBe('ada@example.test');
});

it.each(['ada+crm@example.test', "o'brien@example.test", 'ada@bücher.example', 'ada@localhost', 'ADA@Example.test'])(
  '%j is sent as it is',
  async (written) => {
    expect(await sentOf(written)).toBe(written);
  },
);

it.each([
  'ada@example.test, grace@example.test',
  'ada@example.test;grace@example.test',
  'Ada <ada@example.test> Grace <grace@example.test>',
  'ada@example.test <grace@example.test>',
  'ada lovelace@example.test',
  'ada@exam ple.test',
  'ada\u00a0@example.test',
  'ada@example..test',
  'ada@',
  '@example.test',
  'ada@example.test/x',
  'Ada <>',
  'https://example.test',
  'ada@@example.test',
])('%j is left out, since it is not certain which address is meant', async (written) => {
  expect(await sentOf(written)).toEqual(['invalid_email']);
});
