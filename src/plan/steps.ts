/**
 * Once all rows are read: the steps that decide what becomes of every event and which ones a run sends, as data, in their order. Each works
 * on the whole plan in SQL. What it needs was set while reading or by a step before it (test/plan/steps).
 */
import { EVENT_TYPES, isUpdate } from '../kinds/index.ts';
import type { StateDir } from '../files/state-dir.ts';
import type { CompiledEntry, Mapping } from '../mapping/mapping.ts';
import type { Policies } from '../mapping/policies.ts';
import type { Account } from '../service/account.ts';
import type { Client } from '../service/client.ts';
import type { RunSettings } from '../settings/run-settings.ts';
import type { FieldHasher } from '../store/field-hashes.ts';
import { PLAN_FILE, PLAN_INDEXES, type EventColumn } from '../store/plan-schema.ts';
import type { Database } from '../store/sqlite.ts';
import { judgeContacts } from './account/matches.ts';
import { warnOfCustomFields, warnOfInactive } from './account/warnings.ts';
import { judgeKnown } from './known/judge-known.ts';
import { recheck } from './known/recheck.ts';
import { hasRecords } from './known/records.ts';
import { keepSentValues } from './known/sent-values.ts';
import { writeChanges } from './known/changes-file.ts';
import { noteSurvey } from './older.ts';
import { judgeParents, reportBlocked } from './order/parents.ts';
import { liftPriorities } from './order/priorities.ts';
import { choosePilot } from './order/pilot.ts';
import { holdOtherTypes, holdUnpicked } from './order/selection.ts';
import { writeTurns } from './order/turns.ts';
import { combineComments, mayCombine } from './rows/combine.ts';
import { deriveCommentIds } from './rows/comment-ids.ts';
import { judgeDuplicates } from './rows/duplicates.ts';
import { foldRows } from './rows/fold.ts';
import { omitMissingParents, skipOrphans } from './rows/left-out.ts';

/** What a survey is told about a plan; everything else is in it. */
export interface PlanJob {
  readonly settings: Pick<RunSettings, 'selection' | 'concurrency'>;
  readonly mapping: Pick<Mapping, 'region' | 'timezone'>;
  /** The plan that is being written, with the checkpoint attached. */
  readonly db: Database;
  readonly hasher: FieldHasher;
  /** Undefined if it is unknown: names stay unresolved. */
  readonly account: Account | undefined;
  /** Undefined if the network must not be used. */
  readonly client: Client | undefined;
  /** How many leads of the account were read; undefined if they are not looked for. */
  readonly contacts: number | undefined;
  readonly state: StateDir;
  /** Where the plan and the lists for people go: the state directory, or `dry-run/` in it. */
  readonly output: StateDir;
}

interface JudgingJob extends PlanJob {
  readonly entries: readonly CompiledEntry[];
  /** Of the entries. */
  readonly policies: readonly Policies[];
}

/** A column of `event`, or a table of the plan. */
export type PlanFact = EventColumn | 'part' | 'row_of' | 'unused' | 'shown' | 'change' | 'match' | 'turn';

export interface PlanStep {
  readonly name: string;
  readonly needs: readonly PlanFact[];
  /** Also where it sets some of them only for some events. Problems are added by any step. */
  readonly sets: readonly PlanFact[];
  /** Whether it has anything to do; always, by default. */
  readonly isDue?: (job: JudgingJob) => boolean;
  readonly run: (job: JudgingJob) => void | Promise<void>;
}

/** What is known of an event when its row has been read. */
export const READ: readonly PlanFact[] = [
  ...(['id', 'type', 'entity', 'external_id', 'record', 'entry', 'occurred_at', 'data', 'content'] as const),
  ...(['parent_entity', 'parent_id', 'own_priority', 'heading', 'state', 'deal_group', 'amount', 'unused'] as const),
];

/** What `setContent` sets. */
const CONTENT = ['external_id', 'data', 'content', 'parent_entity', 'parent_id', 'state'] as const;
/** What a rejected, blocked or acknowledged event has. */
const OUTCOME = ['state', 'code'] as const;
const PARENT = ['parent_entity', 'parent_id'] as const;

const hasEntry = ({ policies }: JudgingJob, policy: Policies['if_parent_missing']): boolean =>
  policies.some(({ if_parent_missing: each }) => each === policy);

