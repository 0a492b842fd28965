import { randomBytes } from 'node:crypto';
import { Secret } from '../redact.ts';
import type { Account } from '../service/account.ts';
import type { RequestEntry, RequestLog } from './requests.ts';
import type { Store } from './store.ts';

/** What all routes of one sandbox share: one account, its credentials and its records. */
export interface SandboxContext {
  readonly account: Account;
  readonly store: Store;
  readonly requests: RequestLog;
  apiKey: Secret;
  ingestToken: Secret;
  /** Writes that would have started automations: none during a proper backfill. */
  triggersFired: number;
  /** Milliseconds since the epoch; never goes back. */
  now(): number;
}

/** What the routes are told of a request beside the request itself: its body, read once. */
export interface ApiCall {
  readonly entry: RequestEntry;
  readonly body: { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly why: string };
  readonly tooLarge: boolean;
  readonly suppressTriggers: boolean;
}

/** Of the routes, for Hono. */
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

/** Section 7.2 and 7.3: the form of cross-cutting errors and of the webhook's. */
export function enveloped(code: string, message: string): object {
  return { success: false, error: { code, message } };
}
