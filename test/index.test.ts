import { expect, it } from 'vitest';
import { runMigration, surveyMigration, UserError, type MigrationOptions } from '../src/index.ts';

const options: MigrationOptions = {
  mapping: 'nowhere.yaml',
  service: { baseUrl: 'https://api.example.test', apiKey: 'key', ingestToken: 'token' },
};

it.each<[Partial<MigrationOptions>, string]>([
  [{ reserve: Number.NaN }, '--reserve: `NaN` is not a whole number'],
  [{ concurrency: 0 }, '--concurrency: `0` is not'],
  [{ timeoutSeconds: Number.POSITIVE_INFINITY }, '--timeout: `Infinity` is not'],
  [{ rate: { requests: 0, seconds: 60 } }, '--rate: `0/60s` is not a rate'],
  [{ maxErrors: '101%' }, '--max-errors'],
  [{ maxOutageSeconds: -1 }, '--max-outage'],
  [{ until: new Date(Number.NaN) }, '--until: `Invalid Date` is not a time'],
  [{ plan: '0123' }, '--plan: `0123` is not a plan'],
  [{ pick: ['note:1'] }, '--pick'],
  [{ only: [] as never, limit: 1.5 }, '--limit'],
])('refuses the same options as the command line: %o', async (wrong, message) => {
  const refused = await runMigration({ ...options, ...wrong }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(UserError);
  expect((refused as UserError).message).toContain(message);
});

it('refuses a missing mapping, as the command line does', async () => {
  await expect(surveyMigration({} as MigrationOptions)).rejects.toThrow('<mapping>: missing');
});
