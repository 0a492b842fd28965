/** Key figures, outcomes by type, what was not migrated, and throughput. */
import { EVENT_TYPES, type EventType } from '../../model.ts';
import { percentText } from '../../numbers.ts';
import type { EventCounts } from '../../report/summary.ts';
import { durationText } from '../../report/text.ts';
import { capital, OUTCOMES, OUTCOME_NAMES as NAMES, typeName } from '../../report/words.ts';
import { LIVE_HOURS, type PageData } from '../page-data.ts';
import { prioritiesNow } from '../status-text.ts';
import { totalOfBin, type Bin } from '../timeline.ts';
import { rateFactor, throughputChart } from './chart.ts';
import { limitPerMinute } from './head.ts';
import { html, type Markup } from './markup.ts';
import { coded, dataTable, externalId, externalText, number, section, time } from './parts.ts';

const LAYERS = [
  ['lead', 'leads'],
  ['deal', 'deals'],
  ['comment', 'comments'],
  ['rejected', 'rejected'],
] as const satisfies readonly (readonly [keyof Bin, string])[];

export function figures({ status: { events } }: PageData): Markup {
  const failed = events.invalid + events.rejected + events.blocked;
  const share = events.total === 0 ? '' : ` (${percentText(events.acknowledged, events.total, 1)})`;
  return html`<ul class="figures">
<li><b>${number(events.total)}</b> events in the input</li>
<li class="good"><b>${number(events.acknowledged)}</b> in the service${share}</li>
<li${failed > 0 ? html` class="bad"` : undefined}><b>${number(failed)}</b> not accepted</li>
<li><b>${number(events.pending)}</b> not sent yet</li>
</ul>`;
}

export function outcome(report: PageData): Markup {
  const { status } = report;
  const { byType, events } = status;
  const cells = (counts: EventCounts): string[] => [number(counts.total), ...NAMES.map((name) => number(counts[name]))];
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
      [
        { title: 'Records' },
        { title: 'Total', numeric: true },
        ...NAMES.map((name) => ({ title: capital(OUTCOMES[name]), numeric: true })),
      ],
      types.map(({ type, counts }) => [coded(typeName(type), type), ...cells(counts)]),
      ['All', ...cells(events)],
    ),
    status.priorities.length < 2 ? undefined : priorities(report),
  );
}

function priorities(data: PageData): Markup {
  return dataTable(
    'Events by priority, in the order in which they are sent',
    [{ title: 'Priority' }, ...['Events', 'In the service', 'Done'].map((title) => ({ title, numeric: true }))],
    prioritiesNow(data).map((each) => [
      String(each.priority),
      number(each.events),
      number(each.acknowledged),
      each.done_at === null
        ? '–'
        : html`${new Date(each.done_at) > data.now ? 'about ' : ''}${time(each.done_at, data.timezone)}`,
    ]),
  );
}

