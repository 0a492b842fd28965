/** What the service may answer and nothing promises: each oddity is said, and nothing is lost. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { credentials } from '../../src/settings/credentials.ts';
import { Redactor } from '../../src/redact.ts';
import { Halt } from '../../src/halt.ts';
import { runMigration } from '../../src/run.ts';
import { runSettings } from '../../src/settings/run-settings.ts';
import { files, workspace } from '../e2e/harness.ts';
import { serve, type Answer, type Arrived } from '../service/scripted-server.ts';

const STAGE = '00000000-0000-4000-8000-000000000001';
const ADA = '00000000-0000-4000-8000-00000000000a';
const GONE = '00000000-0000-4000-8000-00000000000b';

const ACCOUNT: Readonly<Record<string, unknown>> = {
  '/pipelines': [{ id: 'p', name: 'Sales', type: 'DEAL', stages: [{ id: STAGE, name: 'New' }] }],
  '/platform-users': [
    { id: ADA, fullName: 'Ada', active: true },
    { id: GONE, fullName: 'Grace', status: 'DELETED' },
  ],
};

const MAPPING = `version: 1
migration: odd
sources: { deals: { path: deals.csv } }
events:
  - type: deal/created
    source: deals
    data: { external_id: id, title: title, stage_id: { value: ${STAGE} }, owner_name: owner }
`;

/** A run against a service that answers events with `answer`, and what the program said. */
async function runWith(answer: (event: Arrived, nth: number) => Answer, lists: (url: string) => Answer | undefined) {
  let events = 0;
  const { baseUrl } = await serve((request) => {
    if (request.method === 'POST') return answer(request, (events += 1));
    const path = request.url.split('?')[0]!;
    return lists(path) ?? { status: 200, body: request.url.includes('page=1&') ? ACCOUNT[path] : [] };
  });
  const cwd = await workspace();
  await files(cwd, { 'mapping.yaml': MAPPING, 'deals.csv': 'id,title,owner\n1,One,Ada\n2,Two,Grace\n3,Three,Grace\n' });
  const said: string[] = [];
  const environment = {
    BACKFILL_BASE_URL: baseUrl,
    BACKFILL_API_KEY: 'sk_test',
    BACKFILL_INGEST_TOKEN: 'token_secret',
  };
  const { summary, plan } = await runMigration({
    settings: runSettings({ mapping: join(cwd, 'mapping.yaml'), rate: '100000/1s', concurrency: '1' }),
    credentials: credentials(undefined, environment),
    stateSuffix: '',
    halt: new Halt(),
    redactor: new Redactor(),
    monitor: { trouble: (message) => said.push(message) },
  });
  const message = (code: string): string | undefined =>
    plan.findings.find((each) => each.code === code)?.examples[0]?.message;
  return { summary, said, message };
}

function processed(id: string, outcome: string, headers: Record<string, string> = {}): Answer {
  return { status: 200, body: { status: 'processed', entity: 'Deal', id, outcome, deduplicated: false }, headers };
}

it('owners that the service shows as deleted are named, with the number of their deals', async () => {
  const { summary, message } = await runWith(
    ({ body }) => processed(String(body.data.external_id), 'created'),
    () => undefined,
  );
  expect(summary).toMatchObject({ exit: { code: 0 }, warnings_by_code: { inactive_owner: 2 } });
  expect(message('inactive_owner')).toContain('`Grace` (deleted, 2 deals)');
});

it('creates that are answered with one id, or with `updated`, are named', async () => {
  const { summary, message } = await runWith(
    (_event, nth) => (nth < 3 ? processed('same', 'created') : processed('other', 'updated')),
    () => undefined,
  );
  expect(summary.warnings_by_code).toMatchObject({ same_service_id: 1, updated_instead: 1 });
  expect(message('same_service_id')).toMatch(/`2` and `1` .* `same`/);
});

it('a route that is being retired is said once, with the date and without the token', async () => {
  const sunset = { sunset: 'Thu, 31 Dec 2026 23:59:59 GMT' };
  const { said } = await runWith(
    ({ body }) => processed(String(body.data.external_id), 'created', sunset),
    (path) =>
      path === '/pipelines' ? { status: 200, body: ACCOUNT[path], headers: { deprecation: '@1767225600' } } : undefined,
  );
  const warnings = said.filter((each) => each.includes('retiring'));
  expect(warnings).toHaveLength(2);
  expect(warnings[0]).toContain('GET /pipelines (deprecation: @1767225600)');
  expect(warnings[1]).toContain('POST /webhooks (sunset: Thu, 31 Dec 2026 23:59:59 GMT)');
  expect(warnings.join()).not.toContain('token_secret');
});
