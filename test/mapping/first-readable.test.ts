import { expect, it } from 'vitest';
import { mapped } from './inline.ts';

/** The only draft of a record with two phone numbers and two e-mail addresses. */
async function draftOf(cells: string, data: string) {
  const mapping =
    'defaults: { region: IT }\nsources: { it: { path: it.csv } }\n' +
    `events: [{ type: lead/created, source: it, data: { external_id: Id, ${data} } }]\n`;
  const [draft] = await mapped(mapping, { 'it.csv': `Id,Phone,Mobile,Mail,Other\n1,${cells}\n` });
  return draft!;
}

const PHONES = 'phone_number: { from: [Phone, Mobile], apply: [phone] }';

it('of several phone numbers the first readable one is taken, and the unreadable one before it is listed as left out', async () => {
  const draft = await draftOf('ask Ada,333 123 4567,,', PHONES);
  expect(draft.data).toMatchObject({ phone_number: '+393331234567' });
  expect(draft.omissions).toMatchObject([{ field: 'phone_number', original: 'ask Ada', code: 'bad_phone' }]);
  expect(draft.issues).toEqual([]);
});

it('of several e-mail addresses the first that is one is taken', async () => {
  const draft = await draftOf(',,none,ada@example.test', 'email: { from: [Mail, Other], apply: [lowercase] }');
  expect(draft.data).toMatchObject({ email: 'ada@example.test' });
  expect(draft.omissions).toMatchObject([{ field: 'email', original: 'none', code: 'invalid_email' }]);
});

it('where none is readable, each is left out', async () => {
  const draft = await draftOf('ask Ada,12,,', PHONES);
  expect(draft.data).not.toHaveProperty('phone_number');
  expect(draft.omissions.map(({ original }) => original).sort()).toEqual(['12', 'ask Ada']);
});

it('a required one is an error only where none is readable', async () => {
  const required = PHONES.replace(' }', ', required: true }');
  expect(await draftOf('ask Ada,333 123 4567,,', required)).toMatchObject({
    data: { phone_number: '+393331234567' },
    issues: [],
  });
  const { issues } = await draftOf('ask Ada,12,,', required);
  expect(issues).toMatchObject([{ severity: 'error', code: 'bad_phone', field: 'phone_number' }]);
});

it('with `on_error: reject` the first that has a value decides', async () => {
  const strict = PHONES.replace(' }', ', on_error: reject }');
  const { data, issues } = await draftOf('ask Ada,333 123 4567,,', strict);
  expect(data).not.toHaveProperty('phone_number');
  expect(issues.map(({ code }) => code)).toContain('bad_phone');
});

it('a default takes the place of a value that fails the rule of its field', async () => {
  const draft = await draftOf(',,none,', 'email: { from: Mail, default: info@example.test }');
  expect(draft.data).toMatchObject({ email: 'info@example.test' });
});
