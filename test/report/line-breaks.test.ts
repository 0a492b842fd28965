import { describe, expect, it } from 'vitest';
import { project } from '../e2e/harness.ts';

const MAPPING = `version: 1
migration: m
sources: { deals: { path: deals.csv } }
events:
  - type: deal/created
    source: deals
    data:
      external_id: id
      title: title
      stage_name: "the\\nLEAK stage"
      owner_name: owner
      amount: { from: amount, apply: [number] }
      custom_fields: { kind: { from: kind, apply: [{ map: { a: b } }] }, fax: "fax\\nLEAK" }
`;

const DEALS = `id,title,"the
LEAK stage",owner,amount,kind,"fax
LEAK","unused
LEAK"
1,A,"Wo
LEAK","Ada
LEAK","1
LEAK","c
LEAK",,
2,B,"Wo\rLEAK",Ada Lovelace,5,a,,
3,C,New,"Ada
LEAK",5,a,,
`;

/** Lines that begin with what follows a line break in a cell or the name of a column. */
function broken(text: string): readonly string[] {
  return text.split('\n').filter((line) => /^\s*LEAK/.test(line));
}

describe('a line break in a cell or the name of a column', () => {
  it('is shown as an escape, and breaks no line of a dry run or a run', async () => {
    const { run } = await project({ 'mapping.yaml': MAPPING, 'deals.csv': DEALS });
    for (const ended of [
      await run('--dry-run', '--all'),
      await run('--max-errors', '100%', '--max-omitted', '100%', '--all'),
    ]) {
      expect(broken(ended.stderr)).toEqual([]);
      expect(ended.stderr).toContain('stage `Wo\\nLEAK`');
      expect(ended.stderr).toContain('owner `Ada\\nLEAK`');
    }
  });

  it('breaks no line of the mistakes of a mapping', async () => {
    const wrong = MAPPING.replace('owner_name: owner', 'owner_name: "ow\\nLEAK"');
    const { run } = await project({ 'mapping.yaml': wrong, 'deals.csv': DEALS });
    const { code, stderr } = await run('--dry-run');
    expect(code).toBe(2);
    expect(stderr).toContain('`ow\\nLEAK`');
    expect(broken(stderr)).toEqual([]);
  });
});
