// Lost without it: a packed answer could be taken for a broken one.
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { Client } from '../../src/service/client.ts';
import type { Envelope } from '../../src/service/envelope.ts';
import { connectTo, serve, type Answer } from './scripted-server.ts';

/** A client of a server that gives this answer to everything. */
async function clientOf(answer: Answer): Promise<Client> {
  return connectTo((await serve(() => answer)).baseUrl);
}

const event = '{"data":{},"id":"1","suppress_triggers":true,"type":"lead/created"}' as Envelope;
const processed = { status: 'processed', entity: 'Lead', id: 'srv-1', outcome: 'created', deduplicated: false };
const plain = Buffer.from(JSON.stringify(processed));

test.each([
  ['gzip', gzipSync(plain)],
  ['GZIP', gzipSync(plain)],
  ['x-gzip', gzipSync(plain)],
  ['deflate', deflateSync(plain)],
  ['deflate', deflateRawSync(plain)],
  ['br', brotliCompressSync(plain)],
  ['deflate, gzip', gzipSync(deflateSync(plain))],
  ['identity', plain],
])('a compressed answer is read although it was not asked for: %s', async (encoding, body) => {
  const client = await clientOf({ status: 200, body, headers: { 'content-encoding': encoding } });
  expect(await client.ingest(event)).toEqual({ kind: 'acknowledged', acknowledgement: processed });
  expect(await client.get('/leads/1')).toMatchObject({ kind: 'answered', reply: { body: plain.toString() } });
});

test.each([
  ['is cut off', 'gzip', gzipSync(plain).subarray(0, -12), 'damaged'],
  ['is cut off', 'br', brotliCompressSync(plain).subarray(0, -3), 'damaged'],
  ['is not compressed', 'gzip', plain, 'damaged'],
  ['is in an unknown encoding', 'compress', plain, 'content encoding is not gzip, deflate or br'],
  ['is in an encoding named like a method', 'constructor', plain, 'content encoding is not gzip, deflate or br'],
  ['is compressed again and again', 'br,br,br,br', plain, 'compressed too many times'],
])('an answer that %s (%s) is no answer', async (_name, encoding, body, why) => {
  const client = await clientOf({ status: 200, body, headers: { 'content-encoding': encoding } });
  expect(await client.ingest(event)).toMatchObject({
    kind: 'unanswered',
    code: 'unexpected_answer',
    sent: 'maybe',
    message: expect.stringContaining(why) as string,
  });
});

test.each([
  ['gzip', gzipSync],
  ['br', (bomb: Buffer) => brotliCompressSync(bomb)],
  ['gzip, gzip', (bomb: Buffer) => gzipSync(gzipSync(bomb))],
])('an answer that would fill the memory is cut off: %s', async (encoding, compress) => {
  const body = compress(Buffer.alloc(64 * 1024 * 1024, ' '));
  const client = await clientOf({ status: 200, body, headers: { 'content-encoding': encoding } });
  expect(await client.ingest(event)).toMatchObject({ kind: 'unanswered', code: 'too_large' });
});
