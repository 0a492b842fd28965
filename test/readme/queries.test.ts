// Lost without it: the queries of operations.md could not run.
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, it } from 'vitest';
import { workspace } from '../e2e/harness.ts';
import { StateOf } from '../state.ts';
import { readPage } from './sections.ts';

const SECTION = /^## Querying the state\n([^]*?)^## /m.exec(readPage('mappings/operations.md'))![1]!;

/** By the comment above each. */
const QUERIES = new Map(
  [.../```sql\n([^]*?)```/.exec(SECTION)![1]!.matchAll(/^-- (.*)\n([^]*?;)\n/gm)].map(([, what, sql]) => [what!, sql!]),
);

interface ViewRow {
  readonly database: string;
  readonly view: string;
  readonly columns: readonly string[];
}

const VIEWS = [...SECTION.matchAll(/^\| `(\w+\.db)` +\| `(\w+)` +\| (.*?) +\|$/gm)].map(
  ([, database, view, text]): ViewRow => {
    return { database: database!, view: view!, columns: [...text!.matchAll(/`(\w+)`/g)].map(([, name]) => name!) };
  },
);

/** The databases as anybody opens them, without this program. */
async function opened(): Promise<(file: string) => InstanceType<typeof DatabaseSync>> {
  const given = await StateOf.create(join(await workspace(), 'state'));
  given.belongsTo('acme', 'https://crm.example').source('deals');
  given.event('deal/created', '1', { stage_id: 'won', amount: 10.5, owner_id: 'ada' });
  given.event('deal/created', '2', { stage_id: 'won', amount: 2, owner_id: 'ada' }, { state: 'ready' });
  given.event('deal/created', '2', { stage_id: 'won', amount: 2, owner_id: 'ada' }, { state: 'duplicate' });
  given.event('deal/created', '3', { stage_id: 'lost', owner_id: 'bob' }, { state: 'retry' });
  given.event('deal/updated', '3', { stage_id: 'lost', amount: 99 });
  const [one, two] = ['8', '9'].map((id) => given.event('lead/created', id, null, { state: 'invalid' }));
  for (const event of [one!, two!]) given.problem(event, 'bad_date', 'no date');
  given.problem(given.event('lead/created', '10', null, { state: 'invalid' }), 'missing_value', 'no name');
  const { path } = given.close();
  return (file) => new DatabaseSync(join(path, file), { readOnly: true });
}

it('the queries of the documentation run as they stand there', async () => {
  const db = (await opened())('plan.db');
  expect(Object.fromEntries(Array.from(QUERIES, ([what, sql]) => [what, db.prepare(sql).all()]))).toEqual({
    'the amount of the deals of each stage': [
      { stage: 'lost', deals: 1, amount: null },
      { stage: 'won', deals: 2, amount: 12.5 },
    ],
    'what was not accepted, by code, with an example': [
      { code: 'bad_date', events: 2, example: '8', message: 'no date' },
      { code: 'missing_value', events: 1, example: '10', message: 'no name' },
    ],
    'deals that are not acknowledged yet, by owner': [
      { owner: 'ada', deals: 1 },
      { owner: 'bob', deals: 1 },
    ],
  });
  db.close();
});

it('the README names all columns of each view that it promises', async () => {
  const open = await opened();
  expect(VIEWS.map(({ view }) => view)).toEqual(['events', 'problems', 'left_out', 'sent']);
  for (const { database, view, columns } of VIEWS) {
    const db = open(database);
    const found = db.prepare(`select name from pragma_table_info('${view}')`).all() as { name: string }[];
    expect(
      found.map(({ name }) => name),
      view,
    ).toEqual(columns);
    db.close();
  }
});
