/**
 * The library, for programs that migrate without the command line: the same runs and the same files in the state directory,
 * with a summary instead of an exit code. `summary.exit.code` is the exit code of the command line.
 */
import { EXIT } from './errors.ts';
import type { EventType } from './model.ts';
import { Halt } from './halt.ts';
import { runMigration as run } from './run.ts';
import { Redactor } from './redact.ts';
import type { Summary } from './report/summary.ts';
import type { Sandbox, SandboxOptions } from './sandbox/index.ts';
import { credentials } from './credentials.ts';
import { runSettings } from './settings.ts';

export { UserError } from './errors.ts';
export type { EventType } from './model.ts';
export type { Summary } from './report/summary.ts';
export type { Sandbox, SandboxOptions } from './sandbox/index.ts';

/** The service that events are sent to. Only the base URL is ever written to a file or log. */
export interface Service {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly ingestToken: string;
  /** A Redis server through which processes share the rate limit of the key. */
  readonly redisUrl?: string;
}

/** The options of `backfill run`, with the same checks and defaults; a `UserError` names each one that is wrong. */
export interface SurveyOptions {
  /** Path of the mapping file. */
  readonly mapping: string;
  /** Files to read instead of those named in the mapping, by source. */
  readonly sources?: Readonly<Record<string, string>>;
  /** Corrected rejects, by source; of several files a later one wins. */
  readonly fixes?: Readonly<Record<string, string | readonly string[]>>;
  /** State directory; `.backfill/<migration>` beside the mapping file by default. */
  readonly state?: string;
  /** Requests per sliding window. */
  readonly rate?: { readonly requests: number; readonly seconds: number };
  readonly reserve?: number;
  readonly concurrency?: number;
  readonly timeoutSeconds?: number;
  /** A number of events, or a percentage like `5%`. */
  readonly maxErrors?: number | `${number}%`;
  /** A number of values of one field, or a percentage of them like `25%`. */
  readonly maxOmitted?: number | `${number}%`;
  /** Pilot: the N records, with their parents, that together use most of the mapping. */
  readonly pilot?: number;
  /** Pilot: the first N events of each type, with their parents. */
  readonly limit?: number;
  /** Pilot: these records (`lead:ID`, `deal:ID`), with parents and children. */
  readonly pick?: readonly string[];
  readonly only?: readonly EventType[];
  /** Send this plan or nothing: the 12 hexadecimal digits that a dry run printed. */
  readonly plan?: string;
  /** Called with warnings that are not part of the summary. */
  readonly onWarning?: (message: string) => void;
  /** When aborted, no new request is sent, and requests in flight are awaited and recorded; a rerun resumes. */
  readonly signal?: AbortSignal;
}

export interface MigrationOptions extends SurveyOptions {
  readonly service: Service;
  readonly maxOutageSeconds?: number;
  readonly maxRejectionsInARow?: number;
  readonly maxRequests?: number;
  readonly until?: Date;
  readonly takeOver?: boolean;
  readonly adopt?: boolean;
}

/**
 * Surveys the input, then sends what is not acknowledged yet; called again, it resumes. Throws a `UserError` if something
 * must be fixed before anything can be sent; the summary reports anything that happens later.
 */
export async function runMigration(options: MigrationOptions): Promise<Summary> {
  return start(options, options.service, {
    maxOutage: options.maxOutageSeconds === undefined ? undefined : `${options.maxOutageSeconds}s`,
    maxRejectionsInARow: options.maxRejectionsInARow,
    maxRequests: options.maxRequests,
    until: options.until && isoTime(options.until),
    takeOver: options.takeOver,
    adopt: options.adopt,
  });
}

/** Maps and validates every record, and sends no events. Without `service` it needs no network. */
export async function surveyMigration(options: SurveyOptions & { readonly service?: Service }): Promise<Summary> {
  return start(options, options.service, { dryRun: true, offline: options.service === undefined });
}

/** Starts a local stand-in for the service, for rehearsals and tests. It is listening when the promise resolves; close it. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { startSandbox: begin } = await import('./sandbox/index.ts');
  return begin(options);
}

async function start(
  options: SurveyOptions,
  service: Service | undefined,
  more: Readonly<Record<string, unknown>>,
): Promise<Summary> {
  const {
    mapping,
    state,
    rate,
    reserve,
    concurrency,
    timeoutSeconds,
    maxErrors,
    maxOmitted,
    pilot,
    limit,
    onWarning,
    signal,
  } = options;
  // As text, since the checks are those of the command line.
  const settings = runSettings({
    mapping,
    state,
    source: pairs(options.sources),
    fix: pairs(options.fixes),
    rate: rate && `${rate.requests}/${rate.seconds}s`,
    reserve,
    concurrency,
    timeout: timeoutSeconds,
    maxErrors,
    maxOmitted,
    pilot,
    limit,
    pick: options.pick && [...options.pick],
    only: options.only && [...options.only],
    plan: options.plan,
    ...more,
  });
  const target =
    service &&
    credentials(service.baseUrl, {
      BACKFILL_API_KEY: service.apiKey,
      BACKFILL_INGEST_TOKEN: service.ingestToken,
      BACKFILL_REDIS_URL: service.redisUrl,
    });
  const redactor = new Redactor();
  if (target) redactor.add(target.apiKey, target.ingestToken, ...(target.otherSecrets ?? []));
  const halt = new Halt();
  const stop = (): void =>
    halt.request({ code: 'interrupted', message: 'the caller aborted the run', exitCode: EXIT.stopped });
  if (signal?.aborted) stop();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    const trouble = (message: string): void => onWarning?.(redactor.redact(message));
    return await run({ settings, credentials: target, stateSuffix: '', halt, redactor, monitor: { trouble } });
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

/** An invalid date as a text that the check of the option refuses. */
function isoTime(date: Date): string {
  return Number.isNaN(date.getTime()) ? String(date) : date.toISOString();
}

function pairs(paths: Readonly<Record<string, string | readonly string[]>> = {}): string[] {
  return Object.entries(paths).flatMap(([name, each]) => [each].flat().map((path) => `${name}=${path}`));
}
