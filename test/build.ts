/**
 * Some tests run the built program, so what has changed in `src` since the last build is written to `dist` before the first test.
 * Only the changed files, and without a look at types: that is what `npm run check` is for, and takes ten times as long.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SRC = join(ROOT, 'src');

const timeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

export function setup(): void {
  const config = join(ROOT, 'tsconfig.json');
  if (timeOf(join(ROOT, 'dist/cli.js')) < timeOf(config)) {
    spawnSync('npm', ['run', '-s', 'build'], { cwd: ROOT, stdio: 'inherit', shell: process.platform === 'win32' });
    return;
  }
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(config, (path) => readFileSync(path, 'utf8')).config,
    ts.sys,
    ROOT,
  );
  // One file alone does not show that the package has ES modules.
  const compilerOptions = { ...options, module: ts.ModuleKind.ESNext };
  for (const name of readdirSync(SRC, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts')) continue;
    const [from, to] = [join(SRC, name), join(ROOT, 'dist', name.replace(/\.ts$/, '.js'))];
    if (timeOf(from) <= timeOf(to)) continue;
    mkdirSync(dirname(to), { recursive: true });
    const text = readFileSync(from, 'utf8');
    writeFileSync(to, ts.transpileModule(text, { compilerOptions, fileName: from }).outputText);
  }
}
