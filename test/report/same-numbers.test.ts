/** Lost without it: screen and page summed the same deals up, each for itself, and the customer signed the wrong sums. */
import { parse } from 'csv-parse/sync';
import { expect, it } from 'vitest';
import type { Summary } from '../../src/report/figures/summary.ts';
import type { Status } from '../../src/report/figures/status.ts';
import { mapping, project, refusingFrom, summaryOf, type Project } from '../e2e/harness.ts';
import { send } from '../sandbox/client.ts';

const amount = 'amount: { from: amount, apply: [number] }, currency: { value: EUR }';
const deal = (policy: string): string =>
  `type: deal/created, ${policy}, data: { external_id: id, stage_name: stage, ${amount}, lead_external_id: lead }`;

const EXPORTS = {
  'mapping.yaml': mapping({
    people: 'type: lead/created, data: { external_id: id, full_name: name }',
    deals: deal('if_changed: report'),
    offers: deal('if_changed: update'),
    notes: 'type: comment/created, data: { external_id: id, content: text, deal_external_id: deal }',
  }),
  'people.csv': 'id,name\n1,Ada\n2,Bob\n3,Cy\n3,Cyd\n',
  'deals.csv': 'id,stage,amount,lead\na,Proposal,100.10,1\nb,Proposal,50,3\nc,Won,7,2\nd,Won,8,2\ne,Lost,many,1\n',
  'offers.csv': 'id,stage,amount,lead\no,Lost,20,1\np,Won,30,2\n',
  'notes.csv': 'id,text,deal\n1,One,a\n2,Two,b\n3,Three,o\n',
};
/** A deal whose change is only reported has another stage and amount, and one that somebody has edited another amount. */
const CHANGED = {
  'deals.csv': EXPORTS['deals.csv'].replace('a,Proposal,100.10', 'a,Lost,111'),
  'offers.csv': EXPORTS['offers.csv'].replace('o,Lost,20', 'o,Lost,25'),
};

/** A row of a table: its name, and under each head a count, with an amount or without. */
type Row = readonly [name: string, cells: Readonly<Record<string, string>>];

/** The tables of one output, row by row, without the cells that have nothing, which not every output shows. */
interface Told {
  readonly deals: readonly string[];
  readonly types: readonly string[];
  /** Events that each correction frees. */
  readonly frees?: readonly number[];
}

const NAMES: Readonly<Record<string, string>> = {
  ...{ 'In the export': 'export', 'Ready to send': 'to send', 'In the service': 'acknowledged', pending: 'to send' },
  ...{ 'lead/created': 'leads', 'deal/created': 'deals', 'comment/created': 'comments' },
};
const nameOf = (name: string): string => NAMES[name] ?? name.replace(' → ', ' -> ').replace(/,? .*unreadable.*/, '');

function told(rows: readonly Row[], heads?: readonly string[]): string[] {
  return rows.map(([name, cells]) => {
    const shown = Object.entries(cells).map(([head, text]) => [nameOf(head).toLowerCase(), text] as const);
    const texts = shown.filter(([head, text]) => !/^(?:0|–|$)/.test(text) && (heads?.includes(head) ?? true));
    return `${nameOf(name)}: ${texts
      .map(([head, text]) => `${head} ${text}`)
      .sort()
      .join(', ')}`;
  });
}

function byScreen(text: string, heads: readonly string[]): Told {
  const table = (start: RegExp): Row[] => {
    const [head, ...rows] = text
      .slice(text.search(start))
      .replace(/\n\n.*/s, '')
      .split('\n');
    const names = head!
      .trim()
      .split(/ {2,}/)
      .filter((name) => !name.startsWith('Deals by'));
    return rows.flatMap((row) => {
      const [, name, numbers] = /^ {2}(\S.*?) {2,}([\d.,\s]+)$/.exec(row) ?? [];
      const [found, width] = [
        numbers?.trim().split(/ +/) ?? [],
        (numbers?.trim().split(/ +/).length ?? 0) / names.length,
      ];
      const cells = names.map((each, at) => [each, found.slice(at * width, (at + 1) * width).join(' ')]);
      return name === undefined ? [] : [[name, Object.fromEntries(cells)] as const];
    });
  };
  const causes = /\nFIX FIRST +frees\n(.*?)\n\n/s.exec(text)?.[1];
  return {
    deals: told(table(/^Deals by stage/m), heads),
    types: told(table(/^ +events /m)),
    ...(causes !== undefined && { frees: [...causes.matchAll(/ (\d+)$/gm)].map(([, count]) => Number(count)) }),
  };
}

function byPage(page: string, heads: readonly string[]): Told {
  const table = (id: string): Row[] => {
    const section = new RegExp(`<section id="${id}".*?</section>`, 's').exec(page)![0];
    return [...section.matchAll(/<tr>\s*<th scope="row">(.*?)<\/th>(.*?)<\/tr>/gs)].map(([, name, cells]) => {
      const texts = [...cells!.matchAll(/data-head="(.*?)">(.*?)<\/td>/gs)];
      return [textOf(name!), Object.fromEntries(texts.map(([, head, text]) => [head!, textOf(text!)]))];
    });
  };
  return {
    deals: told(table('stages'), heads),
    types: told(table('outcome')),
    frees: table('missing').map(([, cells]) => Number(cells.Records)),
  };
}

