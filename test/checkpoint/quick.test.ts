import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LineForms } from '../../src/checkpoint/forms.ts';
import type { SentLine, SettledLine } from '../../src/checkpoint/lines.ts';
import { QuickLine } from '../../src/checkpoint/quick.ts';
import { linesOf, parseLine } from '../../src/checkpoint/read.ts';
import { EVENT_TYPES } from '../../src/model.ts';

const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('"', '\\', 'a"b', '\u2028', ''));
const orNull = fc.option(text, { nil: null });
const type = fc.constantFrom(...EVENT_TYPES);

const settled: fc.Arbitrary<SettledLine> = fc.record({
  id: text,
  type,
  external_id: orNull,
  status: fc.constantFrom('acknowledged', 'rejected'),
  outcome: fc.constantFrom('created', 'updated', 'none', null),
  entity_id: orNull,
  code: orNull,
  content_sha: text,
  fields: fc.dictionary(text, text),
  at: text,
});
const sent: fc.Arbitrary<SentLine> = fc.record({
  kind: fc.constant('sent'),
  id: text,
  type,
  external_id: orNull,
  content_sha: text,
});
const line = fc.oneof(settled, sent);

const KEYS = {
  sent: ['kind', 'id', 'type', 'external_id', 'content_sha'],
  settled: [...['id', 'type', 'external_id', 'status', 'outcome', 'entity_id', 'code', 'content_sha', 'fields', 'at']],
} as const;

/** The line as an object of its own, or undefined where it is left to JSON.parse. */
function quick(text: string, forms: LineForms): unknown {
  // Other lines before and after it, as in a file.
  const bytes = Buffer.from(`{}\n${text}\n{"id":"x"}\n`);
  const reader = new QuickLine(bytes, forms);
  const read = reader.read(3);
  if (!read) return undefined;
  expect(reader.end).toBe(3 + Buffer.byteLength(text) + 1);
  return copied(read);
}

function formsOf(...lines: readonly (SentLine | SettledLine)[]): LineForms {
  const forms = new LineForms();
  for (const each of lines) forms.learn(each);
  return forms;
}

function copied(read: SentLine | SettledLine): unknown {
  const keys = read.kind === 'sent' ? KEYS.sent : KEYS.settled;
  return Object.fromEntries(keys.map((key) => [key, read[key as keyof typeof read]]));
}

it('reads a line like one that it knows as JSON.parse does, or leaves it to it', () => {
  fc.assert(
    fc.property(line, fc.array(line), (written, others) => {
      const text = JSON.stringify(written);
      const read = quick(text, formsOf(...others, written, ...others));
      if (read) expect(read).toEqual(parseLine(text));
      // Only what is escaped, or takes more than a byte, may be left.
      else expect(text).toMatch(/[^ -[\]-~]/);
      const unknown = quick(text, formsOf(...others));
      if (unknown) expect(unknown).toEqual(parseLine(text));
    }),
    { numRuns: 1000 },
  );
});

it('takes no damaged line for a sound one', () => {
  const damage = fc.tuple(
    fc.nat(400),
    fc.nat(3),
    fc.constantFrom('', '"', '{', '}', ',', 'x', '\\', 'null', '\0', '\t', '"a":1'),
  );
  fc.assert(
    fc.property(line, damage, (written, [at, removed, added]) => {
      const whole = JSON.stringify(written);
      const place = at % (whole.length + 1);
      // As a file would give it: a character cut in two is U+FFFD.
      const damaged = (whole.slice(0, place) + added + whole.slice(place + removed)).toWellFormed();
      const read = quick(damaged, formsOf(written));
      if (read) expect(read).toEqual(parseLine(damaged));
    }),
    { numRuns: 3000 },
  );
});

