import type { Secret } from '../redact.ts';
import type { Limiter } from './limiter.ts';
import { createLimiter } from './local-limiter.ts';
import type { SharedLimiterOptions } from './shared-limiter.ts';

/**
 * The limiter of this process alone, or, where a Redis server is named, the one that it shares; nothing of Redis is loaded
 * without. Throws a `UserError` where that server cannot be reached: a limit that was to be shared is never kept alone.
 */
export async function openLimiter(
  options: Omit<SharedLimiterOptions, 'redis'> & { readonly redis: Secret | undefined },
): Promise<Limiter> {
  const { redis } = options;
  if (!redis) return createLimiter(options);
  const { createSharedLimiter } = await import('./shared-limiter.ts');
  return createSharedLimiter({ ...options, redis });
}
