import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FIXTURES, workspace } from '../e2e/harness.ts';
import { compare, migrate, truthIn } from './truth.ts';

const TRAPS = join(FIXTURES, 'traps');
const names = (await readdir(TRAPS)).sort();

it('has a case for each known problem of importers', () => {
  expect(names.length).toBeGreaterThanOrEqual(28);
});

it.each(names)('handles %s as in the expected results', async (name) => {
  const truth = await truthIn(join(TRAPS, name));
  const cwd = await workspace(join('traps', name));
  await compare(cwd, await migrate(cwd, 'mapping.yaml', truth), truth);
});
