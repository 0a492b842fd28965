/** One request as received; the ingestion token in its path is replaced by `***`. Times are milliseconds of the clock. */
export interface RequestEntry {
  /** Number of the request, from 1. */
  readonly number: number;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** The documented headers except the API key, with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON of the body; undefined if there is none or it is not JSON. */
  readonly body: unknown;
  readonly at: number;
  /** Kind of the injected fault. */
  fault?: string;
  /** The account that the API key belongs to; undefined if the key was invalid. */
  account?: 'main' | 'other';
  /** Why the service refused it. */
  error?: string;
  /** What it created or changed. */
  record?: { readonly entity: string; readonly id: string };
  /** Undefined until the request is answered; stays so if the connection was dropped. */
  status?: number;
  /** When it was answered or dropped; undefined while it is in flight. */
  endedAt?: number;
}

const LOGGED_HEADERS = ['content-type', 'x-suppress-triggers', 'idempotency-key', 'user-agent'];

/** To bound memory in long rehearsals, only the last ones are kept. */
const MOST = 100_000;

/** Adds a request to the log. */
export function logRequest(
  log: RequestEntry[],
  request: Request,
  path: string,
  body: unknown,
  at: number,
): RequestEntry {
  const headers = LOGGED_HEADERS.flatMap((name) => {
    const value = request.headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  const number = (log.at(-1)?.number ?? 0) + 1;
  if (log.length >= MOST) log.splice(0, MOST / 2);
  log.push({ number, method: request.method, path, headers: Object.fromEntries(headers), body, at });
  return log.at(-1)!;
}
