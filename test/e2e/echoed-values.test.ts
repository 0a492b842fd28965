// Lost without it: values that the service repeats could reach files that are handed on.
import { readdir, readFile } from 'node:fs/promises';
import { useFastClock } from '../clock.ts';
import { expect, test } from 'vitest';
import { processed, serve, type Answer } from '../service/scripted-server.ts';
import { documentIn, mapping, project } from './harness.ts';

useFastClock();

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
  const server = await serve(({ method, body }) =>
    method === 'GET' ? { status: 200, body: [] } : echo(String(body.data.external_id), String(body.data.full_name)),
  );
  const rows = ['page', 'down', 'refused'].map((id) => `${id},Mario Rossi,+393331234567\n`);
  const contents = {
    'people.csv': `id,name,phone\nfirst,Ada,\n${rows.join('')}`,
    'mapping.yaml': mapping({
      people: 'type: lead/created, data: { external_id: id, full_name: name, phone_number: phone }',
    }),
  };
  const { run, state, stored } = await project(contents, { baseUrl: server.baseUrl });
  const ended = await run('--concurrency', '1');
  expect(ended).toMatchObject({ code: 1 });
  expect(await stored('errors.csv')).toContain('Mario Rossi (+39 333 1234567) is not allowed');
  for (const name of await readdir(state())) {
    if (!/^(?:run\.log|report\.html|metrics\.prom|ids\.csv|checkpoint\.db.*)$/.test(name)) continue;
    expect(await readFile(state(name), 'latin1'), name).not.toMatch(VALUES);
  }
  for (const name of ['summary', 'survey', 'mapping']) {
    const text = JSON.stringify(await documentIn(state(), name));
    expect(text.length).toBeGreaterThan(10);
    expect(text, name).not.toMatch(VALUES);
  }
  const log = await stored('run.log');
  expect(log).toContain('"message":"failed for …"');
  expect(log).toContain('"status":403,"message":"answered 403 with …"');
});
