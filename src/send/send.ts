import { unlink } from 'node:fs/promises';
import { IDS_FILE, openIds } from '../checkpoint/ids.ts';
import { CHECKPOINT_FILE } from '../checkpoint/lines.ts';
import { CheckpointWriter } from '../checkpoint/write.ts';
import { systemClock } from '../clock.ts';
import { EXIT, UserError } from '../errors.ts';
import type { Mapping } from '../mapping/mapping.ts';
import { EVENT_TYPES } from '../model.ts';
import type { RunLog } from '../run-log.ts';
import type { RunSettings } from '../settings.ts';
import type { StateDir } from '../state-dir.ts';
import { TOOL } from '../version.ts';
import { newHeader } from '../checkpoint/binding.ts';
import { createDeliverer, type Deliverer } from './deliver.ts';
import { Dispatcher } from './sender.ts';
import { STOPPED, type Halt } from '../halt.ts';
import { InputChanged, pass, type PassJob } from '../plan/pass.ts';
import type { Surveyed, Target } from '../plan/setup.ts';
import { allowedErrors } from '../summarise.ts';

export interface SendingJob {
  readonly settings: RunSettings;
  readonly mapping: Mapping;
  readonly state: StateDir;
  readonly target: Target;
  readonly found: Surveyed;
  readonly passJob: PassJob;
  readonly halt: Halt;
  readonly log: RunLog;
  /** Told when the first event is about to go out. */
  readonly begun: (deliverer: Deliverer) => Promise<void>;
}

/**
 * The passes: sends what is due, type by type, what was never tried before what was rejected earlier. Returns when all
 * is settled or `halt` was requested, with nothing in flight. Throws a `UserError` (exit 2) where the state directory
 * cannot be written before the first event.
 */
export async function sendAll(job: SendingJob): Promise<Dispatcher> {
  const { settings, mapping, state, target, found, passJob, halt, log } = job;
  const { plan, report, checkpoint, input } = found;
  const path = state.file(CHECKPOINT_FILE);
  const writer = await beginCheckpoint(path, mapping, target, found);
  const ids = await openIds(state.file(IDS_FILE), path, checkpoint.named);
  const deliverer = createDeliverer({
    client: target.client,
    limiter: target.limiter,
    halt,
    clock: systemClock,
    concurrency: settings.concurrency,
    maxOutageMs: settings.maxOutage,
    beforeSend: ({ id, ready }) =>
      writer.sent({
        kind: 'sent',
        id,
        type: ready.type,
        external_id: ready.externalId ?? null,
        content_sha: ready.sha,
      }),
    log: (event, fields) => log.write(event, fields),
  });
  const dispatcher = new Dispatcher({
    plan,
    policies: found.compiled.entries.map(({ policies }) => policies),
    deliverer,
    checkpoint: writer,
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
  await job.begun(deliverer);
  const alarm = settings.until && haltAt(settings.until, halt);
  try {
    for (const type of EVENT_TYPES) {
      for (const due of ['ready', 'retry'] as const) {
        if (halt.requested) break;
        await input.assertUnchanged();
        await pass(passJob, type, due, (event) => dispatcher.send(event, due === 'retry'));
        await dispatcher.idle();
      }
    }
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const code = error instanceof InputChanged ? STOPPED.inputChanged : STOPPED.notWritten;
    halt.request({ code, message: error.message, hint: error.hint, exitCode: EXIT.stopped });
  } finally {
    clearInterval(alarm);
    await dispatcher.idle();
    deliverer.close();
    await writer.close();
    await ids.close();
  }
  const stopped = halt.reason?.code;
  if (stopped === STOPPED.unknownHistory) await unlink(path);
  else if (stopped !== STOPPED.inputChanged && stopped !== STOPPED.notWritten) await reportUntried(passJob);
  return dispatcher;
}

/** After a stop: events that an earlier run saw rejected, and that this one did not get to, stand in the report as well. */
async function reportUntried(job: PassJob): Promise<void> {
  for (const type of EVENT_TYPES) {
    if (job.plan.tables[type].counts.retry === 0) continue;
    await pass({ ...job, goesOn: () => true }, type, 'retry', ({ event, ordinal, row }) => {
      const { place, externalId } = event;
      const eventId = job.plan.idOf(job.plan.asSent(event, ordinal), ordinal);
      return job.report.error({ place, type, externalId, eventId, issues: [UNTRIED], raw: row.raw });
    });
  }
}

const UNTRIED = {
  severity: 'error',
  kind: 'send',
  code: 'rejected_earlier',
  message: 'an earlier run saw it rejected, and this one stopped before trying it again',
} as const;

/** On disk before anything is sent: a directory that cannot be written to is found here (exit 2). */
async function beginCheckpoint(
  path: string,
  mapping: Mapping,
  target: Target,
  found: Surveyed,
): Promise<CheckpointWriter> {
  const { checkpoint, input } = found;
  const writer = await CheckpointWriter.open(path, checkpoint);
  await writer.begin([
    ...(checkpoint.header ? [] : [newHeader(mapping, target.baseUrl, target.account)]),
    { kind: 'run', tool: TOOL, mapping_sha256: mapping.sha256, inputs: input.digests(), at: new Date().toISOString() },
  ]);
  return writer;
}

/** Looks at the wall clock every second: a timer would be wrong by however long the machine sleeps. */
function haltAt(time: Date, halt: Halt): NodeJS.Timeout {
  const look = (): void => {
    if (Date.now() < time.getTime()) return;
    halt.request({ code: 'until', message: 'the time of --until has come', exitCode: EXIT.stopped });
  };
  return setInterval(look, 1000).unref();
}
