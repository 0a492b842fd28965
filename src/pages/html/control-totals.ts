/** Deals by old and new stage, and by old and new owner, as tables that add up. */
import { grouped } from '../../decimal.ts';
import { numberText } from '../../terminal/numbers.ts';
import { ControlSum, currencyText, groupTotals, unreadText, type ControlTotal } from '../../report/control-totals.ts';
import { OUTCOMES } from '../../vocabulary/terms.ts';
import { ofSeverity } from '../../report/findings.ts';
import type { PageData } from '../page-data.ts';
import { dataTable, externalText, html, section, type TableCell, type Markup } from '../../print/html.ts';

/** What is missing in the service, and the section of the page that says why. */
const MISSING = [
  ['invalid', 'errors'],
  ['rejected', 'errors'],
  ['blocked', 'errors'],
  ['pending', 'left-behind'],
] as const;

const HEADS = ['Currency', 'In the export', 'In the plan', 'In the service', 'Not in the service'];

/** Undefined until the run has ended. */
export function controlTotals({ summary, findings }: PageData): Markup | undefined {
  const { totals = [] } = summary ?? {};
  if (totals.length === 0) return undefined;
  const cells = (group: readonly ControlTotal[]): TableCell[] =>
    figuresOf(group, ofSeverity(findings, 'error').length > 0);
  const byCurrency = [...groupTotals(totals, currencyText)].map(([currency, group]) => [
    'All',
    '',
    externalText(currency, 20),
    ...cells(group),
  ]);
  const by = (title: string, namesOf: (total: ControlTotal) => readonly [from: string, to: string]): Markup => {
    const groups = [...groupTotals(totals, (total) => JSON.stringify([namesOf(total), currencyText(total)])).values()];
    const rows = groups
      .map((group) => ({ names: namesOf(group[0]!), group }))
      .sort((a, b) => a.names[0].localeCompare(b.names[0], 'en'))
      .map(({ names, group }) => [
        ...names.map((name) => externalText(name, 80)),
        externalText(currencyText(group[0]!), 20),
        ...cells(group),
      ]);
    const heads = [`Old ${title}`, `New ${title}`, ...HEADS];
    return dataTable(`Deals by ${title}, and their amounts`, heads, rows, ...byCurrency);
  };
  const hasOwners = totals.some(({ from_owner: from, owner }) => (from ?? owner) !== null);
  const unread = unreadText(totals);
  return section(
    'totals',
    'Control totals',
    html`<p>
      In the export = ${OUTCOMES.acknowledged} + ${MISSING.map(([outcome]) => OUTCOMES[outcome]).join(' + ')}, in number
      and in amount. Duplicates are not counted, and updates of deals do not change the
      amounts.${unread === '' ? '' : ` ${unread}.`}
    </p>`,
    by('stage', (total) => [
      nameText(total, total.from_pipeline, total.from_stage),
      nameText(total, total.pipeline, total.stage),
    ]),
    hasOwners ? by('owner', (total) => [nameText(total, total.from_owner), nameText(total, total.owner)]) : undefined,
  );
}

function nameText({ others }: ControlTotal, ...names: readonly (string | null)[]): string {
  const known = names.filter((name) => name !== null);
  return others ? 'all others' : known.length === 0 ? '–' : known.join(' / ');
}

/** Numbers of deals, each with its amount. */
function figuresOf(group: readonly ControlTotal[], hasErrors: boolean): TableCell[] {
  const { figures } = ControlSum.of(group);
  const counted = (['', 'planned_', 'acknowledged_'] as const).map((part) => ({
    right: html`${numberText(figures[`${part}count`])}<br /><span class="soft"
        >${grouped(figures[`${part}amount`])}</span
      >`,
  }));
  const missing = MISSING.flatMap(([outcome, target]) => {
    const count = figures[`${outcome}_count`];
    if (count === 0) return [];
    const text = `${numberText(count)} ${OUTCOMES[outcome]}`;
    const isThere = target !== 'errors' || hasErrors;
    return html`<div>
      ${isThere ? html`<a href="#${target}">${text}</a>` : text}: ${grouped(figures[`${outcome}_amount`])}
    </div>`;
  });
  return [...counted, missing.length === 0 ? '–' : missing];
}
