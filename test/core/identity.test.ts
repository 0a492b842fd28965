// Lost without it: the id of an event could change between machines, and a record be sent twice.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contentSha, eventId, type EventIdentity } from '../../src/core/identity.ts';
import { canonicalJson, NumberText, type JsonObject } from '../../src/json.ts';

const data: JsonObject = { external_id: '00123', full_name: 'Ada', custom_params: { b: 1, a: 'x' } };
const event: EventIdentity = {
  migration: 'acme',
  type: 'lead/created',
  externalId: '00123',
  content: canonicalJson(data),
};

describe('the event id', () => {
  it('is a UUID version 5 that does not change between releases', () => {
    expect(eventId(event)).toBe('53c05f0e-ba33-5cc9-a60c-a62b9b492fcb');
  });

  it('does not depend on the order of keys', () => {
    const other = { custom_params: { a: 'x', b: 1 }, full_name: 'Ada', external_id: '00123' };
    expect(eventId({ ...event, content: canonicalJson(other) })).toBe(eventId(event));
  });

  it.each<[string, Partial<EventIdentity>]>([
    ['the migration', { migration: 'other' }],
    ['the type', { type: 'lead/updated' }],
    ['the external id', { externalId: '123' }],
    ['a value', { content: canonicalJson({ ...data, full_name: 'Ava' }) }],
  ])('changes with %s', (_name, change) => {
    expect(eventId({ ...event, ...change })).not.toBe(eventId(event));
  });
});

describe('canonical JSON', () => {
  it('parses back to any value', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        expect(JSON.parse(canonicalJson(value as JsonObject))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('is what JSON.stringify writes if the keys are in order', () => {
    const inOrder = (value: unknown): unknown => {
      if (typeof value !== 'object' || value === null) return value;
      if (Array.isArray(value)) return value.map(inOrder);
      const keys = Object.keys(value)
        .filter((key) => !/^\d+$/.test(key))
        .sort();
      return Object.fromEntries(keys.map((key) => [key, inOrder((value as Record<string, unknown>)[key])]));
    };
    const anything = fc.jsonValue({
      stringUnit: fc.oneof(
        fc.nat(0xffff).map((code) => String.fromCharCode(code)),
        fc.constantFrom('"', '\\', '\n', 'a', '🙂'),
      ),
    });
    fc.assert(
      fc.property(anything, (value) => {
        const sorted = inOrder(value) as JsonObject;
        expect(canonicalJson(sorted)).toBe(JSON.stringify(sorted));
      }),
      { numRuns: 1000 },
    );
  });

  it('is the same text for any order of the keys, and sorts them by UTF-16 code unit', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const entries = Object.entries(value as JsonObject);
        const text = canonicalJson(Object.fromEntries(entries.reverse()));
        expect(text).toBe(canonicalJson(value as JsonObject));
        const members = entries.sort(([a], [b]) => (a < b ? -1 : 1));
        expect(text).toBe(
          `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member!)}`).join(',')}}`,
        );
      }),
    );
  });

  it('keeps the digits of numbers and omits absent members', () => {
    expect(canonicalJson({ id: new NumberText('9007199254740993'), none: undefined, a: null })).toBe(
      '{"a":null,"id":9007199254740993}',
    );
  });
});

it('hashes type and content to 32 hexadecimal digits', () => {
  expect(contentSha('lead/created', event.content)).toMatch(/^[0-9a-f]{32}$/);
  expect(contentSha('lead/updated', event.content)).not.toBe(contentSha('lead/created', event.content));
});
