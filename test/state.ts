/** State directories with the content that a test needs, as a run would have left them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { entityOf, type EventType } from '../src/model.ts';
import type { State } from '../src/plan/states.ts';
import { storeDocument, type Documents } from '../src/report/documents.ts';
import type { StoredSummary, SurveySnapshot } from '../src/report/summary.ts';
import { StateDir } from '../src/state-dir.ts';
import { CHECKPOINT, CHECKPOINT_FILE } from '../src/store/checkpoint-schema.ts';
import { COUNTING_INDEX, PLAN, PLAN_FILE, PLAN_INDEXES } from '../src/store/plan-schema.ts';
import { Database } from '../src/store/sqlite.ts';
import { notStarted } from '../src/summarise.ts';

/** Where a record is: `contacts.csv:17`, or `notes.json#3` for one without a line. */
type At = `${string}:${number}` | `${string}#${number}`;

export interface GivenProblem {
  readonly code: string;
  readonly kind?: string;
  readonly severity?: 'error' | 'warning';
  readonly field?: string;
  readonly message?: string;
  readonly hint?: string;
  /** Of a record that became no event. */
  readonly at?: At;
}

export interface GivenEvent {
  readonly type?: EventType;
  readonly state: State;
  readonly id?: string;
  /** So many equal ones, with ids of their own. */
  readonly times?: number;
  readonly at?: At;
  readonly parent?: readonly ['lead' | 'deal', string];
  readonly code?: string;
  readonly priority?: number;
  readonly isChosen?: boolean;
  readonly isChange?: boolean;
  readonly problem?: GivenProblem;
  readonly omitted?: readonly { readonly field: string; readonly original: string; readonly code: string }[];
}

export interface GivenAnswer {
  readonly type?: EventType;
  readonly id?: string;
  readonly status?: 'acknowledged' | 'rejected';
  readonly code?: string;
  readonly origin?: 'input' | 'second' | 'change' | 'read';
  readonly at: string;
}

export interface GivenState {
  readonly events?: readonly GivenEvent[];
  /** Of records that became no event, or of the input as a whole. */
  readonly problems?: readonly GivenProblem[];
  readonly survey?: Partial<SurveySnapshot>;
  readonly summary?: Partial<StoredSummary>;
  readonly mapping?: Documents['mapping'];
  readonly migration?: { readonly name?: string; readonly base_url?: string; readonly created_at?: string };
  /** Without any, there is no checkpoint. */
  readonly runs?: readonly { readonly at: string; readonly answers: readonly GivenAnswer[] }[];
}

