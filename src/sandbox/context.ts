import { randomBytes } from 'node:crypto';
import { Secret } from '../redact.ts';
import type { Account } from '../service/account.ts';
import type { RequestEntry, RequestLog } from './requests.ts';
import type { Store } from './store.ts';

/** What the routes of one account share: its credentials and its records. */
export interface SandboxContext {
  readonly name: 'main' | 'other';
  /** The other account of the service, whose resources are answered with 403 (service interface, section 5). */
  readonly other: SandboxContext;
  readonly account: Account;
  readonly store: Store;
  readonly requests: RequestLog;
  apiKey: Secret;
  ingestToken: Secret;
  /** Writes that would have started automations; a correct backfill has none. */
  triggersFired: number;
  /** Milliseconds since the epoch, monotonic. */
  now(): number;
}

/** What the gateway passes to the routes beside the request: its log entry and its parsed body. */
export interface ApiCall {
  readonly entry: RequestEntry;
  readonly body: { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: string };
  readonly tooLarge: boolean;
  readonly suppressTriggers: boolean;
}

/** Hono's environment type for the routes. */
export interface HonoEnv {
  Bindings: { call: ApiCall };
}

export function newApiKey(): Secret {
  return new Secret(`sk_sandbox_${randomBytes(18).toString('base64url')}`);
}

/** With a fixed prefix, as the service's tokens have (service interface, section 5). */
export function newIngestToken(): Secret {
  return new Secret(`ingest_${randomBytes(24).toString('base64url')}`);
}

/** ISO 8601 with milliseconds, as the service writes its timestamps. */
export function timestamp(context: SandboxContext): string {
  return new Date(context.now()).toISOString();
}

/** Sections 7.2 and 7.3: the format of cross-cutting errors and of the webhook's errors. */
export function enveloped(code: string, message: string): object {
  return { success: false, error: { code, message } };
}
