// Lost without it: a wrong certificate could be retried instead of told.
import { createServer } from 'node:https';
import { expect, test } from 'vitest';
import { readAccount } from '../../src/service/directory.ts';
import { ONE } from './certificates.ts';
import { connectTo, listening } from './scripted-server.ts';

test('a certificate that is not trusted ends the survey at once, with exit 2 and a message that says so', async () => {
  let connections = 0;
  const server = createServer(ONE, (_request, response) => response.end('[]'));
  server.on('connection', () => (connections += 1));
  const { port } = new URL(await listening(server));
  const client = connectTo(`https://localhost:${port}`);
  await expect(readAccount(client)).rejects.toMatchObject({
    exitCode: 2,
    message:
      'GET /pipelines failed: the certificate of the service is not trusted by this machine (DEPTH_ZERO_SELF_SIGNED_CERT)',
    hint: expect.stringContaining('NODE_EXTRA_CA_CERTS') as string,
  });
  expect(connections).toBe(1);
});
