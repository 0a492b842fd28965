/** The parts of the live page that change. Pure. */
import type { SettledLine } from '../../checkpoint/lines.ts';
import type { CollectedErrors } from '../html/collect.ts';
import { throughputChart } from '../html/chart.ts';
import { html, type Markup } from '../html/markup.ts';
import { figures, outcome } from '../html/outcome.ts';
import { dataTable, externalId, externalText, number, section, time } from '../html/parts.ts';
import { errorsByCode } from '../html/problems.ts';
import type { ReportData } from '../html/report-data.ts';
import { hasDied, paceNow, prioritiesNow, stateText, type StatusView } from '../status-text.ts';
import { clockText, durationText } from '../text.ts';
import { perMinuteAt } from '../../timetable.ts';
import type { RunWait } from './run-wait.ts';

export interface LiveView extends StatusView {
  readonly errors: CollectedErrors;
  /** The events settled last, the latest first. */
  readonly latest: readonly SettledLine[];
  readonly wait: RunWait | undefined;
}

/** By the id of the element that shows them. */
export type LiveSections = Readonly<Record<(typeof SECTIONS)[number], string>>;

export const SECTIONS = [
  'live-state',
  'live-figures',
  'live-pace',
  'live-priorities',
  'live-outcome',
  'live-errors',
  'live-latest',
] as const;

const HOURS = 6;
/** So that six hours are shown in steps of five minutes. */
const MAX_BINS = 72;

const WAITING: Readonly<Record<string, string>> = {
  rate: 'the window of the rate limit is full',
  rate_limited: 'the service answered 429 (too many requests)',
  redis: 'Redis cannot be reached',
  outage: 'the service is down',
  retry: 'events that failed wait to be sent again',
  credentials: 'the service refuses the credentials',
  intercepted: 'requests are refused, but not by the webhook',
};

export function liveSections(view: LiveView): LiveSections {
  const { status, errors, now } = view;
  const report: ReportData = { status, errors, withValues: false, writtenAt: now, ...NOT_SHOWN };
  return {
    'live-state': state(view).text,
    'live-figures': figures(report).text,
    'live-pace': pace(view)?.text ?? '',
    'live-priorities': priorities(view)?.text ?? '',
    'live-outcome': outcome(report).text,
    'live-errors': errorsByCode(report)?.text ?? '',
    'live-latest': latestEvents(view)?.text ?? '',
  };
}

/** Only in the report. */
const NOT_SHOWN: Pick<ReportData, 'omitted' | 'mapping' | 'timezone'> = {
  omitted: { fields: new Map(), count: 0, dropped: undefined },
  mapping: undefined,
  timezone: undefined,
};

function state(view: LiveView): Markup {
  const { status, now } = view;
  const rows: (readonly [string, Markup | string])[] = [
    ['Service', externalText(status.baseUrl ?? 'none yet')],
    ['Last answer', time(status.history.lastAt, undefined)],
  ];
  if (view.holder && status.basis === 'under way') {
    const { perMinute, secondsLeft } = paceNow(view);
    const limit = limitPerMinute(view);
    const allowed = limit === undefined ? '' : `; --rate allows ${number(limit)}`;
    rows.push(['Rate', `${number(Math.round(perMinute))} a minute recently${allowed}`]);
    rows.push(['Left', `${number(status.left)} events${timeLeft(secondsLeft, now)}`]);
    rows.push(['Waits for', waitsFor(view)]);
  }
  return html`<p class="eyebrow">Live status</p>
    <h1>${externalText(status.migration ?? 'unknown')}</h1>
    <p class="state ${level(view)}" role="status">${stateText(view)}</p>
    ${status.damage === undefined ? undefined : html`<p class="notice">${status.damage}</p>`}
    <dl class="facts">
      ${rows.map(
        ([name, value]) =>
          html`<dt>${name}</dt>
            <dd>${value}</dd>`,
      )}
    </dl>`;
}

function level(view: LiveView): 'good' | 'warn' | 'bad' {
  const { status, holder, wait, downSince } = view;
  if (holder) return downSince !== undefined || (wait && wait.reason !== 'rate') ? 'warn' : 'good';
  if (hasDied(view)) return 'bad';
  const code = status.summary?.exit.code ?? 1;
  return code === 0 ? 'good' : code === 1 ? 'warn' : 'bad';
}

function timeLeft(seconds: number | undefined, now: Date): string {
  if (seconds === undefined) return '';
  const end = clockText(new Date(now.getTime() + seconds * 1000), now);
  return `, about ${durationText(seconds)} (until ${end})`;
}

function waitsFor({ wait, downSince, now }: LiveView): string {
  if (downSince !== undefined) {
    return `the service has been down for ${durationText((now.getTime() - Date.parse(downSince)) / 1000)}; the run resumes automatically`;
  }
  if (!wait) return 'nothing';
  const { reason, seconds } = wait;
  return `${WAITING[reason] ?? reason}${reason === 'rate' ? '' : `, for ${durationText(seconds)}`}`;
}

/** What `--rate` of the last run that sent events allows at present. */
function limitPerMinute({ status: { survey }, now }: LiveView): number | undefined {
  return survey && perMinuteAt(survey.rate, now.getTime());
}

/** The rate of the last hours, against the limit. */
function pace(view: LiveView): Markup | undefined {
  const { status, now } = view;
  const periods = status.history.timeline.periods(MAX_BINS, now.getTime() / 1000 - HOURS * 3_600);
  if (periods.periods.length === 0) return undefined;
  const unit = durationText(periods.step);
  const limit = limitPerMinute(view);
  return section(
    'pace',
    `The last ${HOURS} hours`,
    html`<p>
      Events answered
      ${periods.step < 60 ? `in steps of ${unit}` : `per minute, in steps of ${unit}`}${
        limit === undefined ? '' : '; the dashed line is the limit'
      }.
    </p>`,
    html`<div class="wide" tabindex="0" role="region" aria-label="Chart of events answered in the last ${HOURS} hours">
      ${throughputChart(periods, { limit })}
    </div>`,
  );
}

/** Undefined if there is only one. */
function priorities(view: LiveView): Markup | undefined {
  const rows = prioritiesNow(view);
  if (rows.length < 2) return undefined;
  return section(
    'priorities',
    'Progress by priority',
    dataTable(
      'Priorities, the highest first',
      [
        { title: 'Priority' },
        { title: 'events', numeric: true },
        { title: 'acknowledged', numeric: true },
        { title: 'done' },
      ],
      rows.map(({ priority, events, acknowledged, done_at: at }) => [
        String(priority),
        number(events),
        number(acknowledged),
        html`${at !== null && new Date(at) > view.now ? 'about ' : ''}${time(at ?? undefined, undefined)}`,
      ]),
    ),
  );
}

function latestEvents({ latest }: LiveView): Markup | undefined {
  if (latest.length === 0) return undefined;
  return section(
    'latest',
    'Latest events',
    dataTable(
      'The events answered last, the latest first',
      [{ title: 'Answered' }, { title: 'Event' }, { title: 'External id' }, { title: 'Answer' }],
      latest.map(({ at, type, external_id, status, code }) => [
        at,
        type,
        externalId(external_id ?? ''),
        status === 'rejected' ? html`rejected (<code>${externalText(code ?? '', 80)}</code>)` : status,
      ]),
    ),
  );
}
