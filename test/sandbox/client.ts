import { onTestFinished } from 'vitest';
import { startSandbox, type Sandbox, type SandboxOptions, type SandboxState } from '../../src/sandbox/index.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed where it is JSON. */
  readonly body: unknown;
}

/** A sandbox that ends with the test. */
export async function sandboxFor(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox(options);
  onTestFinished(() => sandbox.close());
  return sandbox;
}

/** A clock for a sandbox, to be moved by setting `now`. */
export function clockAt(start: number): { (): number; now: number } {
  const clock = (): number => clock.now;
  clock.now = start;
  return clock;
}

/** One request with the valid key, unless `headers` say otherwise (null: no key). */
export async function call(
  sandbox: Sandbox,
  method: string,
  path: string,
  options: { body?: unknown; headers?: Record<string, string | null> } = {},
): Promise<Answer> {
  const headers: Record<string, string> = {};
  const wanted = {
    'x-api-key': sandbox.apiKey.reveal(),
    ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
    ...options.headers,
  };
  for (const [name, value] of Object.entries(wanted)) if (value !== null) headers[name] = value;
  const body = typeof options.body === 'string' ? options.body : JSON.stringify(options.body);
  const response = await fetch(`${sandbox.baseUrl}${path}`, {
    method,
    headers,
    redirect: 'manual',
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  let parsed: unknown = text;
  if (response.headers.get('content-type')?.includes('json')) parsed = JSON.parse(text);
  return { status: response.status, headers: response.headers, body: parsed };
}

/** A state without times, to compare two rehearsals with the same events. */
export function withoutTimes(state: SandboxState): Record<keyof SandboxState, object[]> {
  const timeless = ({ createdAt: _created, updatedAt: _updated, ...record }: SandboxState['leads'][number]) => record;
  const { leads, deals, comments } = state;
  return { leads: leads.map(timeless), deals: deals.map(timeless), comments: comments.map(timeless) };
}

let events = 0;

/** Sends one event; its id is a fresh one unless given. */
export async function send(
  sandbox: Sandbox,
  type: string,
  data: object,
  options: { id?: string; envelope?: object; headers?: Record<string, string | null> } = {},
): Promise<Answer> {
  events += 1;
  const id = options.id ?? `event-${events}`;
  return call(sandbox, 'POST', `/webhooks/ingest/${sandbox.ingestToken.reveal()}`, {
    body: { id, type, suppress_triggers: true, data, ...options.envelope },
    ...(options.headers ? { headers: options.headers } : {}),
  });
}

export function errorOf({ body }: Answer): { code: string; message: string } {
  return (body as { error: { code: string; message: string } }).error;
}
