import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import type { SettledLine } from '../../src/checkpoint/lines.ts';
import { writeReport } from '../../src/report/html/write.ts';
import { MigrationStatusReader } from '../../src/report/migration-status.ts';
import { statusText } from '../../src/report/status-text.ts';
import { stateDirectory } from './state.ts';

function settled(externalId: string): string {
  const line: SettledLine = {
    id: '11111111-1111-5111-8111-111111111111',
    type: 'lead/created',
    external_id: externalId,
    status: 'acknowledged',
    outcome: 'created',
    entity_id: 'e1',
    code: null,
    content_sha: 'a'.repeat(32),
    fields: {},
    at: '2026-01-01T00:00:00.000Z',
  };
  return `${JSON.stringify(line)}\n`;
}

it('status and report count the valid lines of a damaged checkpoint, and report the damage', async () => {
  const state = await stateDirectory();
  const path = state.file('checkpoint.ndjson');
  const reader = new MigrationStatusReader(state);
  const status = async (): Promise<string> => {
    const view = { holder: undefined, downSince: undefined, path: state.path, now: new Date() };
    return statusText({ status: await reader.read(), ...view }, 80);
  };

  await writeFile(path, settled('1'));
  expect(await status()).toContain('1 event acknowledged');
  expect(await status()).not.toContain('damaged');

  await appendFile(path, `\0\0\0\n${settled('2')}`);
  expect(await status()).toContain('2 events acknowledged');
  expect(await status()).toContain('The checkpoint is damaged (line 2)');

  await appendFile(path, '{"id":1}\n');
  expect(await status()).toContain('The checkpoint is damaged (line 2 and 1 more)');
  const page = await readFile(await writeReport(state, { withValues: false }), 'utf8');
  expect(page).toContain('The checkpoint is damaged (line 2 and 1 more)');
});

it.each([false, true])(
  'a state directory of any content gives a page that runs nothing (values: %s)',
  async (withValues) => {
    const bad = '"><script>alert(1)</script><img src=x onerror=alert(1)>';
    const values = [
      bad,
      1e400,
      -1,
      null,
      [bad],
      { [bad]: bad, constructor: bad },
      'constructor',
      '__proto__',
      '9999-99-99',
      true,
    ];
    const counts = { total: 1, acknowledged: 1, duplicates: 0, invalid: 0, rejected: 0, blocked: 0, pending: 0 };
    const at = '2026-01-01T00:00:00.000Z';
    const summary = {
      ...{
        migration: bad,
        dry_run: false,
        exit: { code: 3, reason: bad },
        base_url: bad,
        started_at: at,
        finished_at: at,
      },
      ...{ records: { read: 1, mapped: 1, skipped: 0, unreadable: 0 }, events: counts, warnings_by_code: { [bad]: 1 } },
      by_type: { 'lead/created': counts },
    };
    const survey = { ...summary, at: '2027-01-01T00:00:00.000Z', to_send: 1, rate: { requests: 100, seconds: 60 } };
    const header = {
      kind: 'header',
      version: 1,
      migration: bad,
      base_url: bad,
      account: { pipeline_ids: [bad], user_ids: [] },
    };
    const error = {
      ...{ file: bad, line: 1, record: 1, event_type: bad, external_id: bad, kind: bad, code: bad },
      message: bad,
    };
    const run = { kind: 'run', tool: bad, at: bad, inputs: bad };
    const blocked = { ...error, kind: 'blocked', message: `lead \`${bad}\` was not accepted` };
    const lines = [header, run, JSON.parse(settled(bad)), error, blocked].map(
      (line) => line as Record<string, unknown>,
    );
    const state = await stateDirectory();
    const changed = (line: object, value: unknown): object[] => [
      line,
      ...Object.keys(line).map((key) => ({ ...line, [key]: value })),
    ];
    for (const value of values) {
      const ndjson = (of: readonly object[]): string =>
        of
          .flatMap((line) => changed(line, value))
          .map((line) => `${JSON.stringify(line)}\n`)
          .join('');
      await writeFile(state.file('checkpoint.ndjson'), `${JSON.stringify(header)}\n${ndjson(lines.slice(1, 3))}`);
      await writeFile(state.file('errors.ndjson'), ndjson(lines.slice(3)));
      await writeFile(
        state.file('omitted.csv'),
        `source,file,line,external_id,field,original,reason\n${`${bad},`.repeat(9)}\n`,
      );
      for (const [stored, other] of [
        ...changed(summary, value).map((each) => [each, survey] as const),
        ...changed(survey, value).map((each) => [summary, each] as const),
      ]) {
        await writeFile(state.file('summary.json'), JSON.stringify(stored));
        await writeFile(state.file('survey.json'), JSON.stringify(other));
        const page = await readFile(await writeReport(state, { withValues }), 'utf8');
        // Quoted attributes may contain any text: a quote in it is escaped.
        expect(page.replace(/"[^"]*"/g, '')).not.toMatch(/<(script|img)|<[^>]*\son\w+=/);
      }
    }
  },
);
