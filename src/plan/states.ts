import type { EventCounts } from '../vocabulary/terms.ts';

/**
 * The state of an event. Only the judging steps of the survey and the sender set it.
 * - `ready`: to be sent. `retry`: rejected by an earlier run and unchanged since, so tried last.
 * - `held`: not selected by `--pilot`, `--pick` or `--only`. `waiting`: selected, but its parent is held or waiting.
 * - The other states are outcomes.
 */
export type State =
  'ready' | 'retry' | 'held' | 'waiting' | 'acknowledged' | 'duplicate' | 'invalid' | 'rejected' | 'blocked';

const OUTCOME_OF: Readonly<Record<State, Exclude<keyof EventCounts, 'total'>>> = {
  ready: 'pending',
  retry: 'rejected',
  held: 'pending',
  waiting: 'pending',
  acknowledged: 'acknowledged',
  duplicate: 'duplicates',
  invalid: 'invalid',
  rejected: 'rejected',
  blocked: 'blocked',
};

/** What an event in this state counts as. */
export function outcomeOf(state: State): Exclude<keyof EventCounts, 'total'> {
  return OUTCOME_OF[state];
}

/** Whether the event has still to be sent in this run. */
export function isOpen(state: State): boolean {
  return state === 'ready' || state === 'retry';
}

/** Whether the run leaves the event for another one. */
export function isLater(state: State): boolean {
  return state === 'held' || state === 'waiting';
}