/** A state directory that goes with the test. */
export async function stateDirectory(given: GivenState = {}): Promise<StateDir> {
  const directory = await mkdtemp(join(tmpdir(), 'backfill-state-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const state = await StateDir.existing(directory);
  fillState(state, given);
  return state;
}

/** Writes both databases. A plan is written if there are events, a survey or a summary. */
export function fillState(state: StateDir, given: GivenState): void {
  if (given.events ?? given.survey ?? given.summary) fillPlan(state, given);
  if (given.runs) fillCheckpoint(state, given);
}

const AT = '2026-03-02T20:00:00.000Z';
const RECORDS = { read: 0, mapped: 0, skipped: 0, unreadable: 0 };

function fillPlan(state: StateDir, { events = [], problems = [], survey, summary, mapping }: GivenState): void {
  const db = Database.open(state.file(PLAN_FILE), PLAN);
  const files = new Map<string, number>();
  let lastId = 0;
  const record = (at: At = `input.csv:${lastId + 2}`): number => {
    const [, path, sign, number] = /^(.*)([:#])(\d+)$/s.exec(at)!;
    if (!files.has(path!)) {
      const source = db.insert("insert into source (name, kind, columns) values (?, 'table', '[]')", path!);
      files.set(path!, db.insert('insert into file (source, path) values (?, ?)', source, path!));
    }
    const line = sign === ':' ? Number(number) : 0;
    const values = [files.get(path!)!, line, sign === ':' ? line - 1 : Number(number)] as const;
    return db.insert("insert into record (file, line, number, raw) values (?, ?, ?, '[]')", ...values);
  };
  const problem = (given: GivenProblem, event: number | null, of: number | null): void => {
    const { kind = 'map', code, severity = 'error', field = null, message = '', hint = null } = given;
    db.run(
      'insert into problem (event, record, kind, code, severity, field, message, hint, at) values (?, ?, ?, ?, ?, ?, ?, ?, ?)',
      ...[event, of, kind, code, severity, field, message, hint, AT],
    );
  };
  db.transaction(() => {
    for (const given of events) {
      const { type = 'lead/created', state: inState, parent, times = 1, code = null, priority = 0 } = given;
      for (let n = 0; n < times; n += 1) {
        lastId += 1;
        const of = record(given.at);
        const event = db.insert(
          `insert into event (event_id, type, entity, external_id, record, entry, data, parent_entity, parent_id, priority, state,
             code, is_change, is_chosen) values (?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?)`,
          ...[`e${lastId}`, type, entityOf(type), given.id ?? `r${lastId}`, of],
          ...[inState === 'invalid' ? null : '{}', parent?.[0] ?? null, parent?.[1] ?? null, priority, inState],
          ...[code, Number(given.isChange ?? false), Number(given.isChosen ?? true)],
        );
        if (given.problem) problem(given.problem, event, of);
        for (const { field, original, code: why } of given.omitted ?? []) {
          db.run(
            "insert into omission (event, record, field, original, code, reason) values (?, ?, ?, ?, ?, '')",
            ...[event, of, field, original, why],
          );
        }
      }
    }
    for (const given of problems) problem(given, null, given.at ? record(given.at) : null);
    const common = { migration: 'acme', base_url: 'https://crm.example', records: RECORDS };
    storeDocument(db, 'survey', { ...common, at: AT, rate: { requests: 100, seconds: 60 }, ...survey });
    if (summary) storeDocument(db, 'summary', { ...SUMMARY, ...common, ...summary });
    if (mapping) storeDocument(db, 'mapping', mapping);
    db.exec(PLAN_INDEXES + COUNTING_INDEX);
  });
  db.close();
}

/** Of a run that did nothing. */
const { profile: _profile, ...NOTHING } = notStarted({ dryRun: false, startedAt: new Date(AT), began: 0, exitCode: 0 });
const SUMMARY: StoredSummary = {
  ...NOTHING,
  exit: { code: 0, reason: 'done' },
  finished_at: AT,
  this_run: { ...NOTHING.this_run, seconds: 0 },
};

function fillCheckpoint(state: StateDir, { migration = {}, runs = [] }: GivenState): void {
  const { name = 'acme', base_url: baseUrl = 'https://crm.example', created_at: createdAt = AT } = migration;
  const db = Database.open(state.file(CHECKPOINT_FILE), CHECKPOINT);
  db.transaction(() => {
    db.run("insert into migration values (1, ?, ?, '[]', '[]', ?)", name, baseUrl, createdAt);
    let lastId = 0;
    for (const { at, answers } of runs) {
      const run = db.insert(
        "insert into run (tool, mapping_sha256, inputs, field_key, at) values ('', '', '[]', '', ?)",
        at,
      );
      for (const {
        type = 'lead/created',
        status = 'acknowledged',
        code = null,
        origin = 'input',
        ...answer
      } of answers) {
        lastId += 1;
        const id = `e${lastId}`;
        db.run(
          `insert into request (id, run, origin, type, entity, external_id, for_id, for_type, content, fields, status, code,
             sent_at, settled_at) values (?, ?, ?, ?, ?, ?, ?, ?, '', '{}', ?, ?, ?, ?)`,
          ...[
            id,
            run,
            origin,
            type,
            entityOf(type),
            answer.id ?? `r${lastId}`,
            id,
            type,
            status,
            code,
            answer.at,
            answer.at,
          ],
        );
      }
    }
  });
  db.close();
}
