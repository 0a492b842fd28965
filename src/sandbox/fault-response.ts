/** The responses of injected faults. */
import type { ServerResponse } from 'node:http';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { INGEST_CODES } from '../service/contract.ts';
import type { FinalFault } from './faults.ts';
import { enveloped } from './context.ts';

/** Whether the request reaches the service. */
export function commits(fault: FinalFault): boolean {
  switch (fault.kind) {
    case 'drop_after':
    case 'status_after':
    case 'cut_body':
    case 'bad_ack':
      return true;
    case 'reset':
    case 'hang':
    case 'html':
      return fault.committed;
    case 'drop_before':
    case 'status':
    case 'redirect':
    case 'outage':
      return false;
  }
}

/**
 * The response sent instead of the service's own. `answer` is that one if the request was committed. For a closed or
 * silent connection, the result makes Hono's server send no answer.
 */
export async function faultResponse(
  fault: FinalFault,
  answer: Response | undefined,
  out: ServerResponse,
): Promise<Response> {
  switch (fault.kind) {
    case 'drop_before':
    case 'drop_after':
      out.socket?.destroy();
      return RESPONSE_ALREADY_SENT;
    case 'reset':
      out.socket?.resetAndDestroy();
      return RESPONSE_ALREADY_SENT;
    case 'hang':
      return RESPONSE_ALREADY_SENT;
    case 'cut_body': {
      const text = (await answer?.text()) ?? '';
      out.writeHead(answer?.status ?? 200, { 'content-type': 'application/json', 'content-length': text.length });
      out.write(text.slice(0, text.length / 2), () => out.socket?.destroy());
      return RESPONSE_ALREADY_SENT;
    }
    case 'html': {
      const page = '<!doctype html><title>Sign in</title><p>The network needs you to sign in.</p>';
      return new Response(page, { headers: { 'content-type': 'text/html; charset=utf-8' } });
    }
    case 'redirect':
      return new Response(null, { status: 302, headers: { location: fault.location } });
    case 'bad_ack':
      return Response.json(fault.body ?? { ok: true });
    case 'status': {
      const code = fault.code ?? (fault.status === 429 ? 'RATE_LIMITED' : INGEST_CODES.internal);
      const response = Response.json(enveloped(code, 'injected by the fault plan'), { status: fault.status });
      if (fault.retry_after_s !== undefined) response.headers.set('retry-after', String(fault.retry_after_s));
      return response;
    }
    case 'status_after': {
      const body = enveloped(fault.code ?? INGEST_CODES.internal, 'injected by the fault plan');
      return Response.json(body, { status: fault.status });
    }
    case 'outage':
      if (fault.status === undefined) {
        out.socket?.destroy();
        return RESPONSE_ALREADY_SENT;
      }
      return new Response('the service is down', { status: fault.status });
  }
}
