/** How requests are logged and answers written (service interface, sections 7 and 9). */
import { PATHS } from '../contract.ts';

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
  /** Undefined until the request is answered; stays so if the connection was dropped. */
  status?: number;
  /** When it was answered or dropped; undefined while it is in flight. */
  endedAt?: number;
}

export interface Success {
  readonly status: 200 | 201;
  readonly body: unknown;
}

/** Any other answer; nothing has been changed. `code` is shown only in envelopes; a 401 has none (section 7.3). */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string | undefined;

  constructor(status: number, code: string | undefined, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Sections 7.2 and 7.3: the format of cross-cutting errors and of the webhook's errors. */
export function enveloped(code: string | undefined, message: string): object {
  return { success: false, error: { code, message } };
}

/** The answer to a request for `path`. */
export function respond(path: string, reply: Success | Refusal): Response {
  if (reply instanceof Refusal) {
    const { code, message, status } = reply;
    // Section 7.2: this one is wrapped on every route.
    const inEnvelope = path.startsWith(PATHS.ingest) || code === 'RATE_LIMITED';
    return Response.json(inEnvelope ? enveloped(code, message) : { error: message }, { status });
  }
  return Response.json(reply.body, { status: reply.status });
}
