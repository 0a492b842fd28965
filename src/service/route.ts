/** Parses a REST API path given by the user. Pure. */
import { UserError } from '../errors.ts';
import type { Secret } from '../redact.ts';
import { PATHS } from './contract.ts';

export interface Route {
  /** As it is sent, relative to the base URL, with its query. */
  readonly target: string;
  /** Decoded, without empty segments. */
  readonly segments: readonly string[];
}

/**
 * Validates a path (with or without a query) and adds parameters to its query. Throws a `UserError` for a path that
 * would leave the base URL, reach the ingestion webhook in any spelling, or contain a secret, since servers log URLs.
 */
export function readRoute(
  given: string,
  parameters: readonly (readonly [name: string, value: string])[],
  { baseUrl, secrets }: { readonly baseUrl: string; readonly secrets: readonly (Secret | undefined)[] },
): Route {
  const mark = given.indexOf('?');
  const path = mark < 0 ? given : given.slice(0, mark);
  if (/^[a-z][a-z\d+.-]*:/i.test(given) || /^[/\\]{2}/.test(given)) {
    throw new UserError('the path must not be an absolute URL', {
      hint: 'use a path such as /leads, so that the API key is sent to the base URL only',
    });
  }
  if (isWebhook(`${new URL(baseUrl).pathname}/${path}`)) {
    throw new UserError('the ingestion webhook cannot be called with `crm-backfill api`: an event cannot be undone', {
      hint: 'send events with `crm-backfill run`, which suppresses triggers and records what it sent',
    });
  }
  if (!path.startsWith('/')) throw new UserError('the path must start with a slash', { hint: 'for example: /leads' });
  if (!/^[\x21-\x7e]+$/.test(given) || /[\\#]/.test(given)) {
    throw new UserError('the path contains white space, `#`, `\\` or non-ASCII characters', {
      hint: 'percent-encode them, or pass parameters with --query NAME=VALUE',
    });
  }
  const query = new URLSearchParams(mark < 0 ? '' : given.slice(mark + 1));
  for (const [name, value] of parameters) query.append(name, value);
  const target = query.size === 0 ? path : `${path}?${query.toString()}`;
  const decoded = decodeFully(target);
  if (secrets.some((secret) => secret && decoded.includes(secret.reveal()))) {
    throw new UserError('the path or its query contains a secret', {
      hint: 'remove it: the API key is sent in a header automatically',
    });
  }
  const decodedPath = decodeFully(path);
  if (/\p{Cc}|%(?:[\da-f]{2}|u[\da-f]{4})/iu.test(decodedPath)) {
    throw new UserError('the path contains control characters or bytes that are not UTF-8', {
      hint: 'percent-encode the UTF-8 bytes of the text once',
    });
  }
  const [, ...read] = segmentsAsRead(path);
  if (read.some((segment, at) => segment === '..' || segment === '.' || (segment === '' && at < read.length - 1))) {
    throw new UserError('the path has empty, `.` or `..` segments', { hint: 'use a path such as /leads/ID' });
  }
  return { target, segments: decodedPath.split('/').filter((segment) => segment !== '') };
}

/** Whether any server might route this path to the webhook, whatever its case, encoding, slashes and dots. */
function isWebhook(path: string): boolean {
  const segments: string[] = [];
  for (const segment of segmentsAsRead(path)) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment.toLowerCase());
  }
  return `/${segments.join('/')}/`.includes(`${PATHS.ingest}/`);
}

/**
 * The segments as the most lenient server might read them: decoded more than once, with backslashes and full-width signs
 * as separators and dots, and without parameters (`..;a`), white space and control characters.
 */
function segmentsAsRead(path: string): readonly string[] {
  return decodeFully(path)
    .normalize('NFKC')
    .split(/[/\\]/)
    .map((segment) => segment.replace(/;.*$/s, '').replace(/[\s\p{Cc}\p{Cf}]/gu, ''));
}

/** Percent-decodes until nothing changes, since a proxy may decode more than once. Invalid sequences are kept. */
function decodeFully(text: string): string {
  for (let decoded = text; ;) {
    const next = decoded.replace(/(?:%[\da-f]{2})+/gi, (run) => {
      try {
        return decodeURIComponent(run);
      } catch {
        return run;
      }
    });
    if (next === decoded) return decoded;
    decoded = next;
  }
}
