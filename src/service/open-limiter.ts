import type { Secret } from '../redact.ts';
import type { Limiter } from './limiter.ts';
import { createLimiter } from './local-limiter.ts';
import type { SharedLimiterOptions } from './shared-limiter.ts';

/**
 * A limiter for this process alone or, if a Redis server is given, one shared through it (only then is the Redis client
 * loaded). Throws a `UserError` if the server cannot be reached: a shared limit never falls back to a local one.
 */
export async function openLimiter(
  options: Omit<SharedLimiterOptions, 'redis'> & { readonly redis: Secret | undefined },
): Promise<Limiter> {
  const { redis } = options;
  if (!redis) return createLimiter(options);
  const { createSharedLimiter } = await import('./shared-limiter.ts');
  return createSharedLimiter({ ...options, redis });
}
