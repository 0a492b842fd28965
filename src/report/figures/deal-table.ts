/** The one table of deals by stage or by owner: every screen and page shows it, and the customer signs it. Pure. */
import { grouped } from '../../decimal.ts';
import { counted, numberText } from '../words/numbers.ts';
import { DEAL_CELLS, DealSum, type DealCell, type DealGroup } from './deals.ts';
import { column, sectionOf, type Cell, type CellColumn, type Cells, type Section } from './figures.ts';

/** The deals of one stage or owner in one currency. */
interface DealRow {
  /** `Closed Won -> Sales / Won`, the name in the old CRM and the new one. */
  readonly name: string;
  readonly currency: string | null;
  readonly sum: DealSum;
}

interface DealTable {
  /** The largest first; what is beyond the limit is one last row for each currency, with their number. */
  readonly rows: readonly DealRow[];
  /** The sum of the rows, for each currency. */
  readonly all: readonly DealRow[];
}

/** `most`: rows that are not summed up. */
export function dealTable(groups: readonly DealGroup[], by: 'stage' | 'owner', most: number): DealTable {
  const namesOf =
    by === 'stage' ? stageNames(groups) : ({ from_owner: from, owner }: DealGroup) => [from, owner] as const;
  const rows = [...grouping(groups, (each) => [each.others, ...namesOf(each), each.currency]).values()]
    .map((own): DealRow => {
      const sum = DealSum.of(own.map((each) => each.sum));
      const { others, currency } = own[0]!;
      return { name: others ? `other ${by}s` : nameOf(by, namesOf(own[0]!), sum), currency, sum };
    })
    .sort(
      ({ sum: one, name }, { sum: other, name: otherName }) =>
        other.count('export') - one.count('export') ||
        Number(other.amount('export')) - Number(one.amount('export')) ||
        name.localeCompare(otherName, 'en'),
    );
  // Where a single row is left out, the row that says so would be as long.
  const shown = rows.slice(0, rows.length === most + 1 ? most + 1 : most);
  const byCurrency = (own: readonly DealRow[], nameFor: (count: number) => string): DealRow[] =>
    [...grouping(own, ({ currency }) => currency).values()].map((each) => {
      return { name: nameFor(each.length), currency: each[0]!.currency, sum: DealSum.of(each.map(({ sum }) => sum)) };
    });
  return {
    rows: [...shown, ...byCurrency(rows.slice(shown.length), (count) => counted(count, `more ${by}`))],
    all: byCurrency(rows, () => 'all'),
  };
}

type NamePair = readonly [from: string | null, to: string | null];

/** With the old pipeline where stages of several have the same name. */
function stageNames(groups: readonly DealGroup[]): (group: DealGroup) => NamePair {
  const pipelines = grouping(groups, (each) => each.from_stage);
  return ({ from_pipeline: pipeline, from_stage: stage, ...to }) => {
    const own = pipelines.get(JSON.stringify(stage))!;
    const isAmbiguous = stage === null || own.some((each) => each.from_pipeline !== pipeline);
    return [joined(isAmbiguous ? pipeline : null, stage), joined(to.pipeline, to.stage)];
  };
}

function joined(...names: readonly (string | null)[]): string | null {
  return names.filter((name) => name !== null).join(' / ') || null;
}

function nameOf(by: 'stage' | 'owner', [from, to]: NamePair, sum: DealSum): string {
  const isOpen = to === null && from !== null && sum.isAll('invalid');
  const target = to ?? (isOpen ? '(no new name yet)' : `(no ${by})`);
  return from === null || from === to ? target : `${from} -> ${target}`;
}

/** The items that have a key in common, in the order in which the first of each occurs. The key is any value of JSON. */
function grouping<T>(items: Iterable<T>, keyOf: (item: T) => unknown): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = JSON.stringify(keyOf(item));
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

/** Rows of a screen, and of a page. */
const MOST_SHOWN = 8;
const MOST_SIGNED = 60;

/** For a screen. Undefined if there are no deals. A run that sent all of them says so in one line. */
export function stagesSection(groups: readonly DealGroup[], isDryRun: boolean): Section | undefined {
  if (groups.length === 0) return undefined;
  const table = dealTable(groups, 'stage', MOST_SHOWN);
  const [all, sum] = [table.all, sumOf(table)];
  if (!isDryRun && sum.isAll('acknowledged')) return sectionOf({ id: 'stages', notes: [equalText(all, sum)] });
  const amounts = shownCells(sum, isDryRun).filter((cell) => !FAILED.includes(cell));
  return { ...dealSection('stage', table, amounts, []), notes: differingNotes(sum) };
}

/**
 * The same to sign: by stage and by owner, and a tick where the service has all that the export has (of a dry run: where all of it can be
 * sent). None where there are no deals; no owners where no deal has one.
 */
