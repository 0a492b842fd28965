import { appendFile, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.ts';
import type { Sandbox } from '../../src/commands/sandbox/index.ts';
import { backfill, environmentOf, FAST, files, rowsIn, sandbox, summaryOf, workspace } from './harness.ts';

interface Line {
  readonly type: string;
  readonly external_id?: string;
  readonly occurred_at?: string | null;
  readonly data: JsonObject;
  readonly source: string;
  readonly file: string;
  readonly line: number;
  readonly record: number;
  readonly raw: readonly string[];
}

type Body = Pick<Line, 'type' | 'occurred_at' | 'data'>;

/** The events that could be sent. */
async function planIn(directory: string): Promise<Line[]> {
  const rows = await rowsIn<Line & { data: string; raw: string }>(
    directory,
    `select * from events where state not in ('invalid', 'duplicate')`,
  );
  return rows.map((row) => ({
    ...row,
    data: JSON.parse(row.data) as JsonObject,
    raw: JSON.parse(row.raw) as readonly string[],
  }));
}

function sentTo(service: Sandbox): Body[] {
  return service
    .requests()
    .filter(({ method }) => method === 'POST')
    .map(({ body }) => body as Body);
}

function essence({ type, occurred_at, data }: Body): string {
  return JSON.stringify([type, occurred_at ?? null, data]);
}

const MAPPING = `version: 1
migration: plan
sources:
  people: { path: people.csv }
events:
  - type: lead/created
    source: people
    data: { external_id: id, full_name: name, custom_params: { size: size } }
`;
const PEOPLE = ['1,Ann,5.10', '2,Bob,7', '3,Cid,00123', '4,Dan,9'];

async function people(rows: readonly string[] = PEOPLE, policies = ''): Promise<string> {
  const cwd = await workspace();
  await files(cwd, { 'mapping.yaml': `${MAPPING}${policies}`, 'people.csv': `id,name,size\n${rows.join('\n')}\n` });
  return cwd;
}

async function rewrite(cwd: string, rows: readonly string[]): Promise<void> {
  await files(cwd, { 'people.csv': `id,name,size\n${rows.join('\n')}\n` });
}

async function dryRun(cwd: string, service: Sandbox): Promise<{ digest: string; stderr: string }> {
  const ended = await backfill(['run', 'mapping.yaml', '--dry-run', '--json', ...FAST], {
    cwd,
    env: environmentOf(service),
  });
  return { digest: summaryOf(ended).plan.digest!, stderr: ended.stderr };
}

describe('plan.db', () => {
  it('has every event that can be sent, exactly as it is sent, together with its record', async () => {
    const service = await sandbox();
    const cwd = await workspace('demo');
    const env = environmentOf(service);
    const summary = summaryOf(await backfill(['run', 'mapping.yaml', '--json', ...FAST], { cwd, env }));
    const state = join(cwd, '.backfill/demo');
    const plan = await planIn(state);
    const sent = sentTo(service).map(essence);
    expect(sent.length).toBe(summary.this_run.events_sent);
    const planned = plan.map(essence);
    expect(sent.filter((event) => !planned.includes(event))).toEqual([]);
    const { total, duplicates, invalid } = summary.events;
    expect(plan).toHaveLength(total - duplicates - invalid);
    expect(summary.plan).toMatchObject({ events: plan.length });
    for (const { external_id: id, data } of plan) expect(id).toBe(data.external_id);
    const contacts = (await readFile(join(cwd, 'contacts.csv'), 'utf8')).split('\n');
    const first = plan.find(({ line }) => line === 2)!;
    expect(first).toMatchObject({ source: 'contacts', file: 'contacts.csv', record: 1 });
    expect(contacts[first.line - 1]).toContain(first.raw[0]);
    expect((await stat(join(state, 'plan.db'))).mode & 0o777).toBe(0o600);
  });

  it('has an event without its parent if the mapping omits missing parents', async () => {
    const service = await sandbox();
    const cwd = await workspace();
    await files(cwd, {
      'deals.csv': 'id,lead\nD1,nobody\n',
      'mapping.yaml': `version: 1
migration: plan
sources: { deals: { path: deals.csv } }
events:
  - type: deal/created
    source: deals
    if_parent_missing: omit
    data: { external_id: id, lead_external_id: lead }
`,
    });
    const { digest } = await dryRun(cwd, service);
    expect((await planIn(join(cwd, '.backfill/plan/dry-run'))).map(({ data }) => data)).toEqual([
      { external_id: 'D1' },
    ]);
    const args = ['run', 'mapping.yaml', '--json', '--plan', digest, ...FAST];
    const env = environmentOf(service);
    expect(summaryOf(await backfill(args, { cwd, env })).events.acknowledged).toBe(1);
    expect(summaryOf(await backfill(args, { cwd, env })).this_run.events_sent).toBe(0);
  });

  it('keeps records with line separators and digits that a number would lose', async () => {
    const service = await sandbox();
    const cwd = await workspace();
    const record = (name: string): string =>
      `{"id": "L1", "name": "${name}\\u2028\u2028x", "ref": 9007199254740993.10 }\r\n`;
    await files(cwd, {
      'people.ndjson': record('Ann'),
      'mapping.yaml': `version: 1
migration: plan
sources: { people: { path: people.ndjson } }
events:
  - type: lead/created
    source: people
    data: { external_id: id, full_name: name, custom_params: { ref: ref } }
`,
    });
    const { digest } = await dryRun(cwd, service);
    const [planned] = await rowsIn<{ data: string }>(join(cwd, '.backfill/plan/dry-run'), 'select data from events');
    expect(planned!.data).toContain('"ref":9007199254740993.10');
    const env = environmentOf(service);
    await files(cwd, { 'people.ndjson': record('Bob') });
    const refused = await backfill(['run', 'mapping.yaml', '--plan', digest, ...FAST], { cwd, env });
    expect(refused.stderr).toContain('events added: 0, removed: 0, changed: 1');
    await files(cwd, { 'people.ndjson': record('Ann') });
    const ended = await backfill(['run', 'mapping.yaml', '--json', '--plan', digest, ...FAST], { cwd, env });
    expect(summaryOf(ended).events.acknowledged).toBe(1);
    expect(service.state().leads[0]!.fullName).toBe('Ann\u2028\u2028x');
  });

  it('is kept from the earlier survey if a survey fails', async () => {
    const service = await sandbox();
    const cwd = await people();
    await dryRun(cwd, service);
    const directory = join(cwd, '.backfill/plan/dry-run');
    const before = await planIn(directory);
    await rewrite(cwd, ['1,Ann,1', '2,"an open quote,2']);
    const ended = await backfill(['run', 'mapping.yaml', '--dry-run', ...FAST], { cwd, env: environmentOf(service) });
    expect(ended.code).toBe(2);
    expect(await planIn(directory)).toEqual(before);
    expect((await readdir(directory)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });
});

describe('--plan', () => {
  it('sends the plan with the digest that the dry run printed, and resumes it', async () => {
    const service = await sandbox();
    const cwd = await people();
    const env = environmentOf(service);
    const { digest, stderr } = await dryRun(cwd, service);
    expect(digest).toMatch(/^[0-9a-f]{12}$/);
    expect(stderr).toContain(`plan ${digest}`);
    expect(stderr).toContain(`--plan ${digest}`);
    const args = ['run', 'mapping.yaml', '--json', '--plan', digest, ...FAST];
    const first = summaryOf(await backfill([...args, '--max-requests', '5'], { cwd, env }));
    expect(first.exit).toMatchObject({ code: 3, reason: 'max_requests' });
    expect(first.events.acknowledged).toBeLessThan(4);
    const rest = summaryOf(await backfill(args, { cwd, env }));
    expect(rest).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 4 }, plan: { digest, events: 4 } });
  });

  it('has the same digest for any order of the rows, and with additional rows that are not sent', async () => {
    const service = await sandbox();
    const { digest } = await dryRun(await people(), service);
    expect((await dryRun(await people([...PEOPLE].reverse()), service)).digest).toBe(digest);
    expect((await dryRun(await people([...PEOPLE, '2,Bob,7']), service)).digest).toBe(digest);
    expect((await dryRun(await people([...PEOPLE, '5,Eve,1']), service)).digest).not.toBe(digest);
    expect((await dryRun(await people(PEOPLE.map((row) => row.replace('Bob', 'Rob'))), service)).digest).not.toBe(
      digest,
    );
  });

  it('sends nothing of another plan, and reports the difference', async () => {
    const service = await sandbox();
    const cwd = await people();
    const env = environmentOf(service);
    const { digest } = await dryRun(cwd, service);
    await rewrite(cwd, ['1,Ann,5.10', '2,Rob,7', '5,Eve,1', '6,Fay,2', '4,Dan,9']);
    const args = ['run', 'mapping.yaml', '--plan', digest, ...FAST];
    for (const options of [[], ['--dry-run']]) {
      const ended = await backfill([...args, ...options], { cwd, env });
      expect(ended.code).toBe(2);
      expect(ended.stderr).toContain('events added: 2, removed: 1, changed: 1');
    }
    expect(sentTo(service)).toEqual([]);
    await rewrite(cwd, PEOPLE);
    expect((await backfill(args, { cwd, env })).code).toBe(0);
  });

  it('is refused if no stored plan has the digest, and if the value is not a digest', async () => {
    const service = await sandbox();
    const cwd = await people();
    const env = environmentOf(service);
    const unknown = await backfill(['run', 'mapping.yaml', '--plan', 'abcdefabcdef', ...FAST], { cwd, env });
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toContain('no stored plan has that digest');
    const wrong = await backfill(['run', 'mapping.yaml', '--plan', 'yes', ...FAST], { cwd, env });
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('12 hexadecimal digits');
    expect(sentTo(service)).toEqual([]);
  });
});
