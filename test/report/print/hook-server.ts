import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { Secret } from '../../../src/redact.ts';
import type { Notification } from '../../../src/report/print/messages.ts';

export interface Called {
  readonly method: string;
  readonly url: string;
  readonly body: Partial<Notification>;
}

/** A chat that records what it is called with; `answer` gives the status, or undefined for no answer at all. */
export async function hookServer(answer: (call: Called, nth: number) => number | undefined = () => 200) {
  const calls: Called[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      let text = '';
      for await (const chunk of request) text += String(chunk);
      const call = {
        method: request.method!,
        url: request.url!,
        body: (text === '' ? {} : JSON.parse(text)) as object,
      };
      calls.push(call);
      const status = answer(call, calls.length);
      if (status !== undefined) response.writeHead(status, { location: '/elsewhere' }).end('ok');
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/services/T0KEN/x7?key=h1dden`;
  return { calls, url, secret: new Secret(url) };
}