export function signedSections(groups: readonly DealGroup[], isDryRun: boolean): readonly Section[] {
  const hasOwners = groups.some(({ from_owner: from, owner }) => (from ?? owner) !== null);
  if (groups.length === 0) return [];
  return (hasOwners ? (['stage', 'owner'] as const) : (['stage'] as const)).map((by) => {
    const table = dealTable(groups, by, MOST_SIGNED);
    const sum = sumOf(table);
    const [exported, main, ...counts] = shownCells(sum, isDryRun);
    const section = dealSection(by, table, [exported!, main!], counts);
    const tick = (cells: Cells, { sum: own }: DealRow): Cells => [...cells, equality(own, isDryRun)];
    return {
      ...section,
      columns: [...section.columns, column('text', 'equal')],
      rows: section.rows.map((cells, at) => tick(cells, table.rows[at]!)),
      totals: section.totals.map((cells, at) => tick(cells, table.all[at]!)),
      notes: [...unreadText(sum), ...differingNotes(sum)].map((text) => `${text}.`),
    };
  });
}

function sumOf({ all }: DealTable): DealSum {
  return DealSum.of(all.map(({ sum }) => sum));
}

const FAILED: readonly DealCell[] = ['invalid', 'rejected', 'blocked'];

/** The export, what it is compared with, and what else occurs. */
function shownCells(sum: DealSum, isDryRun: boolean): readonly DealCell[] {
  const isToSend = isDryRun && (sum.count('to send') > 0 || sum.count('acknowledged') === 0);
  const main = isToSend ? 'to send' : 'acknowledged';
  return ['export', main, ...DEAL_CELLS.slice(1).filter((cell) => cell !== main && sum.count(cell) > 0)];
}

/** `counts`: cells without their amounts. */
function dealSection(
  by: 'stage' | 'owner',
  { rows, all }: DealTable,
  amounts: readonly DealCell[],
  counts: readonly DealCell[],
): Section {
  const hasSeveral = all.length > 1;
  const line = ({ name, currency, sum }: DealRow): Cell[] => [
    name,
    ...(hasSeveral ? [currencyText(currency)] : []),
    ...amounts.flatMap((cell): Cell[] => [sum.count(cell), { amount: sum.amount(cell), currency }]),
    ...counts.map((cell) => sum.count(cell)),
  ];
  return sectionOf({
    id: `${by}s`,
    title: `Deals by ${by}`,
    columns: [
      column('text', by),
      ...(hasSeveral ? [column('label')] : []),
      ...amounts.flatMap((cell): CellColumn[] => [column('number'), column('amount', cell)]),
      ...counts.map((cell) => column('number', cell)),
    ],
    rows: rows.map(line),
    totals: all.map((each) => {
      const unread = each.sum.unread === 0 ? '' : ` (${counted(each.sum.unread, 'amount')} unreadable)`;
      return line({ ...each, name: `${hasSeveral ? 'all' : `all, ${currencyText(each.currency)}`}${unread}` });
    }),
  });
}

export const EQUAL = '✓';

function equality(sum: DealSum, isDryRun: boolean): string {
  if (sum.isAll('acknowledged', ...(isDryRun ? (['to send'] as const) : []))) return EQUAL;
  if (sum.differing > 0) return `${numberText(sum.differing)} not as in the export`;
  return DEAL_CELLS.slice(2).some((cell) => sum.count(cell) > 0) ? 'no' : 'the amounts differ';
}

function currencyText(currency: string | null): string {
  return currency ?? 'no currency';
}

function unreadText({ unread }: DealSum): string[] {
  const [have, count] = unread === 1 ? ['has an unreadable amount', 'counts'] : ['have unreadable amounts', 'count'];
  return unread === 0 ? [] : [`${counted(unread, 'deal')} ${have} and ${count} as 0`];
}

function differingNotes({ differing, unknown }: DealSum): string[] {
  if (differing === 0) return [];
  const are = differing === 1 ? 'is' : 'are';
  return [
    `${counted(differing, 'deal')} ${are} in the service with other values than in the export: see changes.csv`,
    ...(unknown === 0 ? [] : [`${numberText(unknown)} of these count as in the export: it is not known what was sent`]),
  ];
}

/** `Deals by stage: 300, EUR 1,384,802.41, equal to the export`. */
function equalText(all: readonly DealRow[], sum: DealSum): string {
  const sums = all.map(({ currency, sum: own }) => {
    return `${numberText(own.count('export'))}, ${currencyText(currency)} ${grouped(own.amount('export'))}`;
  });
  return [`Deals by stage: ${sums.join('; ')}, equal to the export`, ...unreadText(sum)].join('; ');
}
