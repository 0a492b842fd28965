import { expect, it } from 'vitest';
import { mapped } from './inline.ts';

async function codes(id: string, lead: string, apply = ''): Promise<unknown[]> {
  const mapping =
    'sources: { it: { path: it.csv } }\n' +
    `events: [{ type: deal/created, source: it, data: { external_id: { from: Id, apply: [${apply}] }, lead_external_id: Lead } }]\n`;
  const [draft] = await mapped(mapping, { 'it.csv': `Id,Lead\n"${id}","${lead}"\n` });
  return draft!.issues.map(({ severity, code, field }) => [severity, code, field]);
}

it('an id in scientific notation is an error of its event, the record’s own and its parent’s', async () => {
  expect(await codes('3.93E+11', '7')).toEqual([['error', 'scientific_id', 'external_id']]);
  expect(await codes('1,5E+07', '7')).toEqual([['error', 'scientific_id', 'external_id']]);
  expect(await codes('3.93E+11', '7', '{ prefix: deal- }')).toEqual([['error', 'scientific_id', 'external_id']]);
  expect(await codes('1', '3.93E+11')).toEqual([['error', 'scientific_id', 'lead_external_id']]);
});

it.each(['3E11', 'ABC-1E5', 'X3.93E+11', '393000000000', 'E+11'])('%s is an id', async (id) => {
  expect(await codes(id, id)).toEqual([]);
});
