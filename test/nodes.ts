/**
 * Runs the suite on each supported Node version: `npm run test:nodes [-- VERSION… [-- VITEST ARGUMENTS…]]`. Versions come
 * from the registry, through npx. A failure on one version does not stop the others.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PROMISED = ['20.19', '22', '24', '26'];
const VITEST = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
const SUITE = ['--test-timeout', '120000', '--exclude', 'test/soak'];

const words = process.argv.slice(2);
const end = words.indexOf('--');
const named = end < 0 ? words : words.slice(0, end);
const more = end < 0 ? [] : words.slice(end + 1);

const failed = (named.length > 0 ? named : PROMISED).filter((version) => {
  const command = ['node', VITEST, 'run', ...SUITE, ...more];
  process.stdout.write(`\n--- Node ${version}\n`);
  const options = { stdio: 'inherit', shell: process.platform === 'win32' } as const;
  const node = ['-y', '-p', `node@${version}`, '--'];
  spawnSync('npx', [...node, 'node', '--version'], options);
  return spawnSync('npx', [...node, ...command], options).status !== 0;
});
process.stdout.write(failed.length > 0 ? `\nfailed on Node ${failed.join(', ')}\n` : '\npassed on all\n');
process.exitCode = failed.length > 0 ? 1 : 0;