const ORDINARY: SettledLine = {
  id: '53c05f0e-ba33-5cc9-a60c-a62b9b492fcb',
  type: 'lead/created',
  external_id: '00123',
  status: 'acknowledged',
  outcome: 'created',
  entity_id: '8f2f6c1e-5b0a-4c0f-9a3e-7d41c6b25e90',
  code: null,
  content_sha: '8d2f6c1e5b0a4c0f9a3e7d41c6b25e90',
  fields: { full_name: 'ab12cd34', 'custom_params.origin': '00000000' },
  at: '2026-01-01T00:00:00.000Z',
};
const { id, external_id, content_sha } = ORDINARY;
const ANNOUNCED: SentLine = { kind: 'sent', id, type: 'lead/created', external_id, content_sha };

it('takes every byte of an ordinary line for what JSON.parse takes it', () => {
  const bytes = ['', 'é', ...'\0\t\n\x1f !"#/09:?@AP[\\]_`afg{}~\x7f'];
  for (const written of [ORDINARY, ANNOUNCED, { ...ORDINARY, fields: {}, external_id: null, code: 'deduplicated' }]) {
    const text = JSON.stringify(written);
    const forms = formsOf(written);
    expect(quick(text, forms)).toEqual(written);
    for (let at = 0; at < text.length; at += 1) {
      for (const byte of bytes) {
        const damaged = text.slice(0, at) + byte + text.slice(at + 1);
        const read = quick(damaged, forms);
        if (read) expect(read).toEqual(parseLine(damaged));
      }
    }
  }
});

it('knows a line by those before it, whatever its ids, hashes, time and choice of fields', () => {
  const change = (text: string): string => text.replace(/[0-9a-f]/g, (digit) => '0123456789abcdef'.at(~`0x${digit}`)!);
  const other: SettledLine = {
    ...ORDINARY,
    id: change(ORDINARY.id),
    external_id: 'an id of another length, für alle',
    entity_id: change(ORDINARY.entity_id!),
    content_sha: change(ORDINARY.content_sha),
    fields: { 'custom_params.origin': 'ffffffff' },
    at: '2027-12-31T23:59:59.999Z',
  };
  expect(quick(JSON.stringify(other), formsOf(ORDINARY))).toEqual(other);
  const about = { id: other.id, external_id: other.external_id, content_sha: other.content_sha };
  expect(quick(JSON.stringify({ ...ANNOUNCED, ...about }), formsOf(ANNOUNCED))).toEqual({ ...ANNOUNCED, ...about });
  expect(quick(JSON.stringify({ ...other, code: 'deduplicated' }), formsOf(ORDINARY))).toBeUndefined();
});

it('goes on where lines come in more forms than are kept', () => {
  const forms = new LineForms();
  for (let nth = 0; nth < 1200; nth += 1) {
    const written = { ...ORDINARY, fields: { [`custom_params.${nth}`]: '01234567', last: '01234567' } };
    const piece = Buffer.from(`${JSON.stringify(written)}\n`);
    expect([...linesOf(piece, forms)]).toEqual([written]);
    expect(copied(new QuickLine(piece, forms).read(0)!)).toEqual(written);
  }
});

it('gives all lines of a piece, whichever way each is read, and undefined for a damaged one', () => {
  const run = { kind: 'run', tool: 'x', mapping_sha256: '', inputs: [], at: ORDINARY.at };
  const escaped = { ...ORDINARY, external_id: 'a"b' };
  const texts = [run, ANNOUNCED, ORDINARY, escaped, ORDINARY].map((written) => JSON.stringify(written));
  const piece = Buffer.from([...texts.slice(0, 2), '{"id":"53c05f0e', '', ...texts.slice(2)].join('\n') + '\n');
  const read: unknown[] = [];
  for (const each of linesOf(piece, new LineForms()))
    read.push(each && each.kind !== 'header' && each.kind !== 'run' ? copied(each) : each);
  expect(read).toEqual([run, ANNOUNCED, undefined, undefined, ORDINARY, escaped, ORDINARY]);
});
