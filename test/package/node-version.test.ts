import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

it('a version of Node that cannot run the program gets a sentence with exit code 2', () => {
  // What versions before 20.19 lack, and the others can switch off.
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--no-experimental-require-module', CLI, 'run'], {
    encoding: 'utf8',
  });
  expect(stderr).toBe(
    `error: this is Node ${process.versions.node}; crm-backfill needs Node 20.19 or 22.12, or later\n`,
  );
  expect(stdout).toBe('');
  expect(status).toBe(2);
});

it('nothing of the program is loaded before the version of Node is checked', () => {
  const code = readFileSync(CLI, 'utf8');
  const imported = [...code.matchAll(/^import .* from '(.*)';$/gm)].map(([, name]) => name!);
  expect(imported).toContain('node:module');
  expect(imported.filter((name) => !name.startsWith('node:'))).toEqual([]);
  expect(code).not.toMatch(/^\s*(await|export)\b/m);
});
