/** A second export whose file differs from the first: a column is missing, or half of the records are. */
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

it('is a mistake of the mapping if it lacks a mapped column', async () => {
  const run = await afterFirst();
  const ended = await run(FIVE.replace('name', 'title'));
  expect(ended.code).toBe(2);
  expect(ended.stderr).toContain('`name`');
});

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

it('with half of the records is not asked for', async () => {
  const run = await afterFirst();
  expect((await run(FIVE.slice(0, FIVE.indexOf('4,')))).code).toBe(0);
});
