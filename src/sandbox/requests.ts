import type { EventType } from '../model.ts';

/** One request as the sandbox saw it; the ingest token stands as `***` in its path. Times are milliseconds of the clock. */
export interface RequestEntry {
  /** Counts all requests from 1. */
  readonly number: number;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** Lower-case names; those that the service documents, without the API key. */
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON of the body; undefined where there is none or it is not JSON. */
  readonly body: unknown;
  readonly at: number;
  /** Kind of the fault that was applied. */
  fault?: string;
  /** Whether the API key was the valid one. */
  authenticated: boolean;
  /** Undefined until answered, and for ever where the connection was dropped instead. */
  status?: number;
  /** When it was answered or dropped; undefined while it is in flight. */
  endedAt?: number;
}

/** What the body of an ingestion request says of its event, as far as it can be read. */
export interface EventSummary {
  readonly id: string | undefined;
  readonly type: EventType | undefined;
  readonly externalId: string | undefined;
}

const LOGGED_HEADERS = ['content-type', 'x-suppress-triggers', 'idempotency-key', 'user-agent'];

/** The last 100,000 requests or so: long rehearsals must not fill the memory. */
export class RequestLog {
  #entries: RequestEntry[] = [];
  #count = 0;

  add(request: Request, path: string, body: unknown, at: number): RequestEntry {
    this.#count += 1;
    const headers = Object.fromEntries(
      LOGGED_HEADERS.flatMap((name) => {
        const value = request.headers.get(name);
        return value === null ? [] : [[name, value]];
      }),
    );
    const entry: RequestEntry = {
      number: this.#count,
      method: request.method,
      path,
      headers,
      body,
      at,
      authenticated: false,
    };
    if (this.#entries.length >= 100_000) this.#entries = this.#entries.slice(50_000);
    this.#entries.push(entry);
    return entry;
  }

  entries(): readonly RequestEntry[] {
    return this.#entries;
  }
}
