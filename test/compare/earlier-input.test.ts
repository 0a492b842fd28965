// Lost without it: half an export could be migrated as if it were whole.
import { expect, it } from 'vitest';
import { mapping, project, summaryOf, type Ended } from '../e2e/harness.ts';

const FIVE = 'id,name,city\n1,A,x\n2,B,x\n3,C,x\n4,D,x\n5,E,x\n';

async function afterFirst(): Promise<(people: string, ...options: string[]) => Promise<Ended>> {
  const people = 'type: lead/created, if_contact_exists: ignore, data: { external_id: id, full_name: name }';
  const { write, run: runIt } = await project({ 'mapping.yaml': mapping({ people }) });
  const run = async (exported: string, ...options: string[]): Promise<Ended> => {
    await write({ 'people.csv': exported });
    return runIt(...options);
  };
  expect((await run(FIVE)).code).toBe(0);
  return run;
}

it('with less than half of the records is refused without a terminal, unless --yes is given; a dry run warns', async () => {
  const run = await afterFirst();
  const two = FIVE.slice(0, FIVE.indexOf('3,'));
  const refused = await run(two);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('people has 2 records; the last run read 5');
  expect(refused.stderr).toContain('--yes');
  expect(summaryOf(await run(two, '--dry-run')).warnings_by_code).toMatchObject({ source_shrunk: 1 });
  expect((await run(two, '--yes')).code).toBe(0);
  // Two are what it has now.
  expect((await run(two)).code).toBe(0);
});
