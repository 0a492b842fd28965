/** An export that a preset knows gets its mapping: the same events as from the preset, conditions and policies included. */
import { cp, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startMapping } from '../../src/init/index.ts';
import { FIXTURES, workspace } from '../e2e/harness.ts';
import { compare, fillIn, migrate, truthIn } from '../presets/truth.ts';

const filesIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).filter((file) => !/^(?:expected\.json|draft\.txt|truth\.json)$/.test(file));

describe.each(await readdir(join(FIXTURES, 'presets')))('init on an export of the preset %s', (name) => {
  it('writes the mapping of the preset with the headers of the export, and asks at most 5 questions', async () => {
    const [folder, cwd] = [join(FIXTURES, 'presets', name), await workspace()];
    await cp(folder, cwd, { recursive: true });
    const mapping = join(cwd, 'mapping.yaml');
    const files = (await filesIn(folder)).map((file) => join(cwd, file));
    const { text, open, findings } = await startMapping(files, { out: mapping });
    expect(findings.join('\n')).toContain(`of the preset ${name}`);
    expect(open.set + open.check).toBeLessThanOrEqual(5);
    await writeFile(mapping, text);
    // What is to be edited in the preset is taken from the values here.
    const truth = { ...(await truthIn(folder)), replace: [] };
    await fillIn(mapping, truth);
    await compare(cwd, await migrate(cwd, 'mapping.yaml', truth), truth);
  });
});

it.each(['freshsales', 'raynet-cs', 'offertes-nl', 'people-ru', 'sell-json', 'clientify-es'])(
  'forces no preset on the export of another CRM: %s',
  async (name) => {
    const folder = join(FIXTURES, 'labelled-exports', name);
    const { findings } = await startMapping(
      (await filesIn(folder)).map((file) => join(folder, file)),
      {},
    );
    expect(findings.join('\n')).not.toMatch(/^\S+: \S+ of the preset/m);
  },
);
