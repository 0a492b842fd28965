/** Deals by old and new stage: in the export and in the service, as bars with their amounts. Owners are folded. */
import { grouped } from '../../decimal.ts';
import { numberText } from '../../terminal/numbers.ts';
import { ControlSum, currencyText, groupTotals, unreadText, type ControlTotal } from '../../report/control-totals.ts';
import { OUTCOMES } from '../../vocabulary/terms.ts';
import type { PageData } from '../page-data.ts';
import { dataTable, externalText, html, legend, section, type Markup, type TableCell } from '../../print/html.ts';

/** Stages or owners that are listed; all others are one row for each currency. */
const MOST_ROWS = 60;

/** What is missing in the service. */
const MISSING = ['invalid', 'rejected', 'blocked', 'pending'] as const;

type Side = 'acknowledged_' | 'planned_';

/** Undefined until the run has ended, and where there are no deals. */
export function stages({ summary, isDryRun }: PageData): Markup | undefined {
  const { totals = [] } = summary ?? {};
  if (totals.length === 0) return undefined;
  // A dry run has sent nothing, so the plan is compared.
  const side: Side = isDryRun ? 'planned_' : 'acknowledged_';
  const hasOwners = totals.some(({ from_owner: from, owner }) => (from ?? owner) !== null);
  const unread = unreadText(totals);
  return section(
    'stages',
    'Deals by stage',
    unread === '' ? undefined : html`<p>${unread}.</p>`,
    legend([
      ['export', 'in the export'],
      ['acknowledged', isDryRun ? 'in the plan' : OUTCOMES.acknowledged],
    ]),
    tableBy('stage', totals, side, (total) => [
      nameText(total, total.from_pipeline, total.from_stage),
      nameText(total, total.pipeline, total.stage),
    ]),
    hasOwners
      ? html`<details>
          <summary>Deals by owner</summary>
          ${tableBy('owner', totals, side, (total) => [nameText(total, total.from_owner), nameText(total, total.owner)])}
        </details>`
      : undefined,
  );
}

type OldAndNew = readonly [from: string, to: string];

function tableBy(
  title: string,
  totals: readonly ControlTotal[],
  side: Side,
  namesOf: (total: ControlTotal) => OldAndNew,
): Markup {
  const groups = [...groupTotals(totals, (total) => JSON.stringify([namesOf(total), currencyText(total)])).values()]
    .map((group) => ({ names: namesOf(group[0]!), group, count: ControlSum.of(group).figures.count }))
    .sort((one, other) => other.count - one.count || one.names[0].localeCompare(other.names[0], 'en'));
  const most = Math.max(1, ...groups.map(({ count }) => count));
  const rest = groupTotals(
    groups.slice(MOST_ROWS).flatMap(({ group }) => group),
    currencyText,
  );
  const rows = [
    ...groups.slice(0, MOST_ROWS).map(({ names, group }) => row(nameMarkup(names), group, side, most)),
    ...[...rest].map(([, group]) => row(`all other ${title}s`, group, side, most)),
  ];
  const sums = [...groupTotals(totals, currencyText).values()].map((group) => row('All', group, side, undefined));
  const there = side === 'planned_' ? 'In the plan' : 'In the service';
  return dataTable(
    `Number of deals, and their amounts, by ${title}`,
    [`Old ${title} → new ${title}`, 'In the export', there, 'Equal'],
    rows,
    ...sums,
  );
}

function nameMarkup([from, to]: OldAndNew): Markup {
  return from === to ? externalText(from, 80) : html`${externalText(from, 80)} → ${externalText(to, 80)}`;
}

/** `most`: the number of deals that is as long as the column; without it, there are no bars. */
function row(
  name: Markup | string,
  group: readonly ControlTotal[],
  side: Side,
  most: number | undefined,
): readonly TableCell[] {
  const { figures } = ControlSum.of(group);
  const cell = (part: Side | ''): TableCell => ({
    right: html`${numberText(figures[`${part}count`])}<br /><span class="soft"
        >${externalText(currencyText(group[0]!), 20)} ${grouped(figures[`${part}amount`])}</span
      >`,
  });
  const isEqual = figures.count === figures[`${side}count`] && figures.amount === figures[`${side}amount`];
  const missing = MISSING.filter(
    (outcome) => figures[`${outcome}_count`] > 0 && (side !== 'planned_' || outcome !== 'pending'),
  );
  const texts = missing.map((outcome) => `${numberText(figures[`${outcome}_count`])} ${OUTCOMES[outcome]}`);
  const why = texts.length === 0 ? 'the amounts differ' : texts.join(', ');
  return [
    html`${name}${most === undefined ? undefined : bars(figures.count, figures[`${side}count`], most)}`,
    cell(''),
    cell(side),
    isEqual
      ? html`<span class="tick" role="img" aria-label="equal">✓</span>`
      : html`<a class="no" href="#missing">${why}</a>`,
  ];
}

function bars(exported: number, there: number, most: number): Markup {
  const width = (count: number): string => ((count / most) * 1000).toFixed(1);
  return html`<svg class="pair" viewBox="0 0 1000 18" preserveAspectRatio="none" aria-hidden="true">
    <rect class="export" width="${width(exported)}" height="8" />
    <rect class="acknowledged" y="10" width="${width(there)}" height="8" />
  </svg>`;
}

function nameText({ others }: ControlTotal, ...names: readonly (string | null)[]): string {
  const known = names.filter((name) => name !== null);
  return others ? 'all others' : known.length === 0 ? '–' : known.join(' / ');
}
