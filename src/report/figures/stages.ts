/** Control totals: the deals by old and new stage and owner, for the customer to sign. */
import {
  ControlSum,
  currencyText,
  groupTotals,
  unreadText,
  type ControlTotal,
  type Part,
} from '../files/control-totals.ts';
import { grouped } from '../../decimal.ts';
import { counted, numberText, countTexts } from '../words/numbers.ts';
import { column, LIMITS, sectionOf, type Cell, type CellColumn, type Section } from './figures.ts';

const HEADS: Partial<Readonly<Record<Part, string>>> = {
  '': 'export',
  acknowledged_: 'acknowledged',
  due_: 'to send',
  differing_: 'of these, differing',
  later_: 'later',
};

/** Undefined if there are no deals. A run that sent all of them says so in one line. */
export function stagesSection(totals: readonly ControlTotal[], isDryRun: boolean): Section | undefined {
  if (totals.length === 0) return undefined;
  const all = ControlSum.of(totals).figures;
  if (!isDryRun && isEqual(all, 'acknowledged_')) {
    return sectionOf({ id: 'stages', notes: [equalText(totals)] });
  }
  const parts = (['', 'acknowledged_', 'differing_', 'due_', 'later_'] as const).filter(
    (part) => part === '' || part === (isDryRun ? 'due_' : 'acknowledged_') || all[`${part}count`] > 0,
  );
  const stageText = stageTexts(totals);
  const currencies = [...groupTotals(totals, currencyText)];
  const hasSeveral = currencies.length > 1;
  const groups = [...groupTotals(totals, (total) => JSON.stringify([stageText(total), currencyText(total)])).values()];
  const cells = (name: string, group: readonly ControlTotal[]): Cell[] => {
    const { figures } = ControlSum.of(group);
    const { currency } = group[0]!;
    return [
      name,
      ...(hasSeveral ? [currencyText(group[0]!)] : []),
      ...parts.flatMap((part): Cell[] => [figures[`${part}count`], { amount: figures[`${part}amount`], currency }]),
    ];
  };
  return sectionOf({
    id: 'stages',
    title: 'Deals by stage',
    columns: [
      column('text'),
      ...(hasSeveral ? [column('label')] : []),
      ...parts.flatMap((part): CellColumn[] => [column('number'), column('amount', HEADS[part])]),
    ],
    rows: groups
      .map((group) => ({ group, figures: ControlSum.of(group).figures }))
      .sort(
        (one, other) =>
          other.figures.count - one.figures.count || Number(other.figures.amount) - Number(one.figures.amount),
      )
      .map(({ group }) => cells(stageText(group[0]!), group)),
    totals: currencies.map(([currency, group]) =>
      cells(`${hasSeveral ? 'all' : `all, ${currency}`}${unreadIn(group)}`, group),
    ),
    limit: LIMITS.stages,
  });
}

/** Whether this part is all that the export has, with its values. */
function isEqual(figures: ControlSum['figures'], part: 'planned_' | 'acknowledged_'): boolean {
  const { count, amount, differing_count: differing } = figures;
  return (
    count === figures[`${part}count`] && amount === figures[`${part}amount`] && (part === 'planned_' || differing === 0)
  );
}

/** `Closed Won -> Sales / Won`: with the old pipeline where stages of several have that name; once, if both are the same. */
function stageTexts(totals: readonly ControlTotal[]): (total: ControlTotal) => string {
  const pipelines = new Map<string | null, Set<string | null>>();
  for (const { from_stage: stage, from_pipeline: pipeline } of totals) {
    pipelines.set(stage, (pipelines.get(stage) ?? new Set()).add(pipeline));
  }
  return (total) => {
    if (total.others) return 'other stages';
    const isAmbiguous = (pipelines.get(total.from_stage)?.size ?? 0) > 1;
    const from = nameOf(isAmbiguous || total.from_stage === null ? total.from_pipeline : null, total.from_stage);
    const to = nameOf(total.pipeline, total.stage);
    return from === to ? from : `${from} -> ${to}`;
  };
}

function nameOf(pipeline: string | null, stage: string | null): string {
  return [pipeline, stage].filter((name) => name !== null).join(' / ') || '–';
}

/** An amount that could not be read counts as 0. */
function unreadIn(group: readonly ControlTotal[]): string {
  const { unread } = ControlSum.of(group);
  return unread === 0 ? '' : ` (${counted(unread, 'amount')} unreadable)`;
}

