// Lost without it: a certificate that is replaced during a run could end it instead of being waited for.
import { request } from 'node:http';
import { createServer, type Server } from 'node:https';
import { expect, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox/index.ts';
import { ONE, OTHER } from '../service/certificates.ts';
import { listening } from '../service/scripted-server.ts';
import { FAST, mapping, project, start, summaryOf } from './harness.ts';

/** Accepts https, and hands every request on to the sandbox. */
function httpsFront(service: Sandbox): Server {
  const front = createServer(ONE, (incoming, outgoing) => {
    const { method, headers, url } = incoming;
    const onward = request(new URL(url!, service.baseUrl), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  return front;
}

test('a certificate that is replaced by one that is not trusted is an outage: the run continues once it is back', async () => {
  const { service, cwd, env, stored } = await project(
    {
      'trusted.pem': ONE.cert,
      'people.csv': `id\n${Array.from({ length: 60 }, (_, id) => id).join('\n')}\n`,
      'mapping.yaml': mapping({ people: 'type: lead/created, data: { external_id: id, full_name: id }' }),
    },
    { faults: { rules: [{ kind: 'latency', min_ms: 50, max_ms: 50 }] } },
  );
  const front = httpsFront(service);
  const { port } = new URL(await listening(front));
  const run = start(['run', 'mapping.yaml', '--json', '--concurrency', '4', ...FAST], {
    cwd,
    env: {
      ...env,
      BACKFILL_BASE_URL: `https://localhost:${port}`,
      NODE_EXTRA_CA_CERTS: `${cwd}/trusted.pem`,
    },
  });
  await expect.poll(() => service.requests().length, { timeout: 120_000 }).toBeGreaterThan(10);
  front.setSecureContext(OTHER);
  front.closeAllConnections();
  await expect.poll(() => stored('run.log'), { timeout: 120_000 }).toContain('DEPTH_ZERO_SELF_SIGNED_CERT');
  front.setSecureContext(ONE);
  const summary = summaryOf(await run.ended);
  expect(summary.exit).toEqual({ code: 0, reason: 'done' });
  expect(summary.events.acknowledged).toBe(60);
});
