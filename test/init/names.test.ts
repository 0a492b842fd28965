import { expect, it } from 'vitest';
import { keyOf } from '../../src/commands/init/evidence.ts';

it.each([
  ['Associated Deal IDs', 'associated_deal_ids'],
  ['dealIDs', 'deal_ids'],
  ['SKUsOfDeal', 'skus_of_deal'],
  ['URLs', 'urls'],
  ['Contact ID', 'contact_id'],
  ['ClosedLost-Reason', 'closed_lost_reason'],
  ['HTTPServer', 'http_server'],
])('the column `%s` becomes the custom field %s', (name, key) => {
  expect(keyOf(name)).toBe(key);
});
