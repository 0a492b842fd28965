import { expect, test } from 'vitest';
import { policiesOf } from '../../src/mapping/policies.ts';
import { mapped } from './inline.ts';

test('a policy of `defaults` holds for entries that set none and have the choice', () => {
  const defaults = { if_changed: 'update', if_exists: 'update', if_parent_missing: 'omit', duplicates: 'last' };
  expect(policiesOf({ type: 'deal/created' }, defaults)).toMatchObject(defaults);
  expect(policiesOf({ type: 'deal/created', if_changed: ['amount'], duplicates: 'first' }, defaults)).toMatchObject({
    if_changed: ['amount'],
    duplicates: 'first',
    if_exists: 'update',
  });
  // A comment can neither be updated nor be sent without its parent.
  expect(policiesOf({ type: 'comment/created' }, defaults)).toMatchObject({
    if_changed: 'report',
    if_exists: 'reject',
    if_parent_missing: 'block',
    duplicates: 'last',
  });
});

test('decides about comments with two parents', async () => {
  const mapping =
    'defaults: { if_both: deal }\nsources: { it: { path: it.csv } }\n' +
    'events: [{ type: comment/created, source: it, data: { external_id: Id, content: Text, lead_external_id: Lead, deal_external_id: Deal } }]\n';
  const [draft] = await mapped(mapping, { 'it.csv': 'Id,Text,Lead,Deal\n1,Hi,7,8\n' });
  expect(draft).toMatchObject({ issues: [], data: { deal_external_id: '8' } });
});

test.each([
  ['if_changed: sometimes', 'must be one of `report`, `ignore`, `update`'],
  ['if_change: update', 'did you mean `if_changed`?'],
])('`defaults: { %s }` is a mistake of the mapping', async (line, message) => {
  const mapping = `defaults: { ${line} }\nsources: { it: { path: it.csv } }\nevents: [{ type: lead/created, source: it, data: { external_id: Id } }]\n`;
  const error: unknown = await mapped(mapping, { 'it.csv': 'Id\n1\n' }).catch((thrown: unknown) => thrown);
  expect(JSON.stringify(error)).toContain(message);
});
