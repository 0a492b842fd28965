import { unlink } from 'node:fs/promises';
import { newHeader } from '../checkpoint/binding.ts';
import { IDS_FILE, openIds } from '../checkpoint/ids.ts';
import { CHECKPOINT_FILE } from '../checkpoint/lines.ts';
import type { LoadedCheckpoint } from '../checkpoint/load.ts';
import { CheckpointWriter } from '../checkpoint/write.ts';
import { systemClock } from '../clock.ts';
import { EXIT } from '../errors.ts';
import { isStateLost, STOPPED, type Halt } from '../halt.ts';
import type { Mapping } from '../mapping/mapping.ts';
import { entityOf, EVENT_TYPES } from '../model.ts';
import { allowedErrors } from '../plan/counts.ts';
import type { Plan } from '../plan/plan.ts';
import type { Survey } from '../plan/survey.ts';
import { reportIssue } from '../plan/verdicts.ts';
import type { ErrorReport } from '../report/error-report.ts';
import type { History } from '../report/history.ts';
import type { RunLog } from '../run-log.ts';
import type { Account } from '../service/account.ts';
import type { Client } from '../service/client.ts';
import type { Limiter } from '../service/limiter.ts';
import type { RunSettings } from '../settings.ts';
import type { StateDir } from '../state-dir.ts';
import { TOOL } from '../version.ts';
import { Deliverer } from './deliver.ts';
import { Sender } from './sender.ts';

export interface SendingJob {
  readonly settings: RunSettings;
  readonly mapping: Mapping;
  readonly state: StateDir;
  readonly target: {
    readonly baseUrl: string;
    readonly client: Client;
    readonly limiter: Limiter;
    readonly account: Account;
  };
  readonly survey: Survey;
  readonly checkpoint: LoadedCheckpoint;
  /** Receives what is written to the checkpoint. */
  readonly history: History;
  readonly halt: Halt;
  readonly log: RunLog;
  /** Throws a `UserError` if another run has taken the lock of the state directory. */
  readonly confirmLock: () => Promise<void>;
  /** Called before the first event is sent. */
  readonly started: (deliverer: Deliverer) => Promise<void>;
}

/**
 * Sends the plan in its order (see `SendOrder`).
 * Returns when every event is settled or `halt` was requested, with nothing in flight. Throws a `UserError` (exit 2) if
 * the state directory cannot be written before the first event.
 */
export async function sendPlan(job: SendingJob): Promise<Sender> {
  const { settings, state, target, survey, checkpoint, halt, log } = job;
  const { plan, order, report, compiled } = survey;
  const path = state.file(CHECKPOINT_FILE);
  await job.confirmLock();
  const writer = await beginCheckpoint(path, job);
  const ids = await openIds(state.file(IDS_FILE), path, checkpoint.named);
  const deliverer = new Deliverer({
    client: target.client,
    limiter: target.limiter,
    halt,
    clock: systemClock,
    concurrency: settings.concurrency,
    maxOutageMs: settings.maxOutage,
    beforeSend: async (sentId, _type, _ready, { id, fields, ready: { type, externalId, sha } }) => {
      await job.confirmLock();
      if (sentId !== id) return;
      await writer.sent({
        kind: 'sent',
        id,
        type,
        external_id: externalId ?? null,
        content_sha: sha,
        fields: entityOf(type) === 'comment' ? undefined : fields,
      });
    },
    log: (event, fields) => log.write(event, fields),
  });
  const sender = new Sender({
    plan,
    order,
    policies: compiled.entries.map(({ policies }) => policies),
    deliverer,
    checkpoint: writer,
    hasher: checkpoint.hasher,
    ids,
    report,
    halt,
    concurrency: settings.concurrency,
    maxRejectionsInARow: settings.maxRejectionsInARow,
    maxRejections: allowedErrors(settings.maxErrors, plan),
    maxRequests: settings.maxRequests,
    requests: () => target.client.requests,
    isFirstRun: !settings.adopt && checkpoint.ledger.settled === 0 && checkpoint.lastRun === undefined,
  });
  await job.started(deliverer);
  const stopAlarm = settings.until && haltAt(settings.until, halt);
  try {
    await sender.sendAll();
  } finally {
    stopAlarm?.();
    deliverer.close();
    await writer.close();
    await ids.close();
  }
  const stopped = halt.reason?.code;
  if (stopped === STOPPED.unknownHistory) await unlink(path);
  else if (stopped !== STOPPED.notWritten && !isStateLost(stopped)) await reportUntried(plan, report);
  return sender;
}

/** After a stop: also reports the events that an earlier run saw rejected and that this run did not retry. */
async function reportUntried(plan: Plan, report: ErrorReport): Promise<void> {
  for (const type of EVENT_TYPES) {
    for (const ordinal of plan.inState(type, 'retry')) {
      await reportIssue(plan, report, plan.read(type, ordinal), ordinal, UNTRIED);
    }
  }
}

const UNTRIED = {
  severity: 'error',
  kind: 'send',
  code: 'rejected_earlier',
  message: 'rejected by an earlier run; this run stopped before retrying it',
} as const;

/** Written to disk before anything is sent: a directory that is not writable is detected here (exit 2). */
async function beginCheckpoint(
  path: string,
  { checkpoint, history, mapping, target, survey }: SendingJob,
): Promise<CheckpointWriter> {
  const writer = await CheckpointWriter.open(path, checkpoint, (line) => history.take(line));
  await writer.begin([
    ...(checkpoint.header ? [] : [newHeader(mapping.migration, target.baseUrl, target.account)]),
    {
      kind: 'run',
      tool: TOOL,
      mapping_sha256: mapping.sha256,
      inputs: survey.inputs,
      field_key: checkpoint.hasher.keyId,
      at: new Date().toISOString(),
    },
    ...survey.plan.compared,
  ]);
  return writer;
}

/** Checks the wall clock every second: a single timer would be late by the time that the machine slept. */
function haltAt(time: Date, halt: Halt): () => void {
  const check = (): void => {
    if (systemClock.wall() < time.getTime()) return;
    halt.request({ code: 'until', message: 'the time given with --until was reached', exitCode: EXIT.stopped });
  };
  return systemClock.every(1000, check);
}
