import { request, type Dispatcher } from 'undici';
import { systemClock, type Clock } from '../../clock.ts';
import { codeOf } from '../../errors.ts';
import type { Secret } from '../../redact.ts';
import { agentFor, proxyFor } from '../../service/proxy.ts';

/** How a call ended: undefined if it was answered 2xx, otherwise why not. Never contains the URL, which is a secret. */
type HookProblem = string | undefined;

/** A call with all its retries. */
const DEADLINE_MS = 10_000;
const RETRY_AFTER_MS = [500, 2_000];

/** Some chats refuse a message with keys that they do not know. */
const BAD_REQUEST = 400;

/**
 * Posts the first of `bodies` to a URL of the user. Tries up to three times within ten seconds; after a 400, with the next of
 * `bodies`. Never throws. Uses the proxy of the environment; redirects are
 * not followed.
 */
export async function callHook(
  url: Secret,
  bodies: readonly object[],
  { clock = systemClock, deadlineMs = DEADLINE_MS }: { clock?: Clock; deadlineMs?: number } = {},
): Promise<HookProblem> {
  const deadline = AbortSignal.timeout(deadlineMs);
  let dispatcher: Dispatcher | undefined;
  try {
    dispatcher = agentFor(proxyFor(new URL(url.reveal()), process.env));
    let body = 0;
    for (let tries = 0; ; tries += 1) {
      const status = await send(url, bodies[body]!, dispatcher, deadline);
      if (typeof status === 'number' && status >= 200 && status < 300) return undefined;
      const problem = typeof status === 'number' ? `answered ${status}` : status;
      if (tries === RETRY_AFTER_MS.length || deadline.aborted) return problem;
      if (status === BAD_REQUEST && body + 1 < bodies.length) body += 1;
      else await clock.sleep(RETRY_AFTER_MS[tries]!, deadline);
    }
  } catch (error) {
    return `cannot be called (${codeOf(error) ?? 'unexpected error'})`;
  } finally {
    await dispatcher?.destroy().catch(() => undefined);
  }
}

/** The status, or why there is none. Messages of errors may contain the URL, so only their codes are used. */
async function send(url: Secret, body: object, dispatcher: Dispatcher, signal: AbortSignal): Promise<number | string> {
  try {
    const answer = await request(url.reveal(), {
      dispatcher,
      signal,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await answer.body.dump();
    return answer.statusCode;
  } catch (error) {
    return signal.aborted ? 'no answer within 10 s' : `unreachable (${codeOf(error) ?? 'unexpected error'})`;
  }
}
