/** How a run ends that is not stopped: what the service and the input have that is not as it should be. */
import { EXIT, type ExitCode } from '../../errors.ts';
import { allowedErrors, countRecords, countWhere, outcomesOf, totalOf, type CountedState } from '../../plan/counts.ts';
import { DIFFERENCE_CODES, type DifferenceCode } from '../../plan/known/judge-known.ts';
import { countSharedIds } from '../../plan/known/records.ts';
import type { RunSettings } from '../../settings/run-settings.ts';
import type { RunWait } from '../../store/checkpoint.ts';
import type { Database } from '../../store/sqlite.ts';
import type { Survey } from '../../survey/survey.ts';

export interface Ending {
  readonly code: ExitCode;
  /** `done`, or why the run stopped or finished with errors, in snake_case. */
  readonly reason: string;
  /** Why it was stopped before its end, and what to do then. Absent if it was not. */
  readonly message?: string;
  readonly hint?: string;
  /** What it waited for when it was stopped. */
  readonly waits_for?: RunWait;
}

export function refusalOf(
  { maxErrors, maxOmitted }: Pick<RunSettings, 'maxErrors' | 'maxOmitted'>,
  { omitted }: Pick<Survey, 'omitted'>,
  states: readonly CountedState[],
): 'too_many_omitted' | 'too_many_invalid' | undefined {
  if (omitted.excess(maxOmitted).length > 0) return 'too_many_omitted';
  const { invalid, total } = totalOf(Object.values(outcomesOf(states)));
  return invalid > allowedErrors(maxErrors, total) ? 'too_many_invalid' : undefined;
}

/** The ending of a run that was not stopped early. Held events are pending, which is no error; waiting ones were selected. */
export function endingOf(db: Database, states: readonly CountedState[]): Ending {
  const events = totalOf(Object.values(outcomesOf(states)));
  const found = [
    ['rejected', events.rejected],
    ['blocked', events.blocked],
    ['invalid', events.invalid],
    ['unmapped', codeCount(states, 'unmapped')],
    ['unreadable', countRecords(db).unreadable],
    ['same_service_id', countSharedIds(db)],
    ['waiting', countWhere(states, ({ state }) => state === 'waiting')],
    ...DIFFERENCE_CODES.map((code) => [code, codeCount(states, code)] as const),
  ] as const;
  const reason = found.find(([, count]) => count > 0)?.[0];
  return reason ? { code: EXIT.finishedWithErrors, reason } : { code: EXIT.done, reason: 'done' };
}

/** Acknowledged events that are not as the input says. */
export function codeCount(states: readonly CountedState[], code: DifferenceCode | 'unmapped'): number {
  return countWhere(states, (each) => each.state === 'acknowledged' && each.code === code);
}
