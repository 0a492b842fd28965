import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ByteColumn, KeyTable, keyWords, keyWordsIn, Uint32Column, type KeyWords } from '../src/keys.ts';

it('numbers keys in the order in which they are first seen, like a Map would', () => {
  const piece = fc.constantFrom('', '0', '1', '\0', 'ÿ', 'Ā', '٣', 'id-', '0000', 'abcdefghijklmno');
  const alike = fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string(), alike), { maxLength: 300 }), (texts) => {
      const table = new KeyTable();
      const map = new Map<string, number>();
      for (const text of texts) {
        expect(table.find(keyWords(text))).toBe(map.get(text) ?? -1);
        if (!map.has(text)) map.set(text, map.size);
        expect(table.intern(keyWords(text))).toBe(map.get(text));
      }
      expect(table.size).toBe(map.size);
    }),
  );
});

it('takes the same key from bytes as from a text, or leaves it', () => {
  const ascii = fc.string({ unit: 'binary-ascii', maxLength: 20 });
  fc.assert(
    fc.property(ascii, ascii, ascii, (before, text, after) => {
      const bytes = Buffer.from(before + text + after);
      const words: [number, number, number, number] = [1, 2, 3, 4];
      const isTaken = keyWordsIn(bytes, before.length, before.length + text.length, 0x6c, words);
      expect(isTaken).toBe(text.length < 15);
      if (isTaken) expect<KeyWords>(words).toEqual(keyWords(`l${text}`));
    }),
  );
});

it('finds every one of many thousand keys again, and no other', () => {
  const table = new KeyTable();
  for (const name of ['key ', '', 'a long key that is hashed ']) {
    const first = table.size;
    for (let index = 0; index < 50_000; index += 1) {
      expect(table.intern(keyWords(`${name}${index}`))).toBe(first + index);
    }
    for (let index = 0; index < 50_000; index += 997) {
      expect(table.find(keyWords(`${name}${index}`))).toBe(first + index);
    }
    expect(table.find(keyWords(`${name}50000`))).toBe(-1);
  }
});

it('keeps keys apart that differ in their last word only', () => {
  const table = new KeyTable();
  expect(table.intern([1, 2, 3, 4])).toBe(0);
  expect(table.intern([1, 2, 3, 5])).toBe(1);
  expect(table.find([1, 2, 3, 4])).toBe(0);
});

it.each([
  ['bytes', () => new ByteColumn(), 255],
  ['words', () => new Uint32Column(), 0xffffffff],
])('grows columns of %s and reads 0 where nothing was set', (_name, create, largest) => {
  const column = create();
  column.set(100_000, largest);
  expect(column.get(100_000)).toBe(largest);
  expect(column.get(99_999)).toBe(0);
  expect(column.get(1_000_000)).toBe(0);
});
