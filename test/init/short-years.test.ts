import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startMapping } from '../../src/commands/init/index.ts';
import { workspace } from '../e2e/harness.ts';

it('marks dates whose years have two digits, and says how they are read', async () => {
  const cwd = await workspace();
  const people = ['1,Ann Lee,ann@x.test,31/12/38', '2,Bob Ray,bob@x.test,16/07/61', '3,Cy Day,cy@x.test,20/01/02'];
  await writeFile(join(cwd, 'people.csv'), `Id,Name,Email,Birthday\n${people.join('\n')}\n`);
  const { text } = await startMapping([join(cwd, 'people.csv')], { out: join(cwd, 'mapping.yaml') });
  const year = new Date().getUTCFullYear();
  expect(text).toMatch(new RegExp(`Birthday.*yy.*# check: .*${year - 80} to ${year + 19}`));
});
