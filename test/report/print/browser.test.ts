// Lost without it: the page could load something, run a script, or not be printable.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { inflateSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { writeReport } from '../../../src/report/print/page.ts';
import type { Summary } from '../../../src/report/figures/summary.ts';
import { stateDirectory, type GivenEvent } from '../../state.ts';
import { listening } from '../../service/scripted-server.ts';
import { BROWSER, openPage, startBrowser } from './browser.ts';
import { hostileWith } from './hostile.ts';

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
  return { address: `${await listening(server)}/report.html`, asked };
}

/** The report of the case, with another summary. */
async function pageOf(
  summary: Partial<Summary> = {},
  { withValues = false, events = [] }: { withValues?: boolean; events?: readonly GivenEvent[] } = {},
): Promise<string> {
  const given = hostileWith(summary);
  const state = await stateDirectory({ ...given, events: [...given.events!, ...events] });
  return readFile(writeReport(state, state, { withValues }).path, 'utf8');
}

/** The deals of thirty stages. */
const STAGES = Array.from({ length: 30 }, (_, n): GivenEvent[] => {
  const names = {
    from_pipeline: 'Sales Pipeline',
    from_stage: `Stage ${n}`,
    pipeline: 'Sales',
    stage: `New stage ${n}`,
  };
  const deal = { ...names, from_owner: 'Ada', owner: 'Ada Lovelace', currency: 'EUR', amount: '234567.50' };
  return (['invalid', 'blocked', 'ready'] as const).flatMap((state): GivenEvent[] => [
    { type: 'deal/created', state: 'acknowledged', times: n % 5, deal },
    { type: 'deal/created', state, deal },
  ]);
}).flat();

/** The drawing commands of each page of a PDF. */
function printedPages(pdf: Buffer): string[] {
  const text = pdf.toString('latin1');
  const streams = [...text.matchAll(/\/FlateDecode[^>]*>>\s*stream\r?\n/g)].map((match) => {
    const start = match.index + match[0].length;
    return inflateSync(pdf.subarray(start, pdf.indexOf('endstream', start))).toString('latin1');
  });
  const pages = streams.filter((stream) => /\bBT\b/.test(stream));
  expect(pages.length).toBe(text.match(/\/Type \/Page\b(?!s)/g)?.length);
  return pages;
}

const title = BROWSER ? 'the report in a browser' : 'the report in a browser (SKIPPED: no chromium on the PATH)';

