import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { escaped, html } from '../../src/report/html/markup.ts';
import { writeReport } from '../../src/report/html/write.ts';
import { FIXTURES, stateDirectory } from './state.ts';

vi.stubEnv('TZ', 'UTC');

async function pageOf(from: string, withValues = false): Promise<string> {
  const state = await stateDirectory(from);
  return readFile(await writeReport(state, { withValues }), 'utf8');
}

/** The text of a page, row by row. */
function textOf(page: string): string {
  return page
    .replace(/<style>.*?<\/style>/s, '')
    .replace(/<\/(tr|p|li|h\d|caption|header|dd)>/g, '\n')
    .replace(/<[^>]*>/g, ' ')
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n+/g, '\n')
    .replace(/Written .* by crm-backfill\/\S+\./, 'Written TIME by TOOL.')
    .trim();
}

describe('the report page', () => {
  it('shows the outcome of every event, blocked chains and omitted values', async () => {
    await expect(`${textOf(await pageOf('hostile'))}\n`).toMatchFileSnapshot(join(FIXTURES, 'hostile.page.txt'));
  });

  it('contains field values only with --with-values', async () => {
    const page = await pageOf('hostile');
    expect(page).not.toContain('SECRET');
    const withValues = await pageOf('hostile', true);
    for (const value of ['SECRET-DATE', 'SECRET-HINT', 'SECRET-REPLY', 'SECRET-CELL', 'SECRET-PHONE', 'SECRET-MAIL']) {
      expect(withValues).toContain(value);
    }
    expect(withValues).toContain('handle it like the exports');
  });

  it.each([false, true])('escapes everything from the input (values: %s)', async (withValues) => {
    const page = await pageOf('hostile', withValues);
    const tags = new Set([...page.matchAll(/<([a-z][a-z0-9]*)/g)].map(([, tag]) => tag));
    for (const tag of ['script', 'img', 'link', 'iframe', 'i>odd', 'form', 'object']) expect(tags).not.toContain(tag);
    expect(page.match(/<\/style>/g)).toHaveLength(1);
    expect(page).not.toMatch(/<[^>]*\son\w+=/);
    expect(page).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    expect(page).toContain('[U+202E]');
    expect(page).not.toMatch(/(?:src|href)="(?!#)/);
    expect(page).not.toMatch(/url\(|@import/);
  });

  it('allows nothing but its own style sheet', async () => {
    expect(await pageOf('hostile')).toContain(
      `<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;; base-uri &#39;none&#39;; form-action &#39;none&#39;"`,
    );
  });

  it('updates the counts of the survey if the last run was killed', async () => {
    const text = textOf(await pageOf('killed'));
    expect(text).toContain('Not finished');
    expect(text).toMatch(/lead\/created 60 29 1 1 2 0 27/);
  });

  it('uses only the checkpoint if there is neither a survey nor a summary', async () => {
    const state = await stateDirectory('killed');
    await rm(state.file('survey.json'));
    await rm(state.file('summary.json'));
    const text = textOf(await readFile(await writeReport(state, { withValues: false }), 'utf8'));
    expect(text).toContain('Not finished');
    expect(text).toMatch(/lead\/created 31 29 0 0 2 0 0/);
  });

  it('stays small with many errors', async () => {
    const state = await stateDirectory('hostile');
    const line = (await readFile(state.file('errors.ndjson'), 'utf8')).split('\n')[0]!;
    const error = JSON.parse(line) as Record<string, unknown>;
    const lines = Array.from({ length: 20_000 }, (_, index) =>
      JSON.stringify({ ...error, external_id: `L${index}`, code: `code_${index % 700}`, message: 'long '.repeat(40) }),
    );
    await writeFile(state.file('errors.ndjson'), `${lines.join('\n')}\n`);
    const page = await readFile(await writeReport(state, { withValues: true }), 'utf8');
    expect(page.length).toBeLessThan(400_000);
    expect(page).toContain('20,000');
    expect(page).toContain('with other causes');
  });
});

describe('markup', () => {
  it('escapes every value, in text and in attributes', () => {
    const value = `"><script>'&`;
    expect(html`<b title="${value}">${value}</b>`.text).toBe(
      '<b title="&quot;&gt;&lt;script&gt;&#39;&amp;">&quot;&gt;&lt;script&gt;&#39;&amp;</b>',
    );
  });

  it('shows invisible and reversing characters by code point, and keeps line ends', () => {
    expect(escaped('a\u202eb\u0000c\ufeffd\u2028e\nf\ud800g')).toBe('a[U+202E]b[U+0000]c[U+FEFF]d[U+2028]e\nf\ufffdg');
  });
});
