import type { PriorityCounts } from './summary.ts';
import { clockText } from './text.ts';
import { table } from '../layout.ts';
import { numberText } from '../numbers.ts';

const MOST_ROWS = 10;

/** A table of the priorities and when each is done; empty if there is only one. */
export function prioritiesTable(priorities: readonly PriorityCounts[], now: Date): string {
  if (priorities.length < 2) return '';
  const more = priorities.length - MOST_ROWS;
  return [
    table([
      ['priority', 'events', 'acknowledged', 'done'],
      ...priorities
        .slice(0, MOST_ROWS)
        .map((each) => [
          String(each.priority),
          numberText(each.events),
          numberText(each.acknowledged),
          doneText(each, now),
        ]),
    ]),
    ...(more > 0 ? [`and ${more} lower ones`] : []),
  ].join('\n');
}

/** `about Tue 14:20` while it lies ahead. */
function doneText({ done_at: at }: PriorityCounts, now: Date): string {
  if (at === null) return '–';
  const time = new Date(at);
  return time > now ? `about ${clockText(time, now)}` : clockText(time, now);
}
