/** More rows of one record than are read at once. */
import { expect, it } from 'vitest';
import { project, summaryOf } from './harness.ts';

const ROWS = 11_001;
const MAPPING = `version: 1
migration: rows
sources:
  people: { path: people.csv }
  scores: { path: scores.csv }
events:
  - type: lead/created
    source: people
    data: { external_id: id, full_name: name }
  - type: lead/updated
    source: scores
    priority: { from: score }
    data: { external_id: id, full_name: { template: "{name} {score}" }, custom_params: { score: score, seen: seen } }
`;

it('of one record are one event, with the values of the last one', async () => {
  const rows = Array.from({ length: ROWS }, (_, n) => `p2,Grace,${n},${n === 0 ? 'once' : ''}\n`);
  const p = await project({
    'mapping.yaml': MAPPING,
    'people.csv': 'id,name\np1,Ada\np2,Grace\np3,Alan\n',
    'scores.csv': `id,name,score,seen\np1,Ada,1,\n${rows.join('')}p3,Alan,3,\n`,
  });
  expect(summaryOf(await p.run())).toMatchObject({ exit: { code: 0 }, events: { total: 3, acknowledged: 3 } });
  expect(p.posts()).toBe(3);
  expect(
    p.service
      .state()
      .leads.map((lead) => (lead as unknown as { fullName: string }).fullName)
      .sort(),
  ).toEqual(['Ada 1', 'Alan 3', `Grace ${ROWS - 1}`]);
  expect(summaryOf(await p.run())).toMatchObject({ exit: { code: 0 }, this_run: { events_sent: 0 } });
});
