import { CHECKPOINT_FILE, type SettledLine } from '../checkpoint/lines.ts';
import { CheckpointReader } from '../checkpoint/read.ts';
import { EVENT_TYPES, type EventType } from '../model.ts';
import type { StateDir } from '../state-dir.ts';
import { History } from './history.ts';
import { readSummary, readSurvey } from './stored.ts';
import {
  SUMMARY_FILE,
  SURVEY_FILE,
  type EventCounts,
  type PriorityCounts,
  type Summary,
  type SurveySnapshot,
} from './summary.ts';

/** The status of a migration, from its state directory only. */
export interface MigrationStatus {
  readonly migration: string | undefined;
  readonly baseUrl: string | undefined;
  /**
   * Where the counts come from. `ended`: the summary of the last run. `under way`: its survey, updated with what has
   * been settled since (the run is in progress or was killed). `unknown totals`: from the checkpoint only.
   */
  readonly basis: 'ended' | 'under way' | 'unknown totals';
  readonly byType: Readonly<Partial<Record<EventType, EventCounts>>>;
  readonly events: EventCounts;
  /** Summary of the last run that ended. */
  readonly summary: Summary | undefined;
  readonly survey: SurveySnapshot | undefined;
  readonly history: History;
  /** One sentence about damaged lines of the checkpoint, which are skipped here; undefined if there are none. */
  readonly damage: string | undefined;
  /** Settled in the last five minutes, by the last run if its survey is known. */
  readonly recent: number;
  /** Events that the current run still has to send; 0 if none is in progress. */
  readonly left: number;
  /** The highest first. While a run is under way, `done_at` is null. */
  readonly priorities: readonly (PriorityCounts & { readonly left: number })[];
}

export const RECENT_MS = 5 * 60_000;

/**
 * Reads a state directory repeatedly, without the lock, so that a run can be watched; each time it reads only what was
 * appended to the checkpoint. With a `history`, the checkpoint is not read at all.
 */
export class MigrationStatusReader {
  readonly #state: StateDir;
  #survey: SurveySnapshot | undefined;
  readonly #given: History | undefined;
  #history: History | undefined;
  #checkpoint: CheckpointReader;
  #live = new Map<EventType, EventCounts>();
  #recent: number[] = [];
  #settled = 0;

  constructor(state: StateDir, history?: History) {
    this.#state = state;
    this.#given = history;
    this.#checkpoint = new CheckpointReader(state.file(CHECKPOINT_FILE));
  }

  async read(now = Date.now()): Promise<MigrationStatus> {
    const [summary, survey] = await Promise.all([
      readSummary(this.#state.file(SUMMARY_FILE)),
      readSurvey(this.#state.file(SURVEY_FILE)),
    ]);
    const history = this.#given ?? (await this.#catchUp(survey));
    this.#recent = this.#recent.filter((at) => at > now - RECENT_MS);
    const common = {
      migration: summary?.migration ?? survey?.migration ?? history.header?.migration,
      baseUrl: survey?.base_url ?? summary?.base_url ?? history.header?.base_url,
      summary,
      survey,
      history,
      damage: damageText(this.#checkpoint.damagedLines),
      recent: this.#recent.length,
    };
    if (summary && (!survey || summary.finished_at >= survey.at)) {
      const priorities = (summary.priorities ?? []).map((each) => {
        // An estimate holds for a run that goes on.
        const isEstimate = !summary.dry_run && each.done_at !== null && each.done_at >= summary.finished_at;
        return { ...each, left: 0, ...(isEstimate ? { done_at: null } : {}) };
      });
      return { ...common, left: 0, priorities, basis: 'ended', byType: summary.by_type, events: summary.events };
    }
    if (survey) {
      const left = Math.max(0, survey.to_send - this.#settled);
      return { ...common, left, priorities: this.#priorities(survey), basis: 'under way', ...summed(this.#live) };
    }
    return { ...common, left: 0, priorities: [], basis: 'unknown totals', ...summed(settledOnly(history)) };
  }

  /** Events are settled in the order of priorities, so their number tells how far each is. */
  #priorities({ priorities = [] }: Partial<SurveySnapshot>): MigrationStatus['priorities'] {
    let settled = this.#settled;
    return priorities.map(({ priority, events, acknowledged, to_send: toSend }) => {
      const own = Math.min(settled, toSend);
      settled -= own;
      return { priority, events, acknowledged: acknowledged + own, left: toSend - own, done_at: null };
    });
  }

  /** Reads what has been appended to the checkpoint since the last call; all of it after a new survey. */
  async #catchUp(survey: SurveySnapshot | undefined): Promise<History> {
    const history = this.#history && survey?.at === this.#survey?.at ? this.#history : this.#begin(survey);
    for await (const lines of this.#checkpoint.pieces()) for (const line of lines) history.take(line);
    return history;
  }

  #begin(survey: SurveySnapshot | undefined): History {
    this.#survey = survey;
    this.#recent = [];
    this.#settled = 0;
    this.#live = new Map(
      Object.entries(survey?.by_type ?? {}).map(([type, counts]) => [type as EventType, { ...counts }]),
    );
    this.#checkpoint = new CheckpointReader(this.#checkpoint.path);
    this.#history = new History((line, wasRejected) => this.#take(line, wasRejected));
    return this.#history;
  }

  #take({ type, status, at }: SettledLine, wasRejected: boolean): void {
    if (this.#survey && at < this.#survey.at) return;
    const time = Date.parse(at);
    if (time > Date.now() - RECENT_MS) this.#recent.push(time);
    const counts = this.#live.get(type);
    if (!counts) return;
    this.#settled += 1;
    counts[wasRejected ? 'rejected' : 'pending'] -= 1;
    counts[status] += 1;
  }
}

function damageText([first, ...others]: readonly number[]): string | undefined {
  if (first === undefined) return undefined;
  const lines = others.length === 0 ? `line ${first}` : `line ${first} and ${others.length} more`;
  return `The checkpoint is damaged (${lines}): damaged lines are not counted here, and \`run\` sends nothing until they are removed.`;
}

function settledOnly(history: History): Map<EventType, EventCounts> {
  const counts = EVENT_TYPES.map((type): [EventType, EventCounts] => {
    const acknowledged = history.acknowledged.get(type) ?? 0;
    const rejected = history.rejected(type);
    return [type, { ...none(), total: acknowledged + rejected, acknowledged, rejected }];
  });
  return new Map(counts.filter(([, { total }]) => total > 0));
}

function summed(byType: ReadonlyMap<EventType, EventCounts>): Pick<MigrationStatus, 'byType' | 'events'> {
  const events = none();
  for (const counts of byType.values()) {
    for (const name of Object.keys(events) as (keyof EventCounts)[]) events[name] += counts[name];
  }
  return { byType: Object.fromEntries(byType), events };
}

function none(): EventCounts {
  return { total: 0, acknowledged: 0, duplicates: 0, invalid: 0, rejected: 0, blocked: 0, pending: 0 };
}