const textOf = (html: string): string =>
  html
    .replaceAll(/<svg.*?<\/svg>/gs, '')
    .replaceAll(/<[^>]*>|\s+/g, ' ')
    .replaceAll(/ +/g, ' ')
    .trim();

type Counts = Status['by_type'];

/** With a row of all, as the others have it. */
function withAll(rows: readonly (readonly [string, ReadonlyMap<string, number>])[]): Row[] {
  const all = new Map<string, number>();
  for (const [, cells] of rows) for (const [head, count] of cells) all.set(head, (all.get(head) ?? 0) + count);
  return [...rows, ['all', all] as const].map(([name, cells]) => [
    name,
    Object.fromEntries([...cells].map(([head, count]) => [head, String(count)])),
  ]);
}

function typesByJson(byType: Counts): string[] {
  const rows = Object.entries(byType).map(([type, { total, ...counts }]) => {
    return [type, new Map(Object.entries({ events: total, ...counts }))] as const;
  });
  return told(withAll(rows));
}

/** Exact, in hundredths. */
function dealsByJson({ totals }: Summary, heads: readonly string[]): string[] {
  const sums = new Map<string, Map<string, [count: number, cents: number]>>();
  for (const each of totals) {
    for (const name of [
      `${each.from_stage} -> ${each.stage === null ? '(no new name yet)' : `${each.pipeline} / ${each.stage}`}`,
      'all',
    ]) {
      const cells = sums.get(name) ?? new Map<string, [number, number]>();
      sums.set(name, cells);
      for (const head of heads) {
        const key = head === 'export' ? '' : (`${head.replace(' ', '_')}_` as const);
        const [count, cents] = cells.get(head) ?? [0, 0];
        cells.set(head, [count + each[`${key}count`]!, cents + Math.round(Number(each[`${key}amount`]) * 100)]);
      }
    }
  }
  const texts = (cells: ReadonlyMap<string, readonly [number, number]>) =>
    [...cells].map(([head, [count, cents]]) => [head, `${count} ${(cents / 100).toFixed(2)}`]);
  return told([...sums].map(([name, cells]) => [name, Object.fromEntries(texts(cells))] as const));
}

function typesByCsv(contents: readonly string[]): string[] {
  const rows = contents.map((content, at) => {
    const counts = new Map([['events', 0]]);
    for (const { state } of parse<{ state: string }>(content, { columns: true, bom: true })) {
      for (const head of ['events', state]) counts.set(head, (counts.get(head) ?? 0) + 1);
    }
    return [['leads', 'deals', 'comments'][at]!, counts] as const;
  });
  return told(withAll(rows));
}

const PLANS: Readonly<Record<string, (p: Project) => Promise<readonly string[]>>> = {
  'a dry run with blocked deals': async () => ['--dry-run'],
  'a run that was stopped': async (p) => {
    p.service.setFaults({ rules: [refusingFrom(4)] });
    return ['--concurrency', '1'];
  },
  'a changed export of which a change is reported, and an edit is kept': async (p) => {
    await p.run();
    await p.write(CHANGED);
    await send(p.service, 'deal/updated', { external_id: 'o', amount: 21 });
    return [];
  },
};

it.each(Object.entries(PLANS))('%s: every output has the same numbers', async (_, prepare) => {
  const p = await project(EXPORTS);
  const options = await prepare(p);
  const isDryRun = options.includes('--dry-run');
  const heads = ['export', isDryRun ? 'to send' : 'acknowledged'];
  const summary = summaryOf(await p.run(...options));
  const status = JSON.parse((await p.command('status', '--json')).stdout) as Status;
  await p.command('plan', '--csv', 'signed', ...(isDryRun ? ['--dry-run'] : []));
  const signed = await Promise.all(['lead', 'deal', 'comment'].map((kind) => p.read(`signed/${kind}-created.csv`)));

  const types = typesByJson(summary.by_type);
  const deals = dealsByJson(summary, heads);
  const screen = byScreen((await p.command('status')).stdout, heads);
  const page = byPage(await p.stored(isDryRun ? 'dry-run/report.html' : 'report.html'), heads);
  expect(types.at(-1)).toMatch(/^all: .*events 14/);
  expect(typesByJson(status.by_type)).toEqual(types);
  expect(typesByCsv(signed)).toEqual(types);
  expect(screen.types).toEqual(types);
  expect(page.types).toEqual(types);
  expect(deals).toHaveLength(4);
  expect(page.deals.toSorted()).toEqual(deals.toSorted());
  // Somebody who was called to a stopped run is told no more than how far it got.
  if (summary.exit.message === undefined) {
    expect(screen.deals.toSorted()).toEqual(deals.toSorted());
    expect(screen.frees).toEqual(page.frees);
  }
});
