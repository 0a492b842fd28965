// Lost without it: a proxy could see what is for this machine, or its password be shown.
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { UserError } from '../../src/errors.ts';
import type { Envelope } from '../../src/service/envelope.ts';
import { proxyFor } from '../../src/service/proxy.ts';
import { connectTo, listening, processed, serve } from './scripted-server.ts';

const SERVICE = 'https://api.service.test';
const PROXY = 'http://proxy.test:3128';

function uriFor(env: Readonly<Record<string, string>>, target = SERVICE): string | undefined {
  return proxyFor(new URL(target), env)?.uri.reveal().replace('ada:secret@', '').replace(/\/$/, '');
}

describe('the proxy of the environment', () => {
  test.each([
    ['https_proxy', { https_proxy: PROXY }],
    ['HTTPS_PROXY', { HTTPS_PROXY: PROXY }],
    ['another case', { Https_Proxy: PROXY }],
    ['HTTP_PROXY, for both protocols', { HTTP_PROXY: PROXY }],
    ['HTTPS_PROXY before HTTP_PROXY', { HTTPS_PROXY: PROXY, http_proxy: 'http://other.test:1' }],
    ['lower case before upper case', { https_proxy: PROXY, HTTPS_PROXY: 'http://other.test:1' }],
    ['an empty http_proxy', { http_proxy: '', https_proxy: PROXY }],
    ['an empty https_proxy', { https_proxy: ' ', HTTPS_PROXY: PROXY }],
    ['an empty NO_PROXY', { NO_PROXY: '', HTTPS_PROXY: PROXY }],
    ['no scheme', { HTTPS_PROXY: 'proxy.test:3128' }],
    ['spaces around', { HTTPS_PROXY: ` ${PROXY}/ ` }],
    ['credentials', { HTTPS_PROXY: 'http://ada:secret@proxy.test:3128' }],
    ['credentials without a scheme', { HTTPS_PROXY: 'ada:secret@proxy.test:3128' }],
  ])('is used: %s', (_name, env) => {
    expect(uriFor(env)).toBe(PROXY);
  });

  test('is not used for plain http if it is for https', () => {
    expect(uriFor({ HTTPS_PROXY: PROXY }, 'http://api.service.test')).toBeUndefined();
    expect(uriFor({})).toBeUndefined();
    expect(uriFor({ HTTPS_PROXY: '', http_proxy: '' })).toBeUndefined();
  });

  test('has the decoded password among the secrets, as it is and as it is sent', () => {
    const { secrets } = proxyFor(new URL(SERVICE), { HTTPS_PROXY: 'ada:s%40cret@proxy.test:3128' })!;
    const sent = Buffer.from('ada:s@cret').toString('base64');
    expect(secrets.map((secret) => secret.reveal())).toEqual(['s@cret', 's%40cret', sent]);
  });

  test.each([
    '127.0.0.1:8080',
    '127.8.9.1',
    '[::1]:8080',
    'localhost:1',
    'LOCALHOST',
    'a.localhost',
    '[::ffff:127.0.0.1]',
  ])('is never used for this machine: %s', (host) => {
    for (const scheme of ['http', 'https']) {
      expect(uriFor({ http_proxy: PROXY, https_proxy: PROXY }, `${scheme}://${host}`)).toBeUndefined();
    }
    expect(uriFor({ HTTP_PROXY: 'not a url' }, `http://${host}`)).toBeUndefined();
  });

  test.each([
    'not a url',
    'http://',
    'proxy.test:99999',
    'http:proxy.test:3128',
    'socks5://proxy.test:1080',
    'ftp://proxy.test',
    'http://ada:se#cret@proxy.test:3128',
    'http://ada:1#secret@proxy.test:3128',
    'http://ada:%zzsecret@proxy.test:3128',
    'http://proxy.test/proxy.pac',
  ])('is a usage error that names the variable and shows no credentials: %s', (value) => {
    const find = (): unknown => proxyFor(new URL(SERVICE), { Https_PROXY: value });
    expect(find).toThrow(UserError);
    expect(find).toThrow(/^Https_PROXY is not the address of an HTTP proxy$/);
    expect(find).toThrow(expect.objectContaining({ exitCode: 2 }) as Error);
  });
});

describe('a client behind a proxy', () => {
  const event = '{"data":{},"id":"1","suppress_triggers":true,"type":"lead/created"}' as Envelope;

  beforeEach(() => {
    for (const name of Object.keys(process.env)) if (/_proxy$/i.test(name)) vi.stubEnv(name, '');
    return () => vi.unstubAllEnvs();
  });

  /** A proxy that answers CONNECT with this status, and connects to `port` of this machine if it is 200. */
  async function startProxy(status: number, port = 0) {
    const asked: { host: string; authorization: string | undefined }[] = [];
    const proxy = createServer();
    proxy.on('connect', (request, socket) => {
      asked.push({ host: request.url!, authorization: request.headers['proxy-authorization'] });
      socket.on('error', () => undefined);
      if (status !== 200) return socket.end(`HTTP/1.1 ${status} no\r\n\r\n`);
      const onward = connect(port, '127.0.0.1');
      onward.on('error', () => socket.destroy());
      socket.write('HTTP/1.1 200 ok\r\n\r\n');
      return socket.pipe(onward).pipe(socket);
    });
    return { asked, host: new URL(await listening(proxy)).host };
  }

  test('reaches the service through it, with its credentials', async () => {
    const server = await serve(() => processed());
    const proxy = await startProxy(200, Number(new URL(server.baseUrl).port));
    vi.stubEnv('HTTP_PROXY', `ada:secret@${proxy.host}`);
    expect(await connectTo('http://service.invalid').ingest(event)).toMatchObject({ kind: 'acknowledged' });
    const authorization = `Basic ${Buffer.from('ada:secret').toString('base64')}`;
    expect(proxy.asked).toEqual([{ host: 'service.invalid:80', authorization }]);
  });

  test.each([
    ['*', true],
    ['service.invalid', true],
    ['.invalid', true],
    ['*.invalid', true],
    ['other.test, SERVICE.Invalid', true],
    ['other.test service.invalid:80', true],
    ['service.invalid:8443', false],
    ['vice.invalid', false],
  ])('with NO_PROXY=%s goes directly: %s', async (noProxy, isDirect) => {
    const proxy = await startProxy(502);
    vi.stubEnv('http_proxy', proxy.host);
    vi.stubEnv('no_proxy', noProxy);
    expect(await connectTo('http://service.invalid').ingest(event)).toMatchObject({ code: 'unreachable', sent: 'no' });
    expect(proxy.asked).toHaveLength(isDirect ? 0 : 1);
  });

  test('is told that its credentials for the proxy were refused', async () => {
    const proxy = await startProxy(407);
    vi.stubEnv('http_proxy', `ada:wrong-one@${proxy.host}`);
    const attempt = await connectTo('http://service.invalid').ingest(event);
    expect(attempt).toMatchObject({
      kind: 'unanswered',
      code: 'proxy_auth',
      message: 'the proxy of http_proxy refused its credentials (407)',
      sent: 'no',
      setup: true,
    });
    expect(JSON.stringify(attempt)).not.toContain('wrong-one');
  });
});
