/** Outcomes by type and by priority, and where every record went that is not in the service. */
import { SELECTING_OPTIONS } from '../../settings/run-settings.ts';
import { EVENT_TYPES } from '../../kinds/index.ts';
import type { EventType } from '../../model.ts';
import { numberText } from '../../terminal/numbers.ts';
import type { EventCounts } from '../../vocabulary/terms.ts';
import { capital, OUTCOMES, OUTCOME_NAMES as NAMES, typeName } from '../../vocabulary/terms.ts';
import { countFindings, leftOut, ofSeverity } from '../../report/findings.ts';
import type { PageData } from '../page-data.ts';
import { coded, dataTable, html, legend, section, time, type Markup } from '../../print/html.ts';

export function outcome(data: PageData): Markup {
  const { by_type: byType, events, priorities } = data.status;
  const cells = (counts: EventCounts): number[] => [counts.total, ...NAMES.map((name) => counts[name])];
  const types = EVENT_TYPES.flatMap((type) => (byType[type] ? [{ type, counts: byType[type] }] : []));
  return section(
    'outcome',
    'Outcome by type',
    html`<p>Every event has exactly one outcome: total = ${Object.values(OUTCOMES).join(' + ')}.</p>`,
    html`<ul class="bars">
      ${types.map(({ type, counts }) => html`<li><span>${typeName(type)}</span>${bar(type, counts)}</li> `)}
    </ul>`,
    legend(NAMES.filter((name) => events[name] > 0).map((name) => [name, OUTCOMES[name]])),
    dataTable(
      'Events by type and outcome',
      ['Records', 'Total', ...NAMES.map((name) => capital(OUTCOMES[name]))],
      types.map(({ type, counts }) => [coded(typeName(type), type), ...cells(counts)]),
      ['All', ...cells(events)],
    ),
    priorities.length < 2 ? undefined : priorityTable(data),
  );
}

function priorityTable(data: PageData): Markup {
  return dataTable(
    'Events by priority, in the order in which they are sent',
    ['Priority', 'Events', 'In the service', 'Done'],
    data.status.priorities.map(({ priority, events, acknowledged, done_at: at }) => [
      String(priority),
      events,
      acknowledged,
      at === null ? '–' : html`${new Date(at) > data.now ? 'about ' : ''}${time(at, data.timezone)}`,
    ]),
  );
}

function bar(type: EventType, counts: EventCounts): Markup {
  const total = Math.max(1, counts.total);
  const present = NAMES.filter((name) => counts[name] > 0);
  let x = 0;
  const parts = present.map((name) => {
    const width = (counts[name] / total) * 1000;
    x += width;
    return html`<rect class="${name}" x="${(x - width).toFixed(2)}" width="${width.toFixed(2)}" height="10" />`;
  });
  const texts = present.map((name) => `${numberText(counts[name])} ${OUTCOMES[name]}`);
  return html`<svg
    class="bar"
    viewBox="0 0 1000 10"
    preserveAspectRatio="none"
    role="img"
    aria-label="${typeName(type)}: ${texts.join(', ')}"
  >
    ${parts}
  </svg>`;
}

/** Everything in the exports that is not in the service, and why. */
export function notInService({ status: { events }, survey, findings, isDryRun }: PageData): Markup {
  const records = survey?.records;
  const notYet = isDryRun ? 'a dry run sends nothing' : `excluded by ${SELECTING_OPTIONS}, or not reached yet`;
  const rows = (
    [
      ['invalid events', events.invalid, 'detected before sending; no requests were used'],
      ['events rejected by the service', events.rejected, 'the service gave a reason for each'],
      ['blocked events', events.blocked, 'a record that they depend on was not accepted; they are sent once it is'],
      ['events not sent yet', events.pending, notYet],
      ['duplicates', events.duplicates, 'another record has the same external id, or later updates replace them'],
      ['records that could not be read', records?.unreadable ?? 0, 'the record is damaged; see errors.csv'],
      ['records skipped by the mapping', records?.skipped ?? 0, 'excluded by a condition, or not used by any event'],
      [
        'values left out of events',
        countFindings(leftOut(findings)),
        'the values were invalid or could not be resolved',
      ],
    ] as const
  ).filter(([, count]) => count > 0);
  return section(
    'left-behind',
    'What was not migrated',
    rows.length === 0
      ? html`<p>Nothing: every record became an event, and every event is in the service.</p>`
      : dataTable('Records and events that are not in the service', ['What', 'Count', 'Why'], rows),
    records &&
      html`<p class="soft">
        Records: ${numberText(records.read)} read = ${numberText(records.mapped)} mapped +
        ${numberText(records.skipped)} skipped + ${numberText(records.unreadable)} unreadable.
      </p>`,
    ofSeverity(findings, 'error').length > 0
      ? html`<p>All errors are listed with their place and reason in <code>errors.csv</code>.</p>`
      : undefined,
  );
}
