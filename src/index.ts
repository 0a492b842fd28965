/**
 * For programs that migrate without the command line: the same runs, the same files in the state directory, and a summary
 * instead of an exit code. `summary.exit.code` is what the command line would exit with.
 */
import { EXIT } from './errors.ts';
import type { EventType } from './model.ts';
import { Halt } from './halt.ts';
import { runMigration as run } from './run.ts';
import { Redactor } from './redact.ts';
import type { Summary } from './report/summary.ts';
import type { Sandbox, SandboxOptions } from './sandbox/index.ts';
import { credentials, runSettings } from './settings.ts';

export { UserError } from './errors.ts';
export type { EventType } from './model.ts';
export type { Summary } from './report/summary.ts';
export type { Sandbox, SandboxOptions } from './sandbox/index.ts';

/** Where events go to. Nothing of it is written to any file or log, but for the base URL. */
export interface Service {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly ingestToken: string;
  /** A Redis server over which processes share the rate limit of the key. */
  readonly redisUrl?: string;
}

/** Options as of `backfill run`, with the same defaults; what is wrong with them is said in a `UserError`. */
export interface SurveyOptions {
  /** Path of the mapping file. */
  readonly mapping: string;
  /** Files to read instead of those the mapping names, by source. */
  readonly sources?: Readonly<Record<string, string>>;
  /** Corrected rejects, by source. */
  readonly fixes?: Readonly<Record<string, string>>;
  /** State directory; `.backfill/<migration>` beside the mapping file by default. */
  readonly state?: string;
  /** Requests per sliding window. */
  readonly rate?: { readonly requests: number; readonly seconds: number };
  readonly reserve?: number;
  readonly concurrency?: number;
  readonly timeoutSeconds?: number;
  /** A number of events, or a percentage like `5%`. */
  readonly maxErrors?: number | `${number}%`;
  /** Pilot: the first so many events of each type, with their parents. */
  readonly limit?: number;
  /** Pilot: these records (`lead:ID`, `deal:ID`), with parents and children. */
  readonly pick?: readonly string[];
  readonly only?: readonly EventType[];
  /** Told what a person should know, beside what the summary says. */
  readonly onWarning?: (message: string) => void;
  /** Aborted: no new request goes out, what is in flight is recorded, and a rerun goes on from there. */
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
 * Surveys the input, then sends whatever is not acknowledged yet; called again, it resumes. Throws a `UserError` where
 * nothing was sent because something has to be mended first; whatever happens later is told in the summary.
 */
export async function runMigration(options: MigrationOptions): Promise<Summary> {
  return start(options, options.service, {
    maxOutage: options.maxOutageSeconds === undefined ? undefined : `${options.maxOutageSeconds}s`,
    maxRejectionsInARow: options.maxRejectionsInARow,
    maxRequests: options.maxRequests,
    until: options.until?.toISOString(),
    takeOver: options.takeOver,
    adopt: options.adopt,
  });
}

/** The survey alone: every record is mapped and validated, and no event is sent. Without `service` it needs no network. */
export async function surveyMigration(options: SurveyOptions & { readonly service?: Service }): Promise<Summary> {
  return start(options, options.service, { dryRun: true, offline: options.service === undefined });
}

/** A local stand-in for the service, for rehearsals and tests; it is listening when the promise resolves. Close it. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { startSandbox: begin } = await import('./sandbox/index.ts');
  return begin(options);
}

async function start(
  options: SurveyOptions,
  service: Service | undefined,
  more: Readonly<Record<string, unknown>>,
): Promise<Summary> {
  const { mapping, state, rate, reserve, concurrency, timeoutSeconds, maxErrors, limit, onWarning, signal } = options;
  // What the command line takes as text is checked in one place.
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
    limit,
    pick: options.pick && [...options.pick],
    only: options.only && [...options.only],
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

function pairs(paths: Readonly<Record<string, string>> = {}): string[] {
  return Object.entries(paths).map(([name, path]) => `${name}=${path}`);
}
