import { randomBytes } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import { Secret } from '../redact.ts';
import type { Account } from '../service/account.ts';
import type { RequestEntry } from './reply.ts';
import type { Store } from './store.ts';

/** The account of the service: its credentials and its records. */
export interface SandboxContext {
  readonly account: Account;
  readonly store: Store;
  /** In the order of arrival. */
  readonly requests: RequestEntry[];
  apiKey: Secret;
  ingestToken: Secret;
  /** Writes that would have started automations; a correct backfill has none. */
  triggersFired: number;
  /** Milliseconds since the epoch, monotonic. */
  now(): number;
}

/** What the gateway passes to the routes beside the request. */
export interface ApiCall {
  readonly context: SandboxContext;
  readonly entry: RequestEntry;
  readonly body: ParsedBody;
  readonly suppressTriggers: boolean;
}

export type ParsedBody =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly status: 400 | 413; readonly error: string };

/** Hono's environment type for the routes. */
export interface HonoEnv {
  Bindings: HttpBindings & { readonly call: ApiCall };
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
