import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Licences that require no more than a notice. */
const PERMISSIVE = [
  'MIT',
  'MIT/X11',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
  'Unlicense',
];

interface Manifest {
  readonly name: string;
  readonly license?: string;
  readonly scripts?: Readonly<Record<string, string>>;
}

const read = <T>(...path: string[]): T => JSON.parse(readFileSync(join(ROOT, ...path), 'utf8')) as T;

interface Locked {
  readonly dev?: boolean;
}

/** Every package that an installation includes, according to the lockfile. */
const locked = Object.entries(read<{ packages: Record<string, Locked> }>('package-lock.json').packages).filter(
  ([path, { dev }]) => path !== '' && !dev,
);
const manifests = locked.map(([path]) => read<Manifest>(path, 'package.json'));

it('every runtime dependency has a permissive licence', () => {
  const names = manifests.map(({ name }) => name);
  for (const name of Object.keys(read<{ dependencies: object }>('package.json').dependencies)) {
    expect(names).toContain(name);
  }
  const others = manifests.filter(({ license }) => !license || !PERMISSIVE.includes(license));
  expect(others.map(({ name, license }) => `${name}: ${license}`)).toEqual([]);
});

/** Its script only looks whether a binary is there, which the package has for every system: it works without it. */
const NEEDLESS = ['@photostructure/sqlite'];

it('no runtime dependency needs an install script', () => {
  const scripted = manifests.filter(({ scripts = {} }) =>
    ['preinstall', 'install', 'postinstall'].some((name) => name in scripts),
  );
  expect(scripted.map(({ name }) => name)).toEqual(NEEDLESS);
});
