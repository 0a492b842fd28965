import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { messageOf } from '../../src/errors.ts';
import { QuickParser } from '../../src/source/csv-quick.ts';
import { RecordParser, type TakeRecord } from '../../src/source/csv-records.ts';

interface Parser {
  feed(chunk: Buffer): Promise<void>;
  finish(): Promise<void>;
}

/** Records with their lines, and the message of the error that ended the reading. */
async function read(text: string, cuts: readonly number[], create: (take: TakeRecord) => Parser): Promise<unknown[]> {
  const found: unknown[] = [];
  const parser = create((cells, line, afterBlank) => found.push({ cells, line, afterBlank }));
  const bytes = Buffer.from(text);
  const ends = [...new Set([...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b);
  try {
    let start = 0;
    for (const end of ends) {
      await parser.feed(Buffer.from(bytes.subarray(start, end)));
      start = end;
    }
    await parser.finish();
  } catch (error) {
    found.push(messageOf(error));
  }
  return found;
}

async function expectSame(text: string, cuts: readonly number[], delimiter: string): Promise<void> {
  const quick = await read(text, cuts, (take) => new QuickParser('a.csv', { delimiter }, 3, take));
  expect(quick).toEqual(await read(text, cuts, (take) => new RecordParser('a.csv', { delimiter }, 3, take)));
}

const piece = fc.constantFrom('a', 'b c', ' ', '"', '""', ',', ',,', ';', '||', '|', '\n', '\n\n', '\r\n', '\r', '"x"');
const wild = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''));
const end = fc.constantFrom('\n', '\r\n');
const plainCell = fc.constantFrom('', 'a', 'b c', ' d ', '12', 'é'.repeat(20));
const quotedCell = fc
  .array(fc.constantFrom('a', '""', ',', ';', '||', '\n', '\r\n', '\r', ' '), { maxLength: 6 })
  .map((pieces) => `"${pieces.join('')}"`);
const wellFormed = (delimiter: string): fc.Arbitrary<string> =>
  fc
    .array(fc.tuple(fc.array(fc.oneof(plainCell, quotedCell), { minLength: 1, maxLength: 4 }), end), { maxLength: 12 })
    .map((records) => records.map(([cells, last]) => cells.join(delimiter) + last).join(''));

describe('the fast parser agrees with csv-parse about cells, lines, blank lines and errors', () => {
  const cuts = fc.array(fc.nat(400), { maxLength: 3 });
  const ascii = (text: string): string => text.replaceAll('é', 'e');

  it.each([',', ';', '||', '\t'])('on well-formed tables with the delimiter %j', async (delimiter) => {
    await fc.assert(
      fc.asyncProperty(wellFormed(delimiter), cuts, (text, at) => expectSame(ascii(text), at, delimiter)),
      { numRuns: 500 },
    );
  });

  it.each([',', ';', '||'])('on arbitrary sequences of quotes, line breaks and the delimiter %j', async (delimiter) => {
    await fc.assert(
      fc.asyncProperty(wild, cuts, (text, at) => expectSame(text, at, delimiter)),
      { numRuns: 1500 },
    );
  });

  it('on malformed text that follows well-formed records', async () => {
    await fc.assert(
      fc.asyncProperty(wellFormed(','), wild, cuts, (text, trouble, at) => expectSame(ascii(text) + trouble, at, ',')),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['a record of just under 16 MiB', `1,"${'x\n'.repeat(8_380_000)}"\n2,y\n`],
    ['a record of more than 16 MiB', `1,"${'x\n'.repeat(8_400_000)}"\n2,y\n`],
    ['a long cell without quotes', `1,${'x'.repeat(17_000_000)}\n`],
    ['a file whose lines end with only CR', '1,a\r2,b\r'.repeat(100_000)],
  ])('on %s', async (_name, text) => {
    await expectSame(text, [100_000, 900_000], ',');
  });

  it('on multi-byte characters, in one chunk', async () => {
    await fc.assert(fc.asyncProperty(wellFormed(','), (text) => expectSame(text, [], ',')));
  });
});
