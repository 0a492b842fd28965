import { readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { writeReport } from '../../src/report/html/write.ts';
import { BROWSER, startBrowser } from './browser.ts';
import { stateDirectory } from './state.ts';

vi.stubEnv('TZ', 'UTC');

/** Opens an address in a separate browser without network access, and returns what it printed. */
async function browse(...options: readonly string[]): Promise<string> {
  const child = await startBrowser(...options);
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject));
  return text;
}

/** Serves one page, and remembers what was asked for. */
async function served(page: string): Promise<{ address: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.setHeader('content-type', 'text/html; charset=utf-8').end(page);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/report.html`, asked };
}

function cellsOf(row: string): string[] {
  return [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell]) => cell!.replace(/<[^>]*>/g, '').trim());
}

const title = BROWSER ? 'the report in a browser' : 'the report in a browser (SKIPPED: no chromium on the PATH)';

describe.skipIf(!BROWSER)(title, { timeout: 60_000 }, () => {
  it('loads nothing else, runs no scripts, and keeps its structure for any input', async () => {
    const state = await stateDirectory('hostile');
    const page = await readFile(await writeReport(state, { withValues: true }), 'utf8');
    const { address, asked } = await served(page);
    const dom = await browse('--dump-dom', address);

    expect(asked).toEqual(['/report.html']);
    expect(dom).toContain(
      '<title>Migration report: acme &lt;/style&gt;&lt;script&gt;document.title="owned"&lt;/script&gt;',
    );
    const tags = new Set([...dom.matchAll(/<([a-z][a-z0-9]*)/g)].map(([, tag]) => tag));
    for (const tag of ['script', 'img', 'link', 'iframe', 'b>weird']) expect(tags).not.toContain(tag);
    for (const landmark of ['header', 'nav', 'main', 'footer']) expect(tags).toContain(landmark);

    const sections = [...dom.matchAll(/<section id="([^"]+)" aria-labelledby="([^"]+)"/g)];
    expect(sections.map(([, id]) => id)).toEqual([
      'outcome',
      'left-behind',
      'throughput',
      'errors',
      'chains',
      'duplicates',
      'omitted',
      'not-used',
      'warnings',
      'mapping',
      'not-carried',
    ]);
    for (const [, , labelled] of sections) expect(dom).toContain(`<h2 id="${labelled}">`);
    for (const [, target] of dom.matchAll(/href="#([^"]+)"/g)) expect(dom).toContain(`id="${target}"`);
    for (const [table] of dom.matchAll(/<table>.*?<\/table>/gs)) {
      expect(table).toMatch(/^<table>\s*<caption>\s*\S/);
      expect(table).toContain('<th scope="col"');
    }
    for (const [bar] of dom.matchAll(/<svg class="bar".*?>/g)) expect(bar).toMatch(/role="img" aria-label="\S/);
  });

  it('shows a table in which every row and column adds up', async () => {
    const state = await stateDirectory('hostile');
    const { address } = await served(await readFile(await writeReport(state, { withValues: false }), 'utf8'));
    const dom = await browse('--dump-dom', address);
    const table = /<section id="outcome".*?<table>(.*?)<\/table>/s.exec(dom)![1]!;
    const rows = [...table.matchAll(/<tr>(.*?)<\/tr>/gs)].slice(1).map(([, row]) => cellsOf(row!).slice(1).map(Number));
    for (const [total, ...parts] of rows) expect(parts.reduce((sum, part) => sum + part, 0)).toBe(total);
    const all = rows.pop()!;
    expect(all.map((_, column) => rows.reduce((sum, row) => sum + row[column]!, 0))).toEqual(all);
  });

  it('prints, and draws in dark on a narrow screen', async () => {
    const state = await stateDirectory('hostile');
    const { address } = await served(await readFile(await writeReport(state, { withValues: false }), 'utf8'));
    const shots = [
      { file: 'page.pdf', options: [] },
      { file: 'dark.png', options: ['--window-size=400,1600', '--blink-settings=preferredColorScheme=0'] },
    ];
    for (const { file, options } of shots) {
      const path = state.file(file);
      await browse(`--${file.endsWith('pdf') ? 'print-to-pdf' : 'screenshot'}=${path}`, ...options, address);
      expect((await stat(path)).size, file).toBeGreaterThan(10_000);
    }
  });
});
