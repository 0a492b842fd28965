// Lost without it: a deal that a person moved could be moved back.
import { parse } from 'csv-parse/sync';
import { expect, it } from 'vitest';
import { mapping, project } from '../e2e/harness.ts';
import { send } from '../sandbox/client.ts';

const DEALS = 'id,title,person\nd,Site,A 1\n';

/** After the run of the first export. `existing`: leads that were in the service before, and whose ids it does not say. */
async function migrated(existing: readonly string[] = []) {
  const { service, summary, write, stored } = await project({
    'mapping.yaml': mapping({
      people:
        'type: lead/created, if_contact_exists: ignore, if_exists: skip, data: { external_id: id, full_name: name }',
      deals:
        'type: deal/created, if_changed: update, data: { external_id: id, title: title, lead_external_id: person }',
    }),
    'people.csv': 'id,name\nA 1,Ada\nA  1,Other Ada\na 1,Another Ada\nb,Bob\n',
  });
  for (const id of existing) await send(service, 'lead/created', { external_id: id });
  const run = async (deals: string) => {
    await write({ 'deals.csv': deals });
    return summary();
  };
  await run(DEALS);
  return {
    run,
    service,
    moveTo: (lead: string) => send(service, 'deal/updated', { external_id: 'd', lead_external_id: lead }),
    /** What changes.csv says about the lead of the deal. */
    verdict: async () => {
      const rows: Record<string, string>[] = parse(await stored('changes.csv'), { columns: true });
      return rows.find(({ field }) => field === 'lead_external_id')?.verdict;
    },
    lead: () => {
      const id = service.state().deals[0]!.primaryContactId;
      return service.state().leads.find((lead) => lead.id === id)?.externalId;
    },
  };
}

const moved = (person: string): string => DEALS.replace('A 1', person).replace('Site', 'Shop');

it('is unchanged if the service shows the lead that was sent', async () => {
  const { run, verdict, lead } = await migrated();
  await run(moved('A 1'));
  expect(await verdict()).toBeUndefined();
  expect(lead()).toBe('A 1');
});

it.each(['b', 'A  1', 'a 1'])('is kept if somebody moved the deal to the lead %j', async (other) => {
  const { run, moveTo, verdict, lead } = await migrated();
  await moveTo(other);
  await run(moved('A 1'));
  expect(await verdict()).toBe('edited');
  expect(lead()).toBe(other);
});

it.each(['b', 'A  1', 'a 1'])('is changed if only the export has moved the deal to the lead %j', async (other) => {
  const { run, verdict, lead } = await migrated();
  await run(moved(other));
  expect(await verdict()).toBe('changed');
  expect(lead()).toBe(other);
});

it('is a conflict if both have moved the deal, also to a lead that is not of this migration', async () => {
  const { run, service, moveTo, verdict, lead } = await migrated();
  await send(service, 'lead/created', { external_id: 'theirs' });
  await moveTo('theirs');
  await run(moved('b'));
  expect(await verdict()).toBe('conflict, kept');
  expect(lead()).toBe('theirs');
});

it('is not compared if the service may show a lead whose id it has never said', async () => {
  const { run, moveTo, verdict, lead } = await migrated(['A 1']);
  await run(moved('A 1'));
  expect(await verdict()).toBeUndefined();
  const summary = await run(moved('b').replace('Shop', 'Yard'));
  expect(await verdict()).toBe('not_shown');
  expect(summary.changes?.not_compared).toContain('lead_external_id');
  expect(lead()).toBe('b');
  // Also where both have moved it to that lead.
  await moveTo('A 1');
  await run(moved('A 1').replace('Shop', 'Garden'));
  expect(await verdict()).toBe('not_shown');
});
