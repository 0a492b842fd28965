/** Some tests run the built program, so `dist` is built before the first test if the sources have changed since. */
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BUILT = join(ROOT, 'dist/cli.js');

export function setup(): void {
  const built = statSync(BUILT, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  // A folder is as new as the last file that was added to it or deleted.
  const names = ['.', ...readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })];
  const paths = [join(ROOT, 'tsconfig.json'), ...names.map((name) => join(ROOT, 'src', name))];
  if (paths.every((path) => statSync(path).mtimeMs <= built)) return;
  const begun = new Date();
  // Errors of types are printed, and do not keep the tests from running: the files are written all the same.
  spawnSync('npm', ['run', '-s', 'build'], { cwd: ROOT, stdio: 'inherit', shell: process.platform === 'win32' });
  // What was changed meanwhile may not have been read.
  utimesSync(BUILT, begun, begun);
}
