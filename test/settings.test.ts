// Lost without it: an option could be read as another value.
import { describe, expect, it } from 'vitest';
import { EVENT_TYPES } from '../src/kinds/index.ts';
import { checkBaseUrl, credentials } from '../src/settings/credentials.ts';
import { UserError } from '../src/errors.ts';
import { DEFAULT_RATE, runSettings } from '../src/settings/run-settings.ts';

const given = (options: Record<string, unknown>) => runSettings({ mapping: 'm.yaml', ...options });

describe('the options of run', () => {
  it('have the defaults that the help shows', () => {
    expect(DEFAULT_RATE).toEqual({ requests: 100, seconds: 60 });
    expect(given({})).toMatchObject({
      rate: DEFAULT_RATE,
      source: new Map(),
      selection: { pick: [], only: EVENT_TYPES, pilot: undefined },
      concurrency: 10,
      timeout: 30,
      maxErrors: { count: 100 },
      maxOutage: 12 * 3_600_000,
      maxRejectionsInARow: 25,
      dryRun: false,
    });
    for (const name of ['state', 'plan', 'until'] as const) {
      expect(given({})[name]).toBeUndefined();
    }
  });

  it.each<[Record<string, unknown>, Record<string, unknown>]>([
    [{ rate: '50/30s' }, { rate: { requests: 50, seconds: 30 } }],
    [{ maxErrors: '5%' }, { maxErrors: { percent: 5 } }],
    [{ maxOutage: '90s' }, { maxOutage: 90_000 }],
    [{ maxOutage: '2d' }, { maxOutage: 172_800_000 }],
    [{ pick: ['lead:a:b'] }, { selection: { pick: [{ entity: 'lead', externalId: 'a:b' }] } }],
    [{ only: ['deal,comment/created'] }, { selection: { only: ['deal/created', 'deal/updated', 'comment/created'] } }],
    [{ plan: ' 0123456789AB' }, { plan: '0123456789ab' }],
    [
      { dryRun: true, plan: '0123456789ab' },
      { dryRun: true, plan: '0123456789ab' },
    ],
    [{ concurrency: 3 }, { concurrency: 3 }],
    [{ until: '2030-01-01T06:00:00Z' }, { until: new Date('2030-01-01T06:00:00Z') }],
    [{ until: '6:05' }, { until: { hours: 6, minutes: 5 } }],
    [{ until: '2030-01-01T06:00:00' }, { until: { local: Date.UTC(2030, 0, 1, 6) } }],
  ])('are read: %j', (options, expected) => {
    expect(given(options)).toMatchObject(expected);
  });

  it.each<[Record<string, unknown>, string]>([
    [{ rate: 'abc' }, '--rate: `abc` is not a rate like `100/60s`'],
    [{ rate: '' }, '--rate: empty, expected a rate like'],
    [{ rate: ['100/60s', '50/60s'] }, '--rate: given more than once'],
    [{ rate: '0/60s' }, '--rate'],
    [{ rate: '20/60s@08:00-19:00' }, '`20/60s@08:00-19:00` is not a rate like `100/60s`'],
    [{ concurrency: '0' }, '--concurrency'],
    [{ concurrency: '2.5' }, '--concurrency'],
    [{ concurrency: '1e1' }, '--concurrency'],
    [{ concurrency: Number.NaN }, '--concurrency: `NaN` is not'],
    [{ timeout: 'Infinity' }, '--timeout'],
    [{ timeout: '0' }, '--timeout: `0` is not a number of seconds from 0.001 to 3,600'],
    [{ timeout: '99999999999' }, '--timeout: `99999999999` is not a number of seconds'],
    [{ timeout: '0x10' }, '--timeout'],
    [{ concurrency: '1001' }, '--concurrency: `1001` is not a whole number from 1 to 1,000'],
    [{ pilot: '99999999999999999999' }, '--pilot: `99999999999999999999` is not a whole number from 1 to'],
    [{ pilot: '0' }, '--pilot'],
    [{ maxRejectionsInARow: '1.5' }, '--max-rejections-in-a-row: `1.5` is not a whole number from 0'],
    [{ maxErrors: '99999999999999999999' }, '--max-errors'],
    [{ maxErrors: '-5%' }, '--max-errors'],
    [{ maxOutage: '366d' }, '--max-outage: `366d` is not a duration like `90s`, `30m`, `12h` or `2d` (at most 365d)'],
    [{ maxOutage: `${'9'.repeat(400)}s` }, '--max-outage'],
    [{ maxOutage: '-1h' }, '--max-outage'],
    [{ rate: '100/99999999999s' }, '--rate'],
    [{ rate: '100/0s' }, '--rate'],
    [{ rate: '100/0.0001s' }, '--rate'],
    [{ rate: '99999999999/60s' }, '--rate'],
    [{ until: '2026-02-30T99:00:00Z' }, '--until'],
    [{ until: '2027-02-29T06:00:00Z' }, '--until'],
    [{ until: '2030-06-31T06:00:00' }, '--until'],
    [{ pilot: '-1' }, '--pilot'],
    [{ state: ['a', 'b'] }, '--state: given more than once'],
    [{ plan: '0123456789a' }, '--plan: `0123456789a` is not a plan'],
    [{ plan: '0123456789abc' }, '--plan'],
    [{ plan: '0123456789ag' }, '--plan'],
    [{ plan: ['0123456789ab', '0123456789ab'] }, '--plan: given more than once'],
    [{ adopt: 'yes' }, '--adopt: expected true or false'],
    [{ mapping: undefined }, '<mapping>: missing'],
    [{ maxErrors: '101%' }, '--max-errors'],
    [{ maxOutage: '12' }, '--max-outage'],
    [{ until: 'tomorrow' }, '--until'],
    [{ source: ['a=1', 'a=2'] }, 'names `a` a second time'],
    [{ source: ['contacts'] }, '--source: `contacts` is not NAME=PATH'],
    [{ pick: ['note:1'] }, '--pick: `note:1` is neither lead:ID nor deal:ID'],
    [{ only: ['leed'] }, 'did you mean `lead`'],
    [{ offline: true }, '--offline requires --dry-run'],
    [{ pilot: '1', pick: ['lead:1'] }, '--pilot and --pick cannot be combined'],
    [{ sandbox: true, baseUrl: 'https://x.example' }, '--sandbox and --base-url cannot be combined'],
  ])('are refused: %j', (options, message) => {
    expect(() => given(options)).toThrow(message);
  });

  it('are all refused in one error', () => {
    expect(() => given({ rate: 'x', pilot: 'y' })).toThrow(/--pilot[^]*--rate/);
  });
});

