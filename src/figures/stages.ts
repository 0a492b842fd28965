/** Control totals: the deals by old and new stage, for the customer to sign. */
import {
  ControlSum,
  currencyText,
  groupTotals,
  unreadText,
  type ControlTotal,
  type Part,
} from '../report/control-totals.ts';
import { grouped } from '../decimal.ts';
import { counted, numberText } from '../terminal/numbers.ts';
import { LIMITS, sectionOf, type Cell, type CellColumn, type Section } from './figures.ts';

const HEADS: Partial<Readonly<Record<Part, string>>> = {
  '': 'export',
  acknowledged_: 'acknowledged',
  due_: 'to send',
  later_: 'later',
};

/** Undefined if there are no deals. A run that sent all of them says so in one line. */
export function stagesSection(totals: readonly ControlTotal[], isDryRun: boolean): Section | undefined {
  if (totals.length === 0) return undefined;
  const all = ControlSum.of(totals).figures;
  if (!isDryRun && all.acknowledged_count === all.count && all.acknowledged_amount === all.amount) {
    return sectionOf({ id: 'stages', title: '', columns: [], rows: [], notes: [equalText(totals)] });
  }
  const parts = (['', 'acknowledged_', 'due_', 'later_'] as const).filter(
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
      { head: '', kind: 'text' },
      ...(hasSeveral ? [{ head: '', kind: 'label' } as const] : []),
      ...parts.flatMap((part): CellColumn[] => [
        { head: '', kind: 'number' },
        { head: HEADS[part]!, kind: 'amount' },
      ]),
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
    limit: { ...LIMITS.stages, noun: 'stage', rest: 'report.html', isSummed: true },
  });
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