/** `Deals by stage: 300, EUR 1,384,802.41, equal to the export`. */
function equalText(totals: readonly ControlTotal[]): string {
  const sums = [...groupTotals(totals, currencyText)].map(([currency, group]) => {
    const { figures } = ControlSum.of(group);
    return `${numberText(figures.count)}, ${currency} ${grouped(figures.amount)}`;
  });
  const unread = unreadText(totals);
  return `Deals by stage: ${sums.join('; ')}, equal to the export${unread === '' ? '' : `; ${unread}`}`;
}

/** Stages or owners that a page lists; all others are one row for each currency. */
const MOST_ROWS = 60;

const EQUAL = '✓';

/**
 * The same to sign: by stage and by owner, the deals of the export beside those of the service (of a dry run: of the plan), and a tick
 * where they are equal. None where there are no deals; no owners where no deal has one.
 */
export function signedSections(totals: readonly ControlTotal[], isDryRun: boolean): readonly Section[] {
  if (totals.length === 0) return [];
  const hasOwners = totals.some(({ from_owner: from, owner }) => (from ?? owner) !== null);
  const unread = unreadText(totals);
  return [
    {
      ...signedSection('stage', totals, isDryRun, (total) => [
        nameOf(total.from_pipeline, total.from_stage),
        nameOf(total.pipeline, total.stage),
      ]),
      notes: unread === '' ? [] : [`${unread}.`],
    },
    ...(hasOwners
      ? [
          signedSection('owner', totals, isDryRun, (total) => [
            nameOf(null, total.from_owner),
            nameOf(null, total.owner),
          ]),
        ]
      : []),
  ];
}

function signedSection(
  noun: 'stage' | 'owner',
  totals: readonly ControlTotal[],
  isDryRun: boolean,
  namesOf: (total: ControlTotal) => readonly [from: string, to: string],
): Section {
  const nameText = (total: ControlTotal): string => {
    const [from, to] = namesOf(total);
    return total.others ? `all other ${noun}s` : from === to ? from : `${from} → ${to}`;
  };
  const groups = [...groupTotals(totals, (total) => JSON.stringify([nameText(total), currencyText(total)])).values()]
    .map((group) => ({ name: nameText(group[0]!), group, count: ControlSum.of(group).figures.count }))
    .sort((one, other) => other.count - one.count || one.name.localeCompare(other.name, 'en'));
  const rest = groups.slice(MOST_ROWS).flatMap(({ group }) => group);
  const cells = (name: string, group: readonly ControlTotal[]): Cell[] => signedCells(name, group, isDryRun);
  return sectionOf({
    id: `${noun}s`,
    title: `Deals by ${noun}`,
    columns: [
      { head: `old ${noun} → new ${noun}`, kind: 'text' },
      column('number', 'in the export'),
      column('amount'),
      column('number', isDryRun ? 'in the plan' : 'in the service'),
      column('amount'),
      column('text', 'equal'),
    ],
    rows: [
      ...groups.slice(0, MOST_ROWS).map(({ name, group }) => cells(name, group)),
      ...[...groupTotals(rest, currencyText).values()].map((group) => cells(`all other ${noun}s`, group)),
    ],
    totals: [...groupTotals(totals, currencyText).values()].map((group) => cells('All', group)),
  });
}

function signedCells(name: string, group: readonly ControlTotal[], isDryRun: boolean): Cell[] {
  const { figures } = ControlSum.of(group);
  // A dry run has sent nothing: what the plan would send is compared.
  const side = isDryRun ? 'planned_' : 'acknowledged_';
  const currency = currencyText(group[0]!);
  const missing = countTexts(
    [figures.invalid_count, 'to fix'],
    [figures.rejected_count, 'refused by the service'],
    [figures.blocked_count, 'waiting'],
    [isDryRun ? 0 : figures.pending_count, 'not sent yet'],
    [isDryRun ? 0 : figures.differing_count, 'not as in the export'],
  );
  return [
    name,
    figures.count,
    { amount: figures.amount, currency },
    figures[`${side}count`],
    { amount: figures[`${side}amount`], currency },
    isEqual(figures, side) ? EQUAL : missing.join(', ') || 'the amounts differ',
  ];
}
