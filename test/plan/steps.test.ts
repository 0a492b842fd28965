// Lost without it: a step of the plan could read what is set only after it.
import { expect, it } from 'vitest';
import { CHOOSING, JUDGING, READ, type PlanFact } from '../../src/plan/steps.ts';
import { EVENT, PLAN } from '../../src/store/plan-schema.ts';
import { Database } from '../../src/store/sqlite.ts';

const STEPS = [...JUDGING, ...CHOOSING];
/** Not set by a step: `id` and the like name an event, and the sender alone sets nothing else. */
const ALL = [...READ, ...STEPS.flatMap(({ sets }) => sets)];

it('a step needs nothing that is set only after it', () => {
  const known = new Set(READ);
  const early: string[] = [];
  for (const { name, needs, sets } of STEPS) {
    for (const fact of needs) if (!known.has(fact) && ALL.includes(fact)) early.push(`${name}: ${fact}`);
    for (const fact of sets) known.add(fact);
  }
  expect(early).toEqual([]);
});

it('facts are columns of an event, or tables, and each column is set by somebody', () => {
  const db = Database.inMemory(PLAN);
  const tables = db.all<{ name: string }>(`select name from plan.sqlite_schema where type = 'table'`);
  const facts = new Set<string>([...Object.keys(EVENT), ...tables.map(({ name }) => name)]);
  db.close();
  expect(ALL.filter((fact) => !facts.has(fact))).toEqual([]);
  expect(Object.keys(EVENT).filter((column) => !ALL.includes(column as PlanFact))).toEqual([]);
});
