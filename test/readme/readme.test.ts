// Lost without it: a page could show what the program does not do.
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadMapping } from '../../src/mapping/load.ts';
import { mappingJsonSchema } from '../../src/mapping/schema.ts';
import { backfill, workspace } from '../e2e/harness.ts';
import { hasTmux } from '../report/terminal.ts';
import { steady, withScreens } from './console.ts';
import { ROOT } from './root.ts';
import { PAGES, readPage, withSections } from './sections.ts';

const flat = (text: string): string => text.replace(/\s+/g, ' ').replace(/ ?-{3,} ?/g, '-');

/** A page without its code blocks. */
const prose = (page: string): string => readPage(page).replaceAll(/^( *)```[^]*?^ *```$/gm, '');

describe.each(PAGES)('%s', (page) => {
  it('has up-to-date generated sections (`npm run readme` updates them)', () => {
    expect(flat(readPage(page))).toBe(flat(withSections(page, readPage(page))));
  });

  it.skipIf(!hasTmux())('shows the screens that its commands print (skipped without tmux)', async () => {
    const written = readPage(page);
    expect(steady(written)).toBe(steady(await withScreens(written)));
  });

  it('has no link to a file or heading that does not exist', async () => {
    const links = [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!);
    const dead: string[] = [];
    for (const link of links.filter((target) => !/^[a-z]+:/.test(target))) {
      const [path = '', anchor] = link.split('#');
      const file = path === '' ? join(ROOT, page) : join(ROOT, dirname(page), path);
      const found = await stat(file).catch(() => undefined);
      if (!found || (anchor !== undefined && !anchors(await readFile(file, 'utf8')).includes(anchor))) dead.push(link);
    }
    expect(dead).toEqual([]);
  });

  it('shows YAML that parses and mappings that load', async () => {
    const cwd = await workspace();
    for (const [, indent = '', text = ''] of readPage(page).matchAll(/^( *)```yaml\n([^]*?)^ *```$/gm)) {
      const yaml = text.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
      parse(yaml);
      if (!yaml.includes('version: 1')) continue;
      await writeFile(join(cwd, 'mapping.yaml'), yaml);
      expect((await loadMapping(join(cwd, 'mapping.yaml'))).migration).toMatch(/^acme/);
    }
  });

  it('names only npm scripts that exist in package.json', async () => {
    const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
    const named = [...readPage(page).matchAll(/npm run ([\w:]+)/g)].map(([, script]) => script);
    expect(named.filter((script) => !Object.keys(scripts).includes(script!))).toEqual([]);
  });
});

describe('README.md', () => {
  it('has at most 900 words', () => {
    expect(
      readPage('README.md')
        .replaceAll(/<!--[^]*?-->/g, '')
        .split(/\s+/)
        .filter((word) => /\w/.test(word)).length,
    ).toBeLessThanOrEqual(900);
  });
});

it.each(PAGES.filter((page) => page.startsWith('mappings/')))('%s has at most 400 lines', (page) => {
  expect(readPage(page).trimEnd().split('\n').length).toBeLessThanOrEqual(400);
});

describe('mappings/commands.md', () => {
  it('names every file that a rehearsal leaves in its state directory', async () => {
    const cwd = await workspace('demo');
    for (const args of [['run', '--dry-run'], ['run', '--rate', '10000/1s'], ['verify'], ['report']]) {
      const [verb = '', ...options] = args;
      await backfill([verb, 'mapping.yaml', '--sandbox', ...options], { cwd });
    }
    const state = join(cwd, '.backfill/demo.sandbox');
    const written = new Set([...(await readdir(state)), ...(await readdir(join(state, 'dry-run')))]);
    expect([...written]).toEqual(
      expect.arrayContaining(['checkpoint.db', 'plan.db', 'errors.csv', 'rejects', 'dry-run']),
    );
    const page = readPage('mappings/commands.md');
    expect([...written].filter((name) => !page.includes(`\`${name}`))).toEqual([]);
  });
});

it('no page, hint or command calls the program by the name of another package', async () => {
  const folders = ['src', 'mappings', 'fixtures/deploy'];
  const names = await Promise.all(
    folders.map(async (folder) =>
      (await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name)),
    ),
  );
  for (const path of [join(ROOT, 'README.md'), ...names.flat()]) {
    const text = await readFile(path, 'utf8');
    expect(
      text.match(/(?<![-.\w/])backfill (?:[a-z-]+ (?:MAPPING|EXPORT|acme)|run|init|status)\b.*/g),
      path,
    ).toBeNull();
  }
});

describe('the mapping reference', () => {
  it('names every key of a mapping file', () => {
    const page = ['reference', 'sources', 'transforms'].map((name) => readPage(`mappings/${name}.md`)).join('\n');
    const keys = new Set<string>();
    collectKeys(mappingJsonSchema(), keys);
    expect(keys.size).toBeGreaterThan(60);
    const named = (key: string) => new RegExp(`(?<!\\w)${key.replace(/\W/g, '\\$&')}(?!\\w)`).test(page);
    expect([...keys].filter((key) => !named(key))).toEqual([]);
  });
});

describe('src/README.md', () => {
  it('names every folder of the sources, and no other', async () => {
    const entries = await readdir(join(ROOT, 'src'), { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    const named = [...readPage('src/README.md').matchAll(/^\| `(\w+)\/` \|/gm)].map(([, name]) => name!);
    expect(named.sort()).toEqual(folders.sort());
  });
});

/** The anchors of a page's headings, as GitHub makes them. */
function anchors(text: string): string[] {
  const headings = text.replaceAll(/^( *)```[^]*?^ *```$/gm, '').matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** The names of all properties in a JSON Schema. */
function collectKeys(schema: unknown, keys: Set<string>): void {
  if (typeof schema !== 'object' || schema === null) return;
  for (const [name, part] of Object.entries(schema)) {
    if (name === 'properties') for (const key of Object.keys(part as object)) keys.add(key);
    collectKeys(part, keys);
  }
}