describe('the credentials', () => {
  const env = {
    BACKFILL_BASE_URL: 'https://api.example.test/',
    BACKFILL_API_KEY: 'key1',
    BACKFILL_INGEST_TOKEN: 'tok1',
  };

  it('come from the environment', () => {
    const { baseUrl, apiKey, ingestToken } = credentials(undefined, env);
    expect([baseUrl, apiKey.reveal(), ingestToken.reveal()]).toEqual(['https://api.example.test', 'key1', 'tok1']);
  });

  it('come from the URL copied from the dashboard', () => {
    const copied = {
      BACKFILL_INGEST_URL: 'https://api.example.test/v1/webhooks/ingest/tok2',
      BACKFILL_API_KEY: 'key1',
    };
    const { baseUrl, ingestToken } = credentials(undefined, copied);
    expect([baseUrl, ingestToken.reveal()]).toEqual(['https://api.example.test/v1', 'tok2']);
  });

  it.each([
    'https://api.example.test/webhooks/ingest/secret%zz',
    'https://api.example.test/%zz/webhooks/ingest/secret',
  ])('are refused in the URL %s without repeating a secret', (url) => {
    const read = (): unknown => credentials(undefined, { BACKFILL_INGEST_URL: url, BACKFILL_API_KEY: 'key1' });
    expect(read).toThrow(UserError);
    expect(read).toThrow(/^BACKFILL_INGEST_URL contains a `%` that does not encode a character$/);
  });

  it.each([
    ['more than a request can carry', 'secret'.repeat(800)],
    ['control characters', 'secret\u0007'],
  ])('that no request can send are refused without being shown: %s', (message, secret) => {
    for (const name of ['BACKFILL_API_KEY', 'BACKFILL_INGEST_TOKEN']) {
      const read = (): unknown => credentials(undefined, { ...env, [name]: secret });
      expect(read).toThrow(new RegExp(`^${name} (?!.*secret).*${message}`));
    }
  });

  it('are all listed if they are missing', () => {
    const hint = expect.stringMatching(/BACKFILL_API_KEY=[^]*BACKFILL_INGEST_URL=/) as string;
    expect(() => credentials(undefined, {})).toThrow(expect.objectContaining({ hint }));
  });

  it.each([
    ['http://api.example.test', 'https only'],
    ['ftp://127.0.0.1', 'https only'],
    ['https://user:secret@api.example.test', 'more than host and path'],
    ['https://api.example.test/webhooks/ingest/secret', 'BACKFILL_INGEST_URL'],
    ['api.example.test', 'is not a valid URL'],
  ])('refuse the base URL %s without printing a secret', (url, message) => {
    expect(() => checkBaseUrl(url)).toThrow();
    try {
      checkBaseUrl(url);
    } catch (error) {
      expect(`${(error as Error).message} ${(error as { hint?: string }).hint}`).toContain(message);
      expect((error as Error).message).not.toContain('secret');
    }
  });

  it('allow plain http for this machine', () => {
    expect(checkBaseUrl('http://127.0.0.1:8080/')).toBe('http://127.0.0.1:8080');
    expect(checkBaseUrl('http://[::1]:8080')).toBe('http://[::1]:8080');
  });
});
