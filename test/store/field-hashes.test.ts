// Lost without it: a value could be guessed from what a purge leaves.
import { hash } from 'node:crypto';
import { describe, expect, it, test } from 'vitest';
import { contentSha, eventId } from '../../src/core/identity.ts';
import { canonicalJson, NumberText, type JsonObject, type JsonValue } from '../../src/json.ts';
import { isAlike } from '../../src/core/known.ts';
import { FieldHasher } from '../../src/store/field-hashes.ts';
import { filesBelow, mapping, project } from '../e2e/harness.ts';

const data: JsonObject = { external_id: '1', full_name: 'Ada', custom_params: { b: 1, a: 'x' } };

it('hashes each field separately, custom fields by their key', () => {
  const hasher = FieldHasher.random();
  const hashes = hasher.hashesOf(data);
  expect(Object.keys(hashes).sort()).toEqual(['custom_params.a', 'custom_params.b', 'full_name']);
  expect(hasher.hashesOf({ ...data, full_name: 'Ava' })).toEqual({
    ...hashes,
    full_name: expect.not.stringMatching(hashes.full_name!) as unknown,
  });
});

describe('a hash is that of', () => {
  const cases: [name: string, sent: JsonValue, shown: JsonValue][] = [
    ['email', 'Ada@Example.com', 'ada@example.com'],
    ['phone_number', '+393331234567', '+39 333 123-4567'],
    ['amount', 1250.5, '1250.50'],
    ['amount', new NumberText('1250.50'), 1250.5],
    ['full_name', 'Zoe\u0301  Rossi ', 'Zoé Rossi'],
    ['currency', 'EUR', 'eur'],
    ['stage_id', '8D2F6C1E-5b0a-4c0f-9a3e-7d41c6b25e90', '8d2f6c1e-5b0a-4c0f-9a3e-7d41c6b25e90'],
    ['custom_params.size', 5, '5'],
  ];
  it.each(cases)('%s %s in the form %s', (name, sent, shown) => {
    const hasher = FieldHasher.random();
    const [field, key] = name.split('.');
    const stored = hasher.hashesOf({ [field!]: key === undefined ? sent : { [key]: sent } })[name];
    expect(isAlike(stored!, hasher.hashOf(name, shown))).toBe(true);
  });

  it.each([
    ['full_name', 'mario rossi', 'Mario Rossi'],
    ['phone_number', '+393331234567', '+393331234568'],
    ['amount', 1250.5, 1250.49],
    ['email', 'ada@example.com', 'eva@example.com'],
  ])('%s %s, but not %s', (name, sent, other) => {
    const hasher = FieldHasher.random();
    expect(isAlike(hasher.hashOf(name, sent), hasher.hashOf(name, other))).toBe(false);
  });

  it('also tells two forms of one value apart', () => {
    const hasher = FieldHasher.random();
    expect(hasher.hashOf('email', 'Ada@example.com')).not.toBe(hasher.hashOf('email', 'ada@example.com'));
    expect(hasher.hashOf('amount', 10.004)).not.toBe(hasher.hashOf('amount', 10.001));
  });
});

const PERSON = 'external_id: id, phone_number: { from: phone, apply: [phone] }';

test('after purge, nothing that stays tells a guess of the one unknown from others', async () => {
  const exported = (pin: string): string => `id,phone,pin\n1,+393331234567,${pin}\n`;
  const { service, run, command, state } = await project({
    'people.csv': exported('4711'),
    'notes.csv': 'id,text\nn1,PIN 4711\n',
    'mapping.yaml': mapping({
      people: `type: lead/created, data: { ${PERSON}, custom_params: { pin: pin } }`,
      notes:
        'type: comment/created, combine: { heading: "" }, data: { external_id: id, content: text, lead_external_id: { value: "1" } }',
    }),
  });
  // One request without an answer, so that its id is kept to be sent again.
  service.setFaults({ rules: [{ kind: 'drop', when: { event: { external_id: 'n1+' } } }] });
  await run('--max-outage', '1s');
  const contents = async (): Promise<string> => [...(await filesBelow(state())).values()].join('\n');
  const before = await contents();
  expect((await command('purge', '--yes')).code).toBe(0);
  const left = await contents();
  expect(left).toContain('purged 1');
  // All that somebody who knows the rest of the record could compute from a guess: hashes and ids as the program makes them.
  const marksOf = (pin: string): string[] => {
    const lead = canonicalJson({ external_id: '1', phone_number: '+393331234567', custom_params: { pin } });
    const note = canonicalJson({ external_id: 'n1+', content: `PIN ${pin}`, lead_external_id: '1' });
    return [
      contentSha('lead/created', lead),
      eventId({ migration: 'test', type: 'lead/created', externalId: '1', content: lead }),
      contentSha('comment/created', note),
      eventId({ migration: 'test', type: 'comment/created', externalId: 'n1+', content: note }),
      hash('sha256', exported(pin), 'hex').slice(0, 32),
      hash('sha256', `id,text\nn1,PIN ${pin}\n`, 'hex').slice(0, 32),
    ];
  };
  expect(marksOf('4711').map((mark) => before.includes(mark))).toEqual([true, true, true, true, true, true]);
  const guesses = Array.from({ length: 10_000 }, (_, guess) => String(guess).padStart(4, '0'));
  expect(guesses.filter((pin) => marksOf(pin).some((mark) => left.includes(mark)))).toEqual([]);
});
