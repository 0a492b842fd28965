import { Secret } from '../redact.ts';

/** Checks the URL of a Redis server, and lists its secret parts. Messages never repeat the URL. */
export function readRedisUrl(url: string): { readonly mistake?: string; readonly secrets: readonly Secret[] } {
  if (!URL.canParse(url)) return { mistake: 'is not a URL; expected something like redis://host:6379', secrets: [] };
  const { protocol, password, hostname, searchParams } = new URL(url);
  if (!/^rediss?:$/.test(protocol) || hostname === '') {
    return { mistake: 'is not a Redis URL; expected redis://host:6379 or rediss://host:6379', secrets: [] };
  }
  if (password === '' && searchParams.size === 0) return { secrets: [] };
  let decoded = password;
  try {
    decoded = decodeURIComponent(password);
  } catch {
    // Not percent-encoded.
  }
  // The query contains options of the Redis client, which can include a password.
  return { secrets: [url, password, decoded, ...searchParams.values()].map((text) => new Secret(text)) };
}
