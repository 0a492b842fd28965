import { describe, expect, it } from 'vitest';
import { ProblemsError } from '../../src/problem.ts';
import { mapped } from './inline.ts';

async function draftWith(priority: string, stage = 'Open') {
  const mapping =
    'sources: { it: { path: it.csv } }\n' +
    `events: [{ type: deal/created, source: it, priority: ${priority}, data: { external_id: Id } }]\n`;
  const [draft] = await mapped(mapping, { 'it.csv': `Id,Stage\n1,${stage}\n` });
  return draft!;
}

describe('the priority of an event', () => {
  it.each([
    ['2', 2],
    ['-5', -5],
    ['{ value: 3 }', 3],
    ['{ from: Stage, apply: [{ map: { Open: 1, "*": 0 } }] }', 1],
    ['{ from: Stage, apply: [{ map: { Won: 1, "*": 0 } }] }', 0],
    ['{ from: Stage, apply: [{ map: { Won: 1, "*": null } }] }', undefined],
    ['{ from: Stage, apply: [{ map: { Won: 1, "*": null } }], default: -1 }', -1],
  ])('%s is %s', async (value, priority) => {
    const draft = await draftWith(value);
    expect(draft.issues).toEqual([]);
    expect(draft.priority).toBe(priority);
  });

  it.each(['high', '1.5', '3000000000', '1e3'])('that is not a whole number, %s, is an error of it', async (text) => {
    const { priority, issues } = await draftWith('Stage', text);
    expect(priority).toBeUndefined();
    expect(issues).toMatchObject([{ severity: 'error', code: 'bad_priority', field: 'priority' }]);
  });

  it.each([
    ['1.5', '1.5'],
    ['{ value: high }', 'high'],
    ['{ from: Stage, default: low }', 'low'],
    ['{ from: [Stage, { value: 0.5 }] }', '0.5'],
    ['{ from: Stage, apply: [{ map: { Open: first, "*": 0 } }] }', 'first'],
    ['3000000000', '3000000000'],
  ])('is a mistake of the mapping where a constant is none: %s', async (value, constant) => {
    const error = (await draftWith(value).catch((thrown: unknown) => thrown)) as ProblemsError;
    expect(error).toBeInstanceOf(ProblemsError);
    expect(error.problems).toMatchObject([
      { code: 'bad_priority', message: expect.stringContaining(`\`${constant}\``) as string },
    ]);
  });

  it('makes its column one that the mapping uses', async () => {
    const mapping =
      'sources: { it: { path: it.csv } }\n' +
      'events: [{ type: deal/created, source: it, priority: Rank, data: { external_id: Id, custom_fields: { "*": rest } } }]\n';
    const [draft] = await mapped(mapping, { 'it.csv': 'Id,Rank,City\n1,4,Roma\n' });
    expect(draft).toMatchObject({ priority: 4, data: { custom_fields: { City: 'Roma' } } });
    expect(draft!.data.custom_fields).not.toHaveProperty('Rank');
  });
});
