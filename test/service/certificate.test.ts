import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { Secret } from '../../src/redact.ts';
import { createClient } from '../../src/service/client.ts';
import { readAccount } from '../../src/service/directory.ts';
import { createLimiter } from '../../src/service/local-limiter.ts';

/** Self-signed, for localhost, and for this test only. */
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgBG5TmBKJSA6BYSP2
GMFXw3mZo7loU0TrxsctFLRWeJyhRANCAAT4RjBzDaVowesPSJMx2VAqWXH1jICh
X9GNTsJ/rWX85OR0k5CIPncbAY38veFAbyj+bQedJoSPGhNDNE2Q/l0w
-----END PRIVATE KEY-----
`;
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUPN2YZvl0StYodta9kDPw8s93WWkwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMjE4MDYyMloYDzIxMjYxMDI5
MTgwNjIyWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAT4RjBzDaVowesPSJMx2VAqWXH1jIChX9GNTsJ/rWX85OR0k5CIPncb
AY38veFAbyj+bQedJoSPGhNDNE2Q/l0wo28wbTAdBgNVHQ4EFgQU/sVP6QCqcgAW
NjYk9KLK1e8vWmkwHwYDVR0jBBgwFoAU/sVP6QCqcgAWNjYk9KLK1e8vWmkwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIgLk1KEUoiw2Jeq1+Jbrboal6RcVikBieBf+aLUvPypksCIQCp
uYv/MSg/SWojijqnR6VJDThbuZ8m2erNNIR4eRmZbQ==
-----END CERTIFICATE-----
`;

test('a certificate that is not trusted ends the survey at once, with exit 2 and a message that says so', async () => {
  let connections = 0;
  const server = createServer({ key: KEY, cert: CERTIFICATE }, (_request, response) => response.end('[]'));
  server.on('connection', () => (connections += 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = createClient({
    baseUrl: `https://localhost:${(server.address() as AddressInfo).port}`,
    apiKey: new Secret('key-kept-secret'),
    timeoutSeconds: 5,
    concurrency: 1,
    limiter: createLimiter({ rate: { requests: 9, seconds: 1 }, reserve: 0, concurrency: 1, clock: systemClock }),
    userAgent: 'test',
  });
  onTestFinished(async () => {
    await client.close();
    server.close();
  });
  await expect(readAccount(client)).rejects.toMatchObject({
    exitCode: 2,
    message:
      'GET /pipelines failed: the certificate of the service is not trusted by this machine (DEPTH_ZERO_SELF_SIGNED_CERT)',
    hint: expect.stringContaining('NODE_EXTRA_CA_CERTS') as string,
  });
  expect(connections).toBe(1);
});