function bar(type: EventType, counts: EventCounts): Markup {
  let x = 0;
  const total = Math.max(1, counts.total);
  const parts = NAMES.map((name) => {
    const width = (counts[name] / total) * 1000;
    const rect = html`<rect class="${name}" x="${x.toFixed(2)}" width="${width.toFixed(2)}" height="10" />`;
    x += width;
    return width > 0 ? rect : html``;
  });
  const texts = NAMES.filter((name) => counts[name] > 0).map((name) => `${number(counts[name])} ${OUTCOMES[name]}`);
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

/** Classes with their names. */
function legend(entries: readonly (readonly [string, string])[]): Markup {
  return html`<ul class="legend" aria-hidden="true">
    ${entries.map(([style, name]) => html`<li><i class="${style}"></i>${name}</li>`)}
  </ul>`;
}

/** Undefined if nothing was answered. The live page has the last hours, against the limit. */
export function throughput(data: PageData): Markup | undefined {
  const { periods, runs, timezone, isAlive, isDryRun } = data;
  if (isDryRun || periods.periods.length === 0) return undefined;
  const limit = isAlive ? limitPerMinute(data) : undefined;
  const { step } = periods;
  const all = periods.periods.flatMap(({ from, bins }) => bins.map((bin, place) => ({ at: from + place * step, bin })));
  const settled = all.reduce((sum, { bin }) => sum + totalOfBin(bin), 0);
  const unit = step === 60 ? 'minute' : step === 1 ? 'second' : durationText(step);
  return section(
    'throughput',
    isAlive ? `Throughput in the last ${LIVE_HOURS} hours` : 'Throughput over time',
    html`<p>
      ${number(settled)} answers from the service,
      ${
        rateFactor(step) === 1 ? `shown as events per ${unit}` : `shown as events per minute, in steps of ${unit}`
      }${periods.periods.length > 1 ? '; long pauses are cut out and marked with a dashed line' : ''}${limit === undefined ? '' : '; the red line is the limit'}.
    </p>`,
    html`<div
      class="wide"
      tabindex="0"
      role="region"
      aria-label="Chart of events answered over time; the numbers are in the table below"
    >
      ${throughputChart(periods, { limit, timezone })}
    </div>`,
    legend(all.some(({ bin }) => bin.rejected > 0) ? LAYERS : LAYERS.slice(0, -1)),
    html`<details>
      <summary>Show the numbers</summary>
      ${dataTable(
        `Events answered per ${unit}`,
        [{ title: 'From' }, ...LAYERS.map(([, name]) => ({ title: capital(name), numeric: true }))],
        all
          .filter(({ bin }) => totalOfBin(bin) > 0)
          .map(({ at, bin }) => [
            time(new Date(at * 1000).toISOString(), timezone, step < 60),
            ...LAYERS.map(([layer]) => number(bin[layer])),
          ]),
      )}
    </details>`,
    runs.length === 0
      ? undefined
      : dataTable(
          'Runs that sent events',
          [
            { title: 'Started' },
            { title: 'Last answer' },
            { title: 'In the service', numeric: true },
            { title: 'Rejected', numeric: true },
            { title: 'Duration', numeric: true },
          ],
          runs.map((run) => [
            time(run.at, timezone),
            time(run.last, timezone),
            number(run.acknowledged),
            number(run.rejected),
            durationText((Date.parse(run.last) - Date.parse(run.at)) / 1000),
          ]),
        ),
  );
}

/** Undefined in a report. */
export function latestAnswers({ latest }: PageData): Markup | undefined {
  if (latest.length === 0) return undefined;
  return section(
    'latest',
    'Latest events',
    dataTable(
      'The events answered last, the latest first',
      [{ title: 'Answered' }, { title: 'Event' }, { title: 'External id' }, { title: 'Answer' }],
      latest.map(({ at, type, externalId: id, status, code }) => [
        at,
        type,
        externalId(id),
        status === 'rejected' ? html`rejected (<code>${externalText(code ?? '', 80)}</code>)` : status,
      ]),
    ),
  );
}

/** Everything in the exports that is not in the service, and why. */
export function notInService({ status, findings, isDryRun }: PageData): Markup {
  const { events } = status;
  const records = status.survey?.records;
  const rows = (
    [
      [events.invalid, 'invalid events', 'detected before sending; no requests were used'],
      [events.rejected, 'events rejected by the service', 'the service gave a reason for each'],
      [events.blocked, 'blocked events', 'a record that they depend on was not accepted; they are sent once it is'],
      [
        events.pending,
        'events not sent yet',
        isDryRun ? 'a dry run sends nothing' : 'excluded by --pilot, --pick or --only, or not reached yet',
      ],
      [events.duplicates, 'duplicates', 'another record has the same external id, or later updates replace them'],
      [records?.unreadable ?? 0, 'records that could not be read', 'the record is damaged; see errors.csv'],
      [records?.skipped ?? 0, 'records skipped by the mapping', 'excluded by a condition, or not used by any event'],
      [findings.omissionCount, 'values left out of events', 'the values were invalid or could not be resolved'],
    ] as const
  ).filter(([count]) => count > 0);
  const list =
    rows.length === 0
      ? html`<p>Nothing: every record became an event, and every event is in the service.</p>`
      : dataTable(
          'Records and events that are not in the service',
          [{ title: 'What' }, { title: 'Count', numeric: true }, { title: 'Why' }],
          rows.map(([count, what, why]) => [what, number(count), why]),
        );
  const read = records
    ? html`<p class="soft">
        Records: ${number(records.read)} read = ${number(records.mapped)} mapped + ${number(records.skipped)} skipped +
        ${number(records.unreadable)} unreadable.
      </p>`
    : undefined;
  const more =
    findings.errorCount > 0
      ? html`<p>All errors are listed with their place and reason in <code>errors.csv</code>.</p>`
      : undefined;
  return section('left-behind', 'What was not migrated', list, read, more);
}
