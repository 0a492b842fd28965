// Lost without it: a table or objects with odd characters could be read changed.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { folderWith, openIn, readAll } from './reading.ts';

const RUNS = 60;
/** Any text without lone surrogates and NUL, often with characters that are special in CSV. None begins with an apostrophe: all of a column may. */
const cell = fc
  .oneof(
    fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\0', '')),
    fc.string({ unit: fc.constantFrom('"', ',', ';', '\t', '|', '\r', '\n', "'", ' ', 'a', 'é', '😀') }),
  )
  .map((text) => text.replace(/^'/, "a'"));
const delimiters = fc.constantFrom(',', ';', '\t', '|');
const ends = fc.constantFrom('\n', '\r\n', '\r');

/** A header of letters, an id in the first column, and arbitrary cells in the others. */
const table = fc.integer({ min: 2, max: 5 }).chain((width) =>
  fc
    .array(fc.array(cell, { minLength: width - 1, maxLength: width - 1 }), { minLength: 1, maxLength: 8 })
    .map((rows) => ({
      header: Array.from({ length: width }, (_, index) => `Column${'ABCDE'[index]}`),
      rows: rows.map((cells, index) => [String(index + 1), ...cells]),
    })),
);

function write(rows: readonly (readonly string[])[], delimiter: string, end: string, always: boolean): string {
  const special = new RegExp(`["\\r\\n${delimiter === '|' ? '\\|' : delimiter}]`);
  const quote = (text: string): string => (always || special.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return rows.map((cells) => cells.map(quote).join(delimiter) + end).join('');
}

function countLines(text: string): number {
  return text.match(/\r\n|\r|\n/g)?.length ?? 0;
}

test('any table is read back unchanged, with the line of every record', async () => {
  await fc.assert(
    fc.asyncProperty(
      table,
      delimiters,
      ends,
      fc.boolean(),
      fc.constantFrom('', '\ufeff'),
      async ({ header, rows }, delimiter, end, always, bom) => {
        const text = bom + write([header, ...rows], delimiter, end, always);
        const source = await openIn(folderWith({ 'a.csv': text }), 'a.csv', { delimiter });
        const items = await readAll(source);
        expect(source.columns).toEqual(header);
        expect(items.map(({ raw }) => raw)).toEqual(rows);
        expect(items.map(({ place }) => place.line)).toEqual(
          rows.map((_, index) => 1 + countLines(write([header, ...rows.slice(0, index)], delimiter, end, always))),
        );
      },
    ),
    { numRuns: RUNS },
  );
});

const records = fc.array(fc.dictionary(cell, fc.jsonValue({ maxDepth: 3 })), { maxLength: 8 });

test('any objects are read back unchanged from JSON, by their keys or in a list, and from NDJSON', async () => {
  await fc.assert(
    fc.asyncProperty(
      records,
      fc.integer({ min: 0, max: 3 }),
      fc.constantFrom('', 'a.b[0]'),
      async (values, indent, at) => {
        const list = JSON.stringify(values, null, indent);
        const folder = folderWith({
          'a.json': at === '' ? list : `{"x":[${list}],"a":{"y":{},"b":[${list}]}}`,
          'b.ndjson': values.map((value) => `${JSON.stringify(value)}\r\n`).join('') || '{}',
        });
        const json = await readAll(await openIn(folder, 'a.json', at === '' ? {} : { records: at }));
        const written = values.map((value) => JSON.stringify(value));
        expect(json.map(({ raw }) => JSON.stringify(raw, digits))).toEqual(written);
        const keyed = JSON.stringify(
          { a: Object.fromEntries(values.map((value, key) => [`k${key}`, value])) },
          null,
          indent,
        );
        const byKey = await readAll(await openIn(folderWith({ 'c.json': keyed }), 'c.json', { records: 'a' }));
        expect(byKey.map(({ raw }) => JSON.stringify(raw, digits))).toEqual(
          values.map((value, key) => JSON.stringify({ _key: `k${key}`, ...value })),
        );
        const lines = await readAll(await openIn(folder, 'b.ndjson'));
        expect(lines.map(({ raw }) => JSON.stringify(raw, digits))).toEqual(values.length > 0 ? written : ['{}']);
      },
    ),
    { numRuns: RUNS },
  );
});

/** Turns numbers that were kept as text back into numbers. */
function digits(_key: string, value: unknown): unknown {
  const text = (value as { text?: unknown } | null)?.text;
  return value?.constructor?.name === 'NumberText' ? Number(text) : value;
}
