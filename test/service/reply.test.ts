// Lost without it: an answer of the service could be misread.
import { describe, expect, test } from 'vitest';
import { errorOf } from '../../src/service/error-body.ts';
import { readError, readIngestReply, readRestReply, readRetryAfter } from '../../src/service/reply.ts';

const NOW = Date.UTC(2026, 10, 21, 8, 0, 0);

function reply(status: number, body: unknown = '', headers: Record<string, string> = {}) {
  return { status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

describe('all error formats of the service are read', () => {
  test.each([
    [{ error: 'plain' }, undefined, 'plain'],
    [{ success: false, error: { code: 'c1', message: 'm1' } }, 'c1', 'm1'],
    [{ error: { code: 'c2', message: 'm2', field: 'data.email' } }, 'c2', 'm2'],
    [{ code: 'c3', message: 'm3' }, 'c3', 'm3'],
    [{ message: 'm4', error: '' }, undefined, 'm4'],
    ['<html><head><title>Bad  Gateway</title></head>', undefined, 'answered 400 with a web page titled Bad Gateway'],
    ['', undefined, 'answered 400 with an empty body'],
    ['"text"', undefined, 'answered 400 with `"text"`'],
    ['[]', undefined, 'answered 400 with `[]`'],
    ['null', undefined, 'answered 400 with `null`'],
  ])('%j', (body, code, message) => {
    expect(errorOf(reply(400, body))).toMatchObject({ message, ...(code ? { code } : {}) });
    expect(readIngestReply(reply(400, body), NOW, 'Lead')).toMatchObject({
      kind: 'refused',
      code: code ?? 'http_400',
      message,
    });
  });

  test('the field, if the service gives one', () => {
    expect(errorOf(reply(400, { error: { code: 'c', message: 'm', field: 'data.email' } })).field).toBe('data.email');
  });
});

describe('what cannot be printed is not quoted', () => {
  test.each([
    ['binary', '\u001f\ufffd\u0008\u0000PNG\ufffd\ufffd', 'answered 400 with binary data'],
    [
      'escape sequences',
      'access \u001b[31mdenied\u009b2J by the firewall',
      'answered 400 with `access [31mdenied 2J by the firewall`',
    ],
    ['text direction', 'txt.\u202egnp is not allowed here', 'answered 400 with `txt. gnp is not allowed here`'],
    ['a title', '<html><title>\u001b[2JBlocked\u0000</title>', 'answered 400 with a web page titled [2JBlocked'],
    ['a message', { error: 'no\u001b\u0007 way\ufffd' }, 'no way'],
    ['nothing but control characters', { error: '\u0000\u0001' }, 'answered 400 with `{"error":"\\u0000\\u0001"}`'],
  ])('%s', (_name, body, message) => {
    expect(errorOf(reply(400, body)).message).toBe(message);
  });

  test.each([
    ['control characters', 'a\u001bb'],
    ['a name', 'Mario Rossi is not allowed'],
    ['a phone number', '+393331234567'],
    ['a sentence of the event', 'x'.repeat(81)],
  ])('in codes and names of fields: with %s they are ignored', (_name, text) => {
    const error = { code: text, message: 'm', field: text };
    expect(errorOf(reply(400, { error }))).toEqual({ message: 'm' });
  });
});

describe('Retry-After', () => {
  test.each([
    ['30', 30_000],
    ['0.5', 500],
    ['-3', 0],
    ['Sat, 21 Nov 2026 08:00:45 GMT', 45_000],
    ['Sat, 21 Nov 2026 07:00:00 GMT', 0],
    ['soon', undefined],
    ['30, 45', 45_000],
    ['60, soon', 60_000],
    ['5, Sat, 21 Nov 2026 08:00:45 GMT', 45_000],
    ['Sat, 21 Nov 2026 08:00:10 GMT, Saturday, 21-Nov-26 08:00:20 GMT', 20_000],
    // The Unix time of 08:00:45, and of an hour before it.
    ['1795248045', 45_000],
    ['1795248045000', 45_000],
    ['1795244445', 0],
    ['999999999', 365 * 86_400_000],
    ['1e308', 365 * 86_400_000],
    ['', undefined],
    [undefined, undefined],
  ])('%j', (value, expected) => {
    expect(readRetryAfter(value === undefined ? {} : { 'retry-after': value }, NOW)).toBe(expected);
  });

  test.each([
    ['Tue, 01 Jan 2036 00:00:30 GMT', 'Tue, 01 Jan 2036 00:00:00 GMT', 30_000],
    ['Wed, 01 Jan 2020 00:00:30 GMT', 'Wed, 01 Jan 2020 00:00:00 GMT', 30_000],
    ['Sat, 21 Nov 2026 08:00:45 GMT', 'soon', 45_000],
  ])('%j is measured from the Date of the answer, %j, because the clocks may disagree', (value, date, expected) => {
    expect(readRetryAfter({ 'retry-after': value, date }, NOW)).toBe(expected);
  });
});

describe('an acknowledgement', () => {
  const processed = { status: 'processed', entity: 'Deal', id: 'srv-1', outcome: 'created', deduplicated: false };

  test('names the entity of the event', () => {
    expect(readIngestReply(reply(200, processed), NOW, 'Deal')).toMatchObject({ kind: 'acknowledged' });
    expect(readIngestReply(reply(200, processed), NOW, 'Lead')).toMatchObject({
      kind: 'unanswered',
      code: 'unexpected_answer',
      sent: 'maybe',
    });
  });
});

test('an id of the service is shown without what a terminal would interpret', () => {
  const body = { status: 'processed', entity: 'Deal', id: 'a\u001b[2J\nb', outcome: 'created', deduplicated: false };
  expect(readIngestReply(reply(200, body), NOW, 'Deal')).toMatchObject({
    acknowledgement: { id: 'a[U+001B][2J\\nb' },
  });
});

describe('is no acknowledgement:', () => {
  const processed = { status: 'processed', entity: 'Deal', id: 'srv-1', outcome: 'created', deduplicated: false };

  test.each([
    [201, processed],
    [202, processed],
    [200, { ...processed, success: false }],
    [200, { ...processed, id: '' }],
    [200, { success: true, data: processed }],
  ])('%i %j', (status, body) => {
    expect(readIngestReply(reply(status, body), NOW, 'Deal')).toMatchObject({
      kind: 'unanswered',
      code: 'unexpected_answer',
      sent: 'maybe',
      status,
    });
  });
});

describe('answers of REST routes', () => {
  test.each([
    [200, '[]', 'answered'],
    [204, '', 'answered'],
    [200, '<html>', 'unanswered'],
    [401, '', 'unauthorised'],
    [404, { error: 'no such lead' }, 'refused'],
    [409, { error: 'conflict' }, 'refused'],
    [429, '', 'rate_limited'],
    [500, '', 'unanswered'],
    [302, '', 'unanswered'],
  ])('%i %j is %s, with the answer', (status, body, kind) => {
    expect(readRestReply(reply(status, body), NOW)).toMatchObject({ kind, reply: { status } });
  });
});

describe('errors', () => {
  test.each([
    ['ECONNREFUSED', 'unreachable', 'no'],
    ['ENOTFOUND', 'unreachable', 'no'],
    ['EAI_AGAIN', 'unreachable', 'no'],
    ['UND_ERR_CONNECT_TIMEOUT', 'unreachable', 'no'],
    ['ECONNRESET', 'connection_lost', 'maybe'],
    ['EPIPE', 'connection_lost', 'maybe'],
    ['UND_ERR_SOCKET', 'connection_lost', 'maybe'],
    ['HPE_INVALID_CONSTANT', 'connection_lost', 'maybe'],
    ['CERT_HAS_EXPIRED', 'tls', 'no'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls', 'no'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls', 'no'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls', 'no'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls', 'no'],
    ['UND_ERR_INVALID_ARG', 'unsendable', 'no'],
    ['ERR_INVALID_URL', 'unsendable', 'no'],
  ])('%s is %s and was sent: %s', (code, expected, sent) => {
    const error = Object.assign(new Error('https://host/secret'), { code, input: 'https://host/secret' });
    const read = readError(error, undefined);
    expect(read).toMatchObject({ kind: 'unanswered', code: expected, sent });
    expect(read.setup === true).toBe(expected === 'tls' || expected === 'unsendable');
    expect(read.message).toContain(code);
    expect(JSON.stringify(read)).not.toContain('secret');
  });

  test.each([
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'is not trusted by this machine', 'NODE_EXTRA_CA_CERTS'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'is not trusted by this machine', 'NODE_EXTRA_CA_CERTS'],
    ['CERT_HAS_EXPIRED', 'has expired', 'clock'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'is for another host name', 'base URL'],
  ])('%s says that the certificate %s', (code, says, hint) => {
    expect(readError(Object.assign(new Error('x'), { code }), undefined)).toMatchObject({
      message: `the certificate of the service ${says} (${code})`,
      hint: expect.stringContaining(hint) as string,
    });
  });

  test('the code of the cause is used if the error has none; any other error may have been sent', () => {
    const cause = Object.assign(new Error('inner'), { code: 'ECONNREFUSED' });
    expect(readError(new Error('outer', { cause }), undefined)).toMatchObject({ code: 'unreachable' });
    expect(readError('odd', undefined)).toMatchObject({ code: 'connection_lost', sent: 'maybe' });
    expect(readError(undefined, undefined)).toMatchObject({ sent: 'maybe' });
  });
});
