import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FIXTURES, workspace } from '../e2e/harness.ts';
import { compare, migrate, truthIn } from './truth.ts';

const TRAPS = join(FIXTURES, 'traps');
const names = (await readdir(TRAPS)).sort();

it('has a case for everything that is known to trip importers', () => {
  expect(names.length).toBeGreaterThanOrEqual(28);
});

it.each(names)('comes through %s as the truth written from the export says', async (name) => {
  const truth = await truthIn(join(TRAPS, name));
  const cwd = await workspace(join('traps', name));
  await compare(cwd, await migrate(cwd, 'mapping.yaml', truth), truth);
});
