// Lost without it: what the service shows as retired or merged could pass in silence.
import type { Cause } from '../../src/report/figures/causes.ts';
import type { RunEnd } from '../../src/run/begin.ts';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { files, mapping, workspace } from '../e2e/harness.ts';
import { migrate } from './in-process.ts';
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

const MAPPING = mapping({
  deals: `type: deal/created, data: { external_id: id, title: title, stage_id: { value: ${STAGE} }, owner_name: owner }`,
});

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
  const env = { BACKFILL_BASE_URL: baseUrl, BACKFILL_API_KEY: 'sk_test', BACKFILL_INGEST_TOKEN: 'token_secret' };
  const trouble = (message: string): unknown => said.push(message);
  let causes: readonly Cause[] = [];
  const ended = ({ plan }: RunEnd): void => void (causes = [...plan.causes.errors, ...plan.causes.warnings]);
  const { summary } = await migrate(env, join(cwd, 'mapping.yaml'), { concurrency: '1' }, { trouble, ended });
  const example = (code: string) => causes.find((each) => each.code === code);
  return {
    summary,
    said,
    message: (code: string) => example(code)?.message,
    hint: (code: string) => example(code)?.hint,
  };
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

it.each([
  ['archived', { archived: true }, {}, 'Sales / New'],
  ['archived', { archivedAt: '2026-01-01T00:00:00Z' }, {}, 'Sales / New'],
  ['deleted', { isDeleted: true }, {}, 'Sales / New'],
  ['closed', { status: 'CLOSED' }, {}, 'Sales / New'],
  ['closed', { closedAt: '2026-01-01T00:00:00Z' }, {}, 'Sales / New'],
  ['inactive', { isActive: false }, {}, 'Sales / New'],
  ['pipeline archived', {}, { status: 'archived' }, 'Sales / New'],
  ['pipeline inactive', {}, { enabled: false }, 'Sales / New'],
  ['pipeline closed', {}, { closed: true }, 'Sales / New'],
  [undefined, { isClosed: true, isWon: true, archivedAt: null, deleted: false }, { active: true, status: 'open' }, ''],
])(
  'a stage that the service shows as %s (%j %j) is named, with the number of its deals',
  async (why, stage, pipeline, name) => {
    const sales = { id: 'p', name: 'Sales', type: 'DEAL', stages: [{ id: STAGE, name: 'New', ...stage }], ...pipeline };
    const { summary, message } = await runWith(
      ({ body }) => processed(String(body.data.external_id), 'created'),
      (path) => (path === '/pipelines' ? { status: 200, body: [sales] } : undefined),
    );
    expect(summary).toMatchObject({ exit: { code: 0 } });
    expect(summary.warnings_by_code['inactive_stage']).toBe(why === undefined ? undefined : 3);
    if (why !== undefined) expect(message('inactive_stage')).toContain(`\`${name}\` (${why}, 3 deals)`);
  },
);

it('creates that are answered with one id, or with `updated`, are named', async () => {
  const { summary, message } = await runWith(
    (_event, nth) => (nth < 3 ? processed('same', 'created') : processed('other', 'updated')),
    () => undefined,
  );
  expect(summary).toMatchObject({
    exit: { code: 1, reason: 'same_service_id' },
    warnings_by_code: { same_service_id: 1, updated_instead: 1 },
  });
  expect(message('same_service_id')).toMatch(/`2` and `1` .* `same`/);
});

it('a route that is being retired is said once, with the date and without the token', async () => {
  const link = '<https://api.example.test/v2/webhooks/ingest>; rel="successor-version"';
  const sunset = { sunset: 'Thu, 31 Dec 2026 23:59:59 GMT', link };
  const { said } = await runWith(
    ({ body }) => processed(String(body.data.external_id), 'created', sunset),
    (path) => {
      const headers =
        path === '/pipelines' ? { deprecation: '@1767225600' } : { link: '</v2/users>; rel="successor-version"' };
      return { status: 200, body: ACCOUNT[path] ?? [], headers };
    },
  );
  const warnings = said.filter((each) => each.includes('retiring'));
  expect(warnings).toHaveLength(3);
  expect(warnings[0]).toContain('GET /pipelines (deprecation: @1767225600)');
  expect(warnings[1]).toContain('GET /platform-users (link: </v2/users>; rel="successor-version")');
  expect(warnings[2]).toContain(`POST /webhooks (sunset: Thu, 31 Dec 2026 23:59:59 GMT, link: ${link})`);
  expect(warnings.join()).not.toContain('token_secret');
});

it.each([
  [402, /plan or the payment/],
  [415, /proxy/],
  [421, /base URL/],
  [423, /unlocked/],
  [431, /BACKFILL_API_KEY/],
  [451, /support of the service/],
  [406, /base URL/],
  [413, /truncate/],
])('a refusal with %i names who is at fault, with a code of the service or without', async (status, fault) => {
  const { summary, message, hint } = await runWith(
    (_event, nth) => ({ status, body: nth === 1 ? { error: { code: 'own_code', message: 'no' } } : { error: 'no' } }),
    () => undefined,
  );
  expect(summary).toMatchObject({ exit: { code: 1 }, errors_by_code: { own_code: 1, [`http_${status}`]: 2 } });
  for (const code of ['own_code', `http_${status}`]) {
    expect(message(code)).toBe('no');
    expect(hint(code)).toMatch(fault);
    if (status !== 413) expect(hint(code)).toContain('the record is not at fault');
  }
});
