import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseLine } from '../../src/checkpoint/load.ts';
import type { SentLine, SettledLine } from '../../src/checkpoint/lines.ts';
import { quickLine } from '../../src/checkpoint/quick.ts';
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

it('reads a line about an event as JSON.parse does, or leaves it to it', () => {
  fc.assert(
    fc.property(line, (written) => {
      const quick = quickLine(JSON.stringify(written), true);
      if (quick) expect(quick).toEqual(parseLine(JSON.stringify(written)));
    }),
    { numRuns: 1000 },
  );
});

it('takes no damaged line for a sound one', () => {
  const damage = fc.tuple(
    fc.nat(400),
    fc.nat(3),
    fc.constantFrom('', '"', '{', '}', ',', 'x', '\\', 'null', '\n', '"a":1'),
  );
  fc.assert(
    fc.property(line, damage, (written, [at, removed, added]) => {
      const whole = JSON.stringify(written);
      const place = at % (whole.length + 1);
      const damaged = whole.slice(0, place) + added + whole.slice(place + removed);
      const quick = quickLine(damaged, true);
      if (quick) expect(quick).toEqual(parseLine(damaged));
    }),
    { numRuns: 3000 },
  );
});

it('reads what this program writes about an ordinary event, without its fields where they are not asked for', () => {
  const written = {
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
  expect(quickLine(JSON.stringify(written), true)).toEqual(written);
  expect(quickLine(JSON.stringify(written), false)).toEqual({ ...written, fields: {} });
});
