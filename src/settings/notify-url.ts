import type { Environment } from './env-file.ts';
import { UserError } from '../errors.ts';
import { Secret } from '../redact.ts';

/** Why a URL for notifications cannot be used, without repeating it; undefined if it can. Plain http is accepted for this machine only. */
export function hookUrlMistake(text: string): string | undefined {
  if (!URL.canParse(text)) return 'is not a valid URL';
  const { protocol, hostname } = new URL(text);
  if (protocol === 'https:') return undefined;
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  if (protocol === 'http:' && isLocal) return undefined;
  return `uses ${protocol}//, but it is a secret and is called over https only (plain http on this machine)`;
}

/**
 * The URL for notifications, given with --notify or else in the environment. Whoever knows it can post there, so it is a
 * secret. Throws a `UserError` that does not repeat it.
 */
export function notifyUrl(given: Secret | undefined, env: Environment): Secret | undefined {
  const text = env.BACKFILL_NOTIFY_URL?.trim();
  if (given || !text) return given;
  const mistake = hookUrlMistake(text);
  if (mistake !== undefined) throw new UserError(`the URL in BACKFILL_NOTIFY_URL ${mistake}`);
  return new Secret(text);
}

/** The secret parts: the whole URL, and its path with the query, which alone may be a token. */
export function secretsOf(url: Secret): Secret[] {
  const { href, pathname, search } = new URL(url.reveal());
  return [url, new Secret(href), new Secret(`${pathname}${search}`)];
}
