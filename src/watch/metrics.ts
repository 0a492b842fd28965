/** `metrics.prom`: a run in the text format of Prometheus, for the textfile collector of node_exporter. Pure. */
import type { EventCounts } from '../report/words.ts';
import type { ProgressSnapshot } from '../pages/progress-text.ts';

export interface MetricsView {
  readonly migration: string;
  readonly running: boolean;
  /** By event type. */
  readonly events: Readonly<Partial<Record<string, EventCounts>>>;
  readonly requests: number;
  readonly retries: number;
  readonly rateLimited: number;
  readonly pace: ProgressSnapshot | undefined;
  /** Requests per minute that `--rate` allows. */
  readonly allowedPerMinute: number;
  /** Milliseconds since 1970; undefined if nothing was acknowledged in this run. */
  readonly lastAcknowledgedAt: number | undefined;
}

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

export function metricsText(view: MetricsView): string {
  const { migration, pace } = view;
  const events = Object.entries(view.events).flatMap(([type, counts]) =>
    Object.entries(counts!).flatMap(([state, count]): Sample[] =>
      state === 'total' ? [] : [[{ type, state }, count]],
    ),
  );
  const one = (value: number | undefined): Sample[] => (value === undefined ? [] : [[{}, value]]);
  const metrics: [name: string, kind: 'gauge' | 'counter', help: string, samples: readonly Sample[]][] = [
    ['backfill_running', 'gauge', 'Whether the run is active.', one(view.running ? 1 : 0)],
    ['backfill_events', 'gauge', 'Events of the input by type and state.', events],
    ['backfill_requests_total', 'counter', 'Requests that this run has sent with events.', one(view.requests)],
    ['backfill_retries_total', 'counter', 'Requests of this run that repeated an earlier one.', one(view.retries)],
    ['backfill_rate_limited_total', 'counter', 'Answers 429 in this run.', one(view.rateLimited)],
    ['backfill_events_per_minute', 'gauge', 'Events settled per minute, over five minutes.', one(pace?.perMinute)],
    ['backfill_allowed_per_minute', 'gauge', 'Requests per minute allowed by --rate.', one(view.allowedPerMinute)],
    [
      'backfill_waiting_seconds',
      'gauge',
      'How long nothing has been sent, by reason; 0 if events are being sent.',
      pace ? [[{ reason: pace.waiting?.reason ?? 'none' }, (pace.waiting?.forMs ?? 0) / 1000]] : [],
    ],
    ['backfill_left_seconds', 'gauge', 'Estimated time until this run has sent everything.', one(pace?.secondsLeft)],
    [
      'backfill_last_acknowledged_timestamp_seconds',
      'gauge',
      'When this run last received an acknowledgement.',
      one(view.lastAcknowledgedAt === undefined ? undefined : view.lastAcknowledgedAt / 1000),
    ],
  ];
  return metrics
    .filter(([, , , samples]) => samples.length > 0)
    .map(([name, kind, help, samples]) => {
      const lines = samples.map(([labels, value]) => `${name}${labelsText({ migration, ...labels })} ${value}\n`);
      return `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n${lines.join('')}`;
    })
    .join('');
}

function labelsText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => {
    const escaped = value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
    return `${name}="${escaped}"`;
  });
  return `{${pairs.join(',')}}`;
}
