/** A route of the REST API as a person typed it. Pure. */
import { UserError } from '../errors.ts';
import type { Secret } from '../redact.ts';
import { PATHS } from './contract.ts';

export interface Route {
  /** As it goes out, relative to the base URL, with its query. */
  readonly target: string;
  /** Decoded, without empty ones. */
  readonly segments: readonly string[];
}

/**
 * Checks a path (with or without a query) and adds parameters to its query. Throws a `UserError` for whatever would
 * leave the base URL, reach the ingestion webhook in any spelling, or carry a secret where servers log it.
 */
export function readRoute(
  given: string,
  parameters: readonly (readonly [name: string, value: string])[],
  { baseUrl, secrets }: { readonly baseUrl: string; readonly secrets: readonly (Secret | undefined)[] },
): Route {
  const mark = given.indexOf('?');
  const path = mark < 0 ? given : given.slice(0, mark);
  if (/^[a-z][a-z\d+.-]*:/i.test(given) || /^[/\\]{2}/.test(given)) {
    throw new UserError('the path is an absolute URL', {
      hint: 'give the path alone, like /leads: it stays on the base URL, and so does the key',
    });
  }
  if (isWebhook(`${new URL(baseUrl).pathname}/${path}`)) {
    throw new UserError('the ingestion webhook is not called by hand: a mistyped event cannot be taken back', {
      hint: 'events go through `backfill run`, which suppresses triggers and remembers what it sent',
    });
  }
  if (!path.startsWith('/')) throw new UserError('the path does not begin with a slash', { hint: 'like /leads' });
  if (!/^[\x21-\x7e]+$/.test(given) || /[\\#]/.test(given)) {
    throw new UserError('the path holds white space, `#`, `\\` or characters outside ASCII', {
      hint: 'percent-encode them, or hand parameters over with --query NAME=VALUE',
    });
  }
  const query = new URLSearchParams(mark < 0 ? '' : given.slice(mark + 1));
  for (const [name, value] of parameters) query.append(name, value);
  const target = query.size === 0 ? path : `${path}?${query.toString()}`;
  const decoded = decodeFully(target);
  if (secrets.some((secret) => secret && decoded.includes(secret.reveal()))) {
    throw new UserError('the path or its query holds a secret', {
      hint: 'the API key goes in a header, by itself; it belongs into no URL',
    });
  }
  const segments = decodeFully(path).split('/').slice(1);
  if (
    segments.some((segment, at) => segment === '..' || segment === '.' || (segment === '' && at < segments.length - 1))
  ) {
    throw new UserError('the path has empty, `.` or `..` segments', { hint: 'write it plainly, like /leads/ID' });
  }
  return { target, segments: segments.filter((segment) => segment !== '') };
}

/** Whether some server might take this path for the webhook's: case, encoding, slashes and dots are not trusted. */
function isWebhook(path: string): boolean {
  const segments: string[] = [];
  for (const part of decodeFully(path).normalize('NFKC').toLowerCase().split(/[/\\]/)) {
    const segment = part.replace(/;.*$/s, '').replace(/[\s\p{Cc}]/gu, '');
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return `/${segments.join('/')}/`.includes(`${PATHS.ingest}/`);
}

/** Percent-decoded until nothing changes: how often a proxy decodes is not known. What is no encoding stays. */
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
