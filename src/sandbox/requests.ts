import type { EventType } from '../model.ts';

/**
 * One request as received; the ingestion token in its path is replaced by `***`. Times are milliseconds of the clock.
 */
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

/** The id, type and external id of the event in an ingestion request, as far as they can be read. */
export interface EventSummary {
  readonly id: string | undefined;
  readonly type: EventType | undefined;
  readonly externalId: string | undefined;
}

const LOGGED_HEADERS = ['content-type', 'x-suppress-triggers', 'idempotency-key', 'user-agent'];

/** The last requests, at most 100,000, to bound memory in long rehearsals. */
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
    const entry: RequestEntry = { number: this.#count, method: request.method, path, headers, body, at };
    if (this.#entries.length >= 100_000) this.#entries = this.#entries.slice(50_000);
    this.#entries.push(entry);
    return entry;
  }

  entries(): readonly RequestEntry[] {
    return this.#entries;
  }
}
