// Lost without it: a refusal could name the wrong field, or advise what does not help.
import { expect, it } from 'vitest';
import { parse } from 'csv-parse/sync';
import { mapping, project } from '../e2e/harness.ts';
import { failed, processed, serve, type Answer } from '../service/scripted-server.ts';

const STAGE = '0b0f6f0e-3f4b-4f0e-9a39-1f6a5c2d7e10';

/** A service that has one stage and answers events as told. Runs a mapping of entries against it; returns what errors.csv has. */
async function errorsOf(
  entries: Readonly<Record<string, string>>,
  exports: Readonly<Record<string, string>>,
  answer: (id: string) => Answer,
) {
  const server = await serve(({ method, url, body }) => {
    if (method === 'POST') return answer(String(body.data.external_id));
    const pipelines = [{ id: 'p-1', name: 'Sales', type: 'DEAL', stages: [{ id: STAGE, name: 'New' }] }];
    return { status: 200, body: url.startsWith('/pipelines') && url.includes('page=1&') ? pipelines : [] };
  });
  const contents = { 'mapping.yaml': mapping(entries), ...exports };
  const { told, command, stored } = await project(contents, { baseUrl: server.baseUrl });
  const ended = await told();
  const errors = parse<Record<string, string>>(await stored('errors.csv'), { columns: true });
  expect((await command('report', '--with-values')).code).toBe(0);
  return { ended, errors, page: await stored('report.html'), server };
}

const NOTES = 'type: comment/created, data: { external_id: id, content: text, lead_external_id: person }';
const DEALS = { deals: 'type: deal/created, data: { external_id: id, title: title, stage_id: stage }' };

it('the field that the message of the service names is in errors.csv and in the report', async () => {
  const messages: Readonly<Record<string, string>> = {
    a: 'title: too long',
    b: 'no such thing',
    c: 'data.stage_id is odd',
  };
  const { errors, page } = await errorsOf(
    DEALS,
    { 'deals.csv': `id,title,stage\n${[...'dabc'].map((id) => `${id},Title ${id},${STAGE}\n`).join('')}` },
    (id) => (messages[id] === undefined ? processed() : failed(400, 'invalid_payload', messages[id])),
  );
  expect(errors.map(({ external_id, field, message }) => [external_id, field, message])).toEqual([
    ['a', 'title', 'title: too long'],
    ['b', '', 'no such thing'],
    ['c', 'stage_id', 'data.stage_id is odd'],
  ]);
  const rows = page.split('</tr>').map((row) => row.replace(/<[^>]*>/g, ' '));
  expect(rows.some((row) => /\bstage\b.*data\.stage_id is odd/is.test(row))).toBe(true);
  expect(rows.some((row) => /\btitle\b.*title: too long/is.test(row))).toBe(true);
});

it('a stage that vanished during the run is not for the mapping to correct: a rerun reads the account again', async () => {
  const { errors, ended } = await errorsOf(DEALS, { 'deals.csv': `id,title,stage\na,A,${STAGE}\n` }, () =>
    failed(422, 'unresolved_reference', 'no such stage'),
  );
  expect(errors).toMatchObject([{ code: 'unresolved_reference', kind: 'send' }]);
  expect(ended.stdout.replace(/\s+/g, ' ')).toMatch(/hint: rerun: pipelines and users are read again/);
  expect(ended.stdout).not.toContain('references');
});

it('a stage_id that the account does not have is to be corrected in the export, not mapped as a name', async () => {
  const unknown = STAGE.replace('0b', '1c');
  const { errors, server } = await errorsOf(DEALS, { 'deals.csv': `id,title,stage\na,A,${unknown}\n` }, () =>
    processed(),
  );
  expect(errors).toMatchObject([{ code: 'unresolved_stage', field: 'stage_id' }]);
  expect(errors[0]!.message).toContain(unknown);
  expect(errors[0]!.hint).toMatch(/GET \/pipelines.*stage_name/);
  expect(server.arrived.filter(({ method }) => method === 'POST')).toEqual([]);
});

it('a parent whose update was skipped does not exist in the service: it is not called absent from the input', async () => {
  const { errors } = await errorsOf(
    { people: 'type: lead/updated, if_missing: skip, data: { external_id: id, full_name: name }', notes: NOTES },
    {
      'people.csv': 'id,name\np1,Ada\np2,Bob\n',
      'notes.csv': 'id,text,person\nn1,hello,p1\nn2,hello,p2\nn3,hello,p9\n',
    },
    (id) => (id === 'p1' ? failed(422, 'not_found') : processed('updated')),
  );
  const blocked = errors.map(({ external_id, code, message }) => [external_id, code, message]);
  expect(blocked).toEqual([
    ['n3', 'parent_missing', expect.stringContaining('`p9` is in no export')],
    ['n1', 'parent_missing', expect.stringContaining('`p1` does not exist in the service')],
  ]);
  expect(errors[1]!.hint).toContain('if_missing: create');
});

it('only `if_exists: skip` is proposed for a comment, which cannot be updated', async () => {
  const { errors } = await errorsOf(
    {
      people: 'type: lead/created, if_contact_exists: ignore, data: { external_id: id, full_name: name }',
      notes: NOTES,
    },
    { 'people.csv': 'id,name\np1,Ada\np2,Bob\n', 'notes.csv': 'id,text,person\nn1,hello,p1\n' },
    (id) => (id === 'p1' ? processed() : failed(409, 'already_exists', 'external_id exists')),
  );
  expect(errors.map(({ event_type, hint }) => [event_type, hint!.includes('`if_exists: update`')])).toEqual([
    ['lead/created', true],
    ['comment/created', false],
  ]);
  for (const { hint } of errors) expect(hint).toContain('`if_exists: skip`');
});
