import { describe, expect, it } from 'vitest';
import { ProblemsError } from '../../src/problem.ts';
import { mapped } from './inline.ts';

async function leads(name: string, csv: string): Promise<unknown[]> {
  const mapping =
    'sources: { it: { path: it.csv } }\n' +
    `events: [{ type: lead/created, source: it, data: { external_id: Id, full_name: ${name} } }]\n`;
  return (await mapped(mapping, { 'it.csv': csv })).map(({ data }) => data.full_name);
}

describe('a column that shares its name with others', () => {
  const csv = 'Id,Name,Name,City,Name\n1,Ann,Annie,Rome,Anna\n';

  it.each([
    ['"Name#1"', 'Ann'],
    ['"Name#2"', 'Annie'],
    ['"Name#3"', 'Anna'],
    ['"City#1"', 'Rome'],
    ['{ template: "{Name#2} {Name#3}" }', 'Annie Anna'],
  ])('is reached by its position, %s', async (name, value) => {
    expect(await leads(name, csv)).toEqual([value]);
  });

  it('is not chosen by chance', async () => {
    const refusal = leads('Name', csv);
    await expect(refusal).rejects.toBeInstanceOf(ProblemsError);
    await expect(refusal).rejects.toThrow('name one by its position, `Name#1` or `Name#2` or `Name#3`');
    await expect(leads('"Name#4"', csv)).rejects.toThrow('has no column `Name#4`');
  });

  it('gives way to a column whose own name is like that', async () => {
    expect(await leads('"Name#2"', 'Id,Name,Name,Name#2\n1,Ann,Annie,itself\n')).toEqual(['itself']);
  });
});
