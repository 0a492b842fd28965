import { describe, expect, it } from 'vitest';
import { mapped } from './inline.ts';

const IMPOSSIBLE = [
  '2023-02-30T10:00:00Z',
  '2023-02-29T10:00:00Z',
  '2023-13-01T10:00:00Z',
  '2023-02-01T25:00:00Z',
  '2023-02-01T10:60:00Z',
  '2023-02-01T10:00:00+99:99',
  '2023-02-01T10:00:00+14:01',
  '2023-02-01T10:00:00-12:30',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:00-01:00',
  '0001-01-01T00:00:00+01:00',
];

/** How a text can reach `occurred_at`, and what follows from it where the text is a time that exists. */
const WAYS: Readonly<Record<string, (text: string) => string>> = {
  'a column used as it is': () => 'At',
  'a `date` transform': () => '{ from: At, apply: [{ date: iso }] }',
  'a `date` transform with a format': () => `{ from: At, apply: [{ date: "yyyy-MM-dd'T'HH:mm:ssXXX" }] }`,
  'a constant': (text) => `{ value: "${text}" }`,
  'a function': () => '{ from: At, apply: [{ call: same }] }',
  'a template': () => '{ template: "{At}" }',
};

async function occurred(value: string, text: string) {
  const mapping =
    'functions: functions.mjs\nsources: { it: { path: it.csv } }\n' +
    `events: [{ type: lead/created, source: it, occurred_at: ${value}, data: { external_id: Id } }]\n`;
  const exports = { 'it.csv': `Id,At\n1,${text}\n`, 'functions.mjs': 'export const same = (text) => text;\n' };
  const [draft] = await mapped(mapping, exports);
  return draft!;
}

describe.each(Object.entries(WAYS))('an `occurred_at` from %s', (_way, value) => {
  it.each(IMPOSSIBLE)('that is no time, %s, is an error of its event', async (text) => {
    const { occurredAt, issues } = await occurred(value(text), text);
    expect(occurredAt).toBeUndefined();
    expect(issues).toMatchObject([{ severity: 'error', code: 'bad_date', field: 'occurred_at' }]);
  });

  it.each(['2024-02-29T23:59:59Z', '2023-02-01T10:00:00+14:00', '0001-01-01T00:00:00-12:00'])(
    'that exists, %s, is kept',
    async (text) => {
      const { occurredAt, issues } = await occurred(value(text), text);
      expect(issues).toEqual([]);
      expect(Date.parse(occurredAt!)).toBe(Date.parse(text));
    },
  );
});

it('keeps a fraction of any length as it is', async () => {
  const text = '2023-02-01T10:00:00.123456789012+14:00';
  expect(await occurred('At', text)).toMatchObject({ occurredAt: text, issues: [] });
});

it.each([
  ['2024-05-01T10:00Z', '2024-05-01T10:00:00Z'],
  ['2024-05-01T10:00-03:00', '2024-05-01T10:00:00-03:00'],
])('sends %s, which has no seconds, in full', async (text, occurredAt) => {
  expect(await occurred('At', text)).toMatchObject({ occurredAt, issues: [] });
});
