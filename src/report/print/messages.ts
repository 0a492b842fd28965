/** The messages of `--notify`: the event, the progress of the run, and the next step. Counts alone, no values. Pure. */
import { EXIT } from '../../errors.ts';
import type { HaltReason } from '../../halt.ts';
import { waitingText, type ProgressSnapshot, type TypeProgress } from './progress-text.ts';
import type { Summary } from '../files/summary.ts';
import { durationText } from '../words/times.ts';
import { capital } from '../words/terms.ts';
import { withoutValues } from '../../send/without-values.ts';
import { acknowledgedText } from '../figures/verdict.ts';
import { counted, numberText } from '../words/numbers.ts';
import { PROGRAM } from '../../version.ts';

type NotifyEvent = 'started' | 'held_up' | 'resumed' | 'stopped' | 'ended' | 'interrupted';

/** The body of a notification. Chats show `text`; the rest is for programs. */
export interface Notification {
  readonly text: string;
  readonly event: NotifyEvent;
  readonly migration: string;
  readonly exit: { readonly code: number; readonly reason: string } | null;
  readonly events: { readonly total: number; readonly acknowledged: number; readonly rejected: number } | null;
}

/** The progress of a run that has begun to send. */
export interface Standing {
  readonly types: readonly TypeProgress[];
  readonly pace: ProgressSnapshot;
}

export function started(migration: string, { types, pace }: Standing): Notification {
  const time = pace.secondsLeft === undefined ? '' : `, which takes about ${durationText(pace.secondsLeft)}`;
  return progress('started', migration, types, [`began to send ${counted(pace.left, 'event')}${time}.`]);
}

export function heldUp(
  migration: string,
  { types, pace }: Standing,
  heldUpMs: number,
  maxOutageMs: number,
): Notification {
  const why = pace.waiting ? waitingText({ ...pace.waiting, because: undefined }, pace.now) : 'no answers';
  return progress('held_up', migration, types, [
    `held up for ${durationText(heldUpMs / 1000)}: ${why}.`,
    `It continues by itself, or stops after ${durationText(maxOutageMs / 1000)} (--max-outage) and can then be resumed.`,
  ]);
}

export function resumed(migration: string, { types, pace }: Standing, heldUpMs: number): Notification {
  const left = pace.secondsLeft === undefined ? '' : ` About ${durationText(pace.secondsLeft)} left.`;
  return progress('resumed', migration, types, [
    `sending again after ${durationText(heldUpMs / 1000)} without progress.${left}`,
  ]);
}

/** A run that ended, stopped by itself, or was interrupted. */
export function ended(migration: string, { exit, events }: Summary, halt: HaltReason | undefined): Notification {
  const counts = { total: events.total, acknowledged: events.acknowledged, rejected: events.rejected };
  const isStopped = halt !== undefined || exit.code === EXIT.nothingSent;
  const event = halt?.code === 'interrupted' ? 'interrupted' : isStopped ? 'stopped' : 'ended';
  const what = {
    ended: exit.code === 0 ? 'done.' : 'finished, but not everything was accepted: see errors.csv.',
    interrupted: `${halt?.message}.`,
    stopped: `stopped: ${halt ? withoutValues(halt.message, {}) : 'too many problems in the input, nothing was sent'}.`,
  }[event];
  const next = halt ? [...(halt.hint ? [sentence(halt.hint)] : []), 'Run the same command again to resume.'] : [];
  return {
    ...about(event, migration, [what, countsText({ ...counts, duplicates: events.duplicates }), ...next]),
    exit,
    events: counts,
  };
}

/** A run that could not start, or ended by an unexpected error. `message` is undefined unless the user can fix it. */
export function failed(migration: string, message: string | undefined, code: number): Notification {
  const what = message === undefined ? 'ended by an unexpected error.' : `stopped: ${withoutValues(message, {})}.`;
  const next = 'See the output of the command; nothing that was acknowledged is lost.';
  const reason = message === undefined ? 'unexpected_error' : 'not_started';
  return { ...about('stopped', migration, [what, next]), exit: { code, reason }, events: null };
}

function progress(
  event: NotifyEvent,
  migration: string,
  types: readonly TypeProgress[],
  sentences: readonly string[],
): Notification {
  const sum = (key: 'total' | 'acknowledged' | 'rejected'): number =>
    types.reduce((total, each) => total + each[key], 0);
  const events = { total: sum('total'), acknowledged: sum('acknowledged'), rejected: sum('rejected') };
  return { ...about(event, migration, [...sentences, countsText(events)]), exit: null, events };
}

function about(event: NotifyEvent, migration: string, sentences: readonly string[]) {
  return { text: `${PROGRAM} ${migration}: ${sentences.join(' ')}`, event, migration };
}

function countsText(events: NonNullable<Notification['events']> & { readonly duplicates?: number }): string {
  const failed = events.rejected === 0 ? '' : `, ${numberText(events.rejected)} rejected`;
  return `${acknowledgedText(events)}${failed}.`;
}

function sentence(hint: string): string {
  const text = capital(hint);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
