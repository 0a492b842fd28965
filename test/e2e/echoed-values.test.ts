import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { processed, startScripted, type Answer } from '../service/scripted-server.ts';
import { backfill, documentIn, FAST, files, workspace } from './harness.ts';

/** A service that repeats the event in every place of its errors. */
function echo(id: string, name: string): Answer {
  const text = `${name} (+39 333 1234567) is not allowed`;
  switch (id) {
    case 'page':
      return { status: 403, body: `<html><title>${text}</title>${text}</html>` };
    case 'down':
      return { status: 500, body: { error: { code: text, message: `failed for "${name}"`, field: name } } };
    case 'refused':
      return { status: 422, body: { error: { code: text, message: text, field: name } } };
    default:
      return processed();
  }
}

const VALUES = /mario|rossi|123.?45.?67/i;

test('values that the service repeats in errors reach errors.csv, but no file that must not contain values', async () => {
  const server = await startScripted(({ method, body }) =>
    method === 'GET' ? { status: 200, body: [] } : echo(String(body.data.external_id), String(body.data.full_name)),
  );
  onTestFinished(() => server.close());
  const cwd = await workspace();
  await files(cwd, {
    'people.csv': [
      'id,name,phone',
      'first,Ada,',
      ...['page', 'down', 'refused'].map((id) => `${id},Mario Rossi,+393331234567`),
      '',
    ].join('\n'),
    'mapping.yaml': `version: 1
migration: echo
sources: { people: { path: people.csv } }
events:
  - type: lead/created
    source: people
    data: { external_id: id, full_name: name, phone_number: phone }
`,
  });
  const env = { BACKFILL_BASE_URL: server.baseUrl, BACKFILL_API_KEY: 'key-of-a-test', BACKFILL_INGEST_TOKEN: 'token' };
  const ended = await backfill(['run', 'mapping.yaml', '--concurrency', '1', ...FAST], { cwd, env });
  expect(ended).toMatchObject({ code: 1 });
  const state = join(cwd, '.backfill/echo');
  expect(await readFile(join(state, 'errors.csv'), 'utf8')).toContain('Mario Rossi (+39 333 1234567) is not allowed');
  for (const name of await readdir(state)) {
    if (!/^(?:run\.log|report\.html|metrics\.prom|ids\.csv|checkpoint\.db.*)$/.test(name)) continue;
    expect(await readFile(join(state, name), 'latin1'), name).not.toMatch(VALUES);
  }
  for (const name of ['summary', 'survey', 'mapping']) {
    const text = JSON.stringify(await documentIn(state, name));
    expect(text.length).toBeGreaterThan(10);
    expect(text, name).not.toMatch(VALUES);
  }
  const log = await readFile(join(state, 'run.log'), 'utf8');
  expect(log).toContain('"message":"failed for …"');
  expect(log).toContain('"status":403,"message":"answered 403 with …"');
});
