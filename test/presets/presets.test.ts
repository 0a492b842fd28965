// Lost without it: a preset could lose records of its CRM: compared with expectations written by hand.
import { cp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadMapping } from '../../src/mapping/load.ts';
import { UserError } from '../../src/errors.ts';
import type { Summary } from '../../src/report/figures/summary.ts';
import { FIXTURES, workspace } from '../e2e/harness.ts';
import { compare, fillIn, migrate, truthIn } from './truth.ts';

const PRESETS = fileURLToPath(new URL('../../mappings/', import.meta.url));
const names = (await readdir(PRESETS))
  .filter((file) => file.endsWith('.yaml'))
  .map((file) => file.slice(0, -'.yaml'.length));

describe.each(names)('preset %s', (name) => {
  const file = join(PRESETS, `${name}.yaml`);

  it('refers to the schema for editors, and marks what to set', async () => {
    const text = await readFile(file, 'utf8');
    expect(text.startsWith('# yaml-language-server: $schema=mapping.schema.json\n')).toBe(true);
    expect(text).toMatch(/# region: .* # set this/);
    const mapping = await loadMapping(file);
    expect([...mapping.usedSources].sort()).toEqual(mapping.sources.map((source) => source.name).sort());
    expect(mapping.sources.filter(({ optional }) => !optional)).toEqual([]);
  });

  it('migrates an export as in the expected results, the open deals with their leads and comments first', async () => {
    const fixture = join(FIXTURES, 'presets', name);
    const truth = await truthIn(fixture);
    const cwd = await workspace();
    await cp(fixture, cwd, { recursive: true });
    await cp(file, join(cwd, 'mapping.yaml'));
    await fillIn(join(cwd, 'mapping.yaml'), truth);
    const migrated = await migrate(cwd, 'mapping.yaml', truth);
    await compare(cwd, migrated, truth);
    expect((migrated.ended as Summary).priorities[0]).toMatchObject({ priority: 1 });
  });
});

it.each([
  ['hubspot-csv', 'hubspot-fr', 26, 26, 0],
  ['zoho-csv', 'zoho-es', 14, 14, 0],
  ['bitrix24', 'bitrix-ru', 14, 14, 0],
  ['dynamics365', 'dynamics-de', 24, 24, 0],
])('%s as it stands reads the export %s', async (preset, folder, leads, deals, comments) => {
  const cwd = await workspace();
  await cp(join(FIXTURES, 'labelled-exports', folder), cwd, { recursive: true });
  await cp(join(PRESETS, `${preset}.yaml`), join(cwd, 'mapping.yaml'));
  const { ended } = await migrate(cwd, 'mapping.yaml', { exit: 1 }, { dryRun: true });
  if (ended instanceof UserError) throw ended;
  const { by_type: types, records } = ended as Summary;
  const totals = (['lead/created', 'deal/created', 'comment/created'] as const).map((type) => types[type]?.total ?? 0);
  expect(totals).toEqual([leads, deals, comments]);
  expect(records).toMatchObject({ skipped: 0, unreadable: 0 });
});

const TRAPS = join(FIXTURES, 'traps');
const traps = (await readdir(TRAPS)).sort();

it('has a case for each known problem of importers', () => {
  expect(traps.length).toBeGreaterThanOrEqual(28);
});

it.each(traps)('handles %s as in the expected results', async (name) => {
  const truth = await truthIn(join(TRAPS, name));
  const cwd = await workspace(join('traps', name));
  await compare(cwd, await migrate(cwd, 'mapping.yaml', truth), truth);
});
