/** Parses a REST API path given by the user. Pure. */
import { UserError } from '../errors.ts';
import type { Secret } from '../redact.ts';
import { PATHS } from '../contract.ts';

/** Nothing that servers read in different ways: no escapes, no empty or parameterised segments. */
const PATH = /^(?:\/[\w.~!$&'()*+,=:@-]+)+\/?$/;

/**
 * Validates a path (with or without a query) and adds parameters to its query. Relative to the base URL. Throws a `UserError` for a path that
 * would leave the base URL, reach the ingestion webhook, or contain a secret, since servers log URLs.
 */
export function readRoute(
  given: string,
  parameters: readonly (readonly [name: string, value: string])[],
  { baseUrl, secrets }: { readonly baseUrl: string; readonly secrets: readonly (Secret | undefined)[] },
): string {
  const [path = '', ...rest] = given.split('?');
  const segments = path.split('/').filter((segment) => segment !== '');
  if (!PATH.test(path) || segments.some((segment) => /^\.+$/.test(segment))) {
    throw new UserError('the path must look like /leads/ID: no URL, no `..`, no escapes', {
      hint: 'the API key is sent to the base URL only; pass parameters with --query NAME=VALUE',
    });
  }
  const whole = `${new URL(baseUrl).pathname.replace(/\/+$/, '')}/${segments.join('/')}/`;
  if (whole.toLowerCase().includes(`${PATHS.ingest}/`)) {
    throw new UserError('the ingestion webhook cannot be called with `api`: an event cannot be undone', {
      hint: 'send events with `run`, which suppresses triggers and records what it sent',
    });
  }
  const query = new URLSearchParams(rest.join('?'));
  for (const [name, value] of parameters) query.append(name, value);
  const texts = [path, ...[...query].flat()];
  const values = secrets.flatMap((secret) => secret?.reveal() || []);
  if (values.some((value) => texts.some((text) => text.includes(value)))) {
    throw new UserError('the path or its query contains a secret', {
      hint: 'remove it: the API key is sent in a header automatically',
    });
  }
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}
