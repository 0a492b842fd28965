import type { Environment } from './env-file.ts';
import { UserError } from './errors.ts';
import { Secret } from './redact.ts';

/** URLs to call about a run. Whoever knows them can post there, so they are secrets. */
export interface Hooks {
  readonly notify?: Secret | undefined;
  readonly heartbeat?: Secret | undefined;
}

/** Why a URL cannot be used, without repeating it; undefined if it can. Plain http is accepted for this machine only. */
export function hookUrlMistake(text: string): string | undefined {
  if (!URL.canParse(text)) return 'is not a valid URL';
  const { protocol, hostname } = new URL(text);
  if (protocol === 'https:') return undefined;
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  if (protocol === 'http:' && isLocal) return undefined;
  return `uses ${protocol}//, but it is a secret and is called over https only (plain http on this machine)`;
}

/** The URLs given as options, or else in the environment. Throws a `UserError` that never repeats a URL. */
export function hooksOf(options: Hooks, env: Environment): Hooks {
  return {
    notify: options.notify ?? read(env, 'BACKFILL_NOTIFY_URL'),
    heartbeat: options.heartbeat ?? read(env, 'BACKFILL_HEARTBEAT_URL'),
  };
}

function read(env: Environment, name: string): Secret | undefined {
  const text = env[name]?.trim();
  if (!text) return undefined;
  const mistake = hookUrlMistake(text);
  if (mistake !== undefined) throw new UserError(`the URL in ${name} ${mistake}`);
  return new Secret(text);
}

/** What must not be shown of these URLs: all of each, and its path with the query, which alone may be a token. */
export function secretsOf({ notify, heartbeat }: Hooks): Secret[] {
  return [notify, heartbeat].flatMap((secret) => {
    if (!secret) return [];
    const { href, pathname, search } = new URL(secret.reveal());
    return [secret, new Secret(href), new Secret(`${pathname}${search}`)];
  });
}