/** What becomes of every event. */
export const JUDGING: readonly PlanStep[] = [
  {
    name: 'comments without an id get one',
    needs: ['external_id', 'data', 'content', 'occurred_at', ...PARENT],
    sets: [...CONTENT, 'is_derived'],
    isDue: ({ db }) =>
      db.get('select 1 from event where external_id is null and data is not null limit 1') !== undefined,
    run: ({ db }) => deriveCommentIds(db),
  },
  {
    name: 'created events with one id',
    needs: ['external_id', 'content', 'state'],
    sets: [...OUTCOME, 'unused'],
    run: ({ db, policies, hasher }) => judgeDuplicates(db, policies, hasher),
  },
  {
    name: 'the rows of a record become one event',
    needs: ['external_id', 'data', 'state', 'own_priority', 'occurred_at', 'deal_group', 'amount'],
    sets: [
      ...CONTENT,
      'code',
      'rows',
      'row_of',
      'field_entries',
      'own_priority',
      'occurred_at',
      'deal_group',
      'amount',
    ],
    isDue: ({ entries }) => entries.some(({ type }) => isUpdate(type)),
    run: ({ db }) => foldRows(db),
  },
  {
    name: 'comments of one parent become one event',
    needs: ['external_id', 'data', 'heading', 'occurred_at', 'own_priority', 'state', ...PARENT],
    sets: [...CONTENT, 'code', 'rows', 'row_of', 'part', 'own_priority'],
    isDue: mayCombine,
    run: combineComments,
  },
  {
    name: 'if_parent_missing: omit',
    needs: ['external_id', 'data', ...PARENT],
    sets: CONTENT,
    isDue: (job) => hasEntry(job, 'omit'),
    run: ({ db, policies }) => omitMissingParents(db, policies),
  },
  {
    name: 'if_parent_missing: skip',
    needs: ['external_id', 'data', 'row_of', 'part', 'unused', ...PARENT],
    sets: ['unused'],
    isDue: (job) => hasEntry(job, 'skip'),
    run: ({ db, policies }) => skipOrphans(db, policies),
  },
  {
    name: 'records that were sent before',
    needs: ['external_id', 'data', 'content', 'field_entries', 'part', 'state'],
    sets: [...OUTCOME, 'sends', 'change', 'shown'],
    isDue: ({ db }) => hasRecords(db),
    async run({ db, policies, hasher, client, settings, mapping, output, state }) {
      const subjects = judgeKnown(db, policies, hasher, { canRead: client !== undefined });
      const { concurrency } = settings;
      if (client) await recheck({ db, hasher, client, concurrency, region: mapping.region }, subjects);
      keepSentValues(db, hasher, state.file(PLAN_FILE));
      writeChanges(db, output);
    },
  },
  {
    name: 'people who are in the account already',
    needs: ['data', 'state'],
    sets: [...OUTCOME, 'match'],
    isDue: ({ contacts }) => contacts !== undefined,
    run: judgeContacts,
  },
  {
    name: 'events follow their parents',
    needs: ['state', ...PARENT],
    sets: OUTCOME,
    run: ({ db, entries }) => judgeParents(db, entries),
  },
  {
    name: 'warnings, and what is blocked',
    needs: ['data', 'state', 'code', ...PARENT],
    sets: [],
    run({ db, entries, account }) {
      warnOfCustomFields(db, entries);
      warnOfInactive(db, account);
      reportBlocked(db);
    },
  },
];

/** Which events this run sends, and in which order. */
export const CHOOSING: readonly PlanStep[] = [
  {
    name: '--only',
    needs: ['state'],
    sets: ['is_chosen', 'state'],
    isDue: ({ settings }) => settings.selection.only.length < EVENT_TYPES.length,
    run({ db, entries, settings: { selection } }) {
      holdOtherTypes(db, selection.only, entries);
      judgeParents(db, entries);
    },
  },
  {
    name: '--pilot, among what is selected and can be sent',
    needs: ['state', 'is_chosen', ...PARENT],
    sets: ['is_chosen', 'state'],
    isDue: ({ settings }) => settings.selection.pilot !== undefined,
    run({ db, entries, settings: { selection } }) {
      choosePilot(db, selection.pilot!);
      judgeParents(db, entries);
    },
  },
  {
    name: '--pick',
    needs: ['state', 'external_id', ...PARENT],
    sets: ['is_chosen', 'state'],
    isDue: ({ settings }) => settings.selection.pick.length > 0,
    run({ db, entries, settings: { selection } }) {
      holdUnpicked(db, selection.pick);
      judgeParents(db, entries);
    },
  },
  {
    name: 'priorities',
    needs: ['own_priority', 'state', ...PARENT],
    sets: ['priority'],
    isDue: ({ db }) => db.get('select 1 from event where own_priority is not null limit 1') !== undefined,
    run: ({ db }) => liftPriorities(db),
  },
  {
    name: 'the order of sending',
    needs: ['priority', 'state', 'sends', 'occurred_at', ...PARENT],
    sets: ['turn'],
    run: ({ db }) => writeTurns(db),
  },
];

export async function judgePlan(job: JudgingJob): Promise<void> {
  job.db.exec(PLAN_INDEXES);
  noteSurvey(job.db);
  await runSteps(JUDGING, job);
}

export async function runSteps(steps: readonly PlanStep[], job: JudgingJob): Promise<void> {
  for (const { isDue, run } of steps) if (isDue?.(job) ?? true) await run(job);
}