describe.skipIf(!BROWSER)(title, () => {
  it('loads nothing else, runs no scripts, and keeps its structure for any input', async () => {
    const { address, asked } = await served(await pageOf({}, { withValues: true }));
    const dom = await browse('--dump-dom', address);

    expect(asked).toEqual(['/report.html']);
    expect(dom).toContain(
      `<title>Migration report: Old CRM &lt;/title&gt;&lt;script&gt;document.title='owned'&lt;/script&gt;`,
    );
    const tags = new Set([...dom.matchAll(/<([a-z][a-z0-9]*)/g)].map(([, tag]) => tag));
    for (const tag of ['script', 'img', 'link', 'iframe', 'b>weird']) expect(tags).not.toContain(tag);
    for (const landmark of ['header', 'nav', 'main', 'footer']) expect(tags).toContain(landmark);

    const sections = [...dom.matchAll(/<section id="([^"]+)" aria-labelledby="([^"]+)"/g)];
    expect(sections.map(([, id]) => id)).toEqual([
      'exports',
      'missing',
      'not-in-export',
      'verified',
      'not-carried',
      'not-undone',
      'mapping',
      'not-used',
      'outcome',
      'errors',
      'omitted',
      'warnings',
      'digests',
    ]);
    for (const [, , labelled] of sections) expect(dom).toContain(`<h2 id="${labelled}">`);
    for (const [, target] of dom.matchAll(/href="#([^"]+)"/g)) expect(dom).toContain(`id="${target}"`);
    for (const [table] of dom.matchAll(/<table>.*?<\/table>/gs)) {
      expect(table).toMatch(/^<table>\s*<caption>\s*\S/);
      expect(table).toContain('<th scope="col"');
    }
  });

  it('has texts with contrast in the light and in the dark, and at 400, 800 and 1300 pixels no element wider than the page, save in tables that scroll', async () => {
    const { address } = await served(await pageOf({}, { events: STAGES }));
    const page = await openPage(address);
    await expect.poll(() => page.evaluate('document.readyState')).toBe('complete');
    await page.evaluate('document.querySelectorAll("details").forEach((each) => (each.open = true))');
    const wide = `[...document.querySelectorAll('body *')].filter((each) => !each.closest('caption') &&
      each.getBoundingClientRect().right > innerWidth + 1).map((each) => each.outerHTML.slice(0, 80))`;
    for (const width of [400, 800, 1300]) {
      await page.send('Emulation.setDeviceMetricsOverride', {
        width,
        height: 900,
        deviceScaleFactor: 1,
        mobile: false,
      });
      expect(await page.evaluate('innerWidth')).toBe(width);
      expect(await page.evaluate(`JSON.stringify(${wide})`), String(width)).toBe('[]');
    }
    const weak = `(() => {
      const light = (color) => {
        const [r, g, b] = color.match(/[\\d.]+/g).map((part) => part / 255)
          .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const paper = (each) => {
        for (let at = each; at; at = at.parentElement) {
          const color = getComputedStyle(at).backgroundColor;
          if (!/, 0\\)$|transparent/.test(color)) return color;
        }
      };
      const texts = [...document.querySelectorAll('body *')].filter((each) =>
        [...each.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== ''));
      return JSON.stringify([texts.length > 100, texts.map((each) => {
        const [one, other] = [light(getComputedStyle(each).color), light(paper(each))].sort((a, b) => b - a);
        return [(one + 0.05) / (other + 0.05), each.outerHTML.slice(0, 60)];
      }).filter(([ratio]) => ratio < 4.5)]);
    })()`;
    const papers = [];
    for (const value of ['dark', 'light']) {
      await page.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value }] });
      papers.push(await page.evaluate('getComputedStyle(document.body).backgroundColor'));
      expect(await page.evaluate(weak), value).toBe('[true,[]]');
    }
    expect(papers).toEqual(['rgb(20, 24, 31)', 'rgb(255, 255, 255)']);
  });

  it.each([
    ['A4', 210, 297],
    ['Letter', 215.9, 279.4],
  ])('printed on %s, has what is signed, after what is missing, on the first three pages', async (_, width, height) => {
    const { address } = await served(await pageOf({ dry_run: true }, { events: STAGES }));
    const page = await openPage(address);
    await expect.poll(() => page.evaluate('document.readyState')).toBe('complete');
    const [paperWidth, paperHeight] = [width / 25.4, height / 25.4];
    const { data } = await page.send('Page.printToPDF', { printBackground: true, paperWidth, paperHeight });
    const pages = printedPages(Buffer.from(data as string, 'base64'));
    expect(pages.length).toBeGreaterThan(2);
    expect(pages.length).toBeLessThan(8);
    // As it is laid out between the margins of 16 and 14 mm.
    const px = (mm: number): number => Math.floor((mm / 25.4) * 96);
    await page.send('Emulation.setEmulatedMedia', { media: 'print' });
    const size = { width: px(width - 28), height: px(height - 32), deviceScaleFactor: 1, mobile: false };
    await page.send('Emulation.setDeviceMetricsOverride', size);
    const ends = (id: string): string => `document.getElementById("${id}").getBoundingClientRect().bottom`;
    expect(await page.evaluate(ends('stages'))).toBeGreaterThan(px(100));
    expect(await page.evaluate(ends('sign'))).toBeLessThan(3 * px(height - 32));
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(size.width);
  });
});
