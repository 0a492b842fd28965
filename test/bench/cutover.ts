/**
 * How many requests a cutover takes: `npx tsx test/bench/cutover.ts [RECORDS]`. A first export is migrated; then one record in a
 * hundred is edited in the service, and one in a hundred has changed in the second export, a few of them in both. Of ten records,
 * three are leads, three deals, and four comments.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { credentials } from '../../src/credentials.ts';
import { Halt } from '../../src/halt.ts';
import { Redactor } from '../../src/redact.ts';
import { runMigration } from '../../src/run.ts';
import type { ChangeCounts } from '../../src/report/summary.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/index.ts';
import { runSettings } from '../../src/settings.ts';

const RECORDS = Number(process.argv[2] ?? 100_000);
const LEADS = (RECORDS * 3) / 10;
const COMMENTS = (RECORDS * 4) / 10;

const MAPPING = `version: 1
migration: cutover
sources:
  leads: { path: leads.csv }
  deals: { path: deals.csv }
  notes: { path: notes.csv }
events:
  - { type: lead/created, source: leads, if_changed: update, data: { external_id: id, full_name: name, email: email } }
  - type: deal/created
    source: deals
    if_changed: update
    data: { external_id: id, title: title, amount: amount, lead_external_id: lead }
  - { type: comment/created, source: notes, data: { external_id: id, content: text, lead_external_id: lead } }
`;

const table = (header: string, count: number, row: (n: number) => string): string =>
  [header, ...Array.from({ length: count }, (_, n) => row(n)), ''].join('\n');

/** What the old CRM has after `isChanged` of its records have changed. */
async function writeExports(directory: string, isChanged: (n: number) => boolean): Promise<void> {
  const version = (n: number): number => (isChanged(n) ? 2 : 1);
  const exports = {
    leads: table('id,name,email', LEADS, (n) => `L${n},Lead ${n} v${version(n)},lead${n}@example.test`),
    deals: table('id,title,amount,lead', LEADS, (n) => `D${n},Deal ${n},${n}.${version(n)},L${n}`),
    notes: table('id,text,lead', COMMENTS, (n) => `N${n},Note ${n},L${n % LEADS}`),
  };
  for (const [name, text] of Object.entries(exports)) await writeFile(join(directory, `${name}.csv`), text);
}

const isEdited = (n: number): boolean => n % 100 === 50 || n % 10_000 === 0;
const isChanged = (n: number): boolean => n % 100 === 0;

/** By somebody else. */
async function editRecords(service: Sandbox): Promise<void> {
  const url = `${service.baseUrl}/webhooks/ingest/${service.ingestToken.reveal()}`;
  const headers = { 'content-type': 'application/json', 'x-api-key': service.apiKey.reveal() };
  for (let n = 0; n < LEADS; n += 1) {
    if (!isEdited(n)) continue;
    for (const [type, data] of [
      ['lead/updated', { external_id: `L${n}`, full_name: `Edited ${n}` }],
      ['deal/updated', { external_id: `D${n}`, amount: 1_000_000 + n }],
    ] as const) {
      const body = JSON.stringify({ id: `edit ${type} ${n}`, type, suppress_triggers: true, data });
      const answer = await fetch(url, { method: 'POST', headers, body });
      if (!answer.ok) throw new Error(await answer.text());
    }
  }
}

function routeOf(method: string, path: string): string {
  return `${method} ${path.replace(/\?.*/, ' (pages)').replace(/\/[0-9a-f-]{36}$/, '/{id}')}`;
}

const directory = await mkdtemp(join(tmpdir(), 'backfill-cutover-'));
const service = await startSandbox({ rate: { requests: 1_000_000, seconds: 1 } });
const lastRequest = (): number => service.requests().at(-1)?.number ?? 0;

async function migrate(): Promise<ChangeCounts | undefined> {
  const { summary } = await runMigration({
    settings: runSettings({ mapping: join(directory, 'mapping.yaml'), rate: '1000000/1s' }),
    credentials: credentials(undefined, {
      BACKFILL_BASE_URL: service.baseUrl,
      BACKFILL_API_KEY: service.apiKey.reveal(),
      BACKFILL_INGEST_TOKEN: service.ingestToken.reveal(),
    }),
    stateSuffix: '',
    halt: new Halt(),
    redactor: new Redactor(),
    monitor: {},
  });
  if (summary.exit.code !== 0) throw new Error(JSON.stringify(summary.exit));
  return summary.changes;
}

/** Runs, and prints the requests by route. */
async function measure(name: string): Promise<void> {
  const before = lastRequest();
  const changes = await migrate();
  const counts = new Map<string, number>();
  for (const { number, method, path } of service.requests()) {
    if (number <= before) continue;
    const route = routeOf(method, path);
    counts.set(route, (counts.get(route) ?? 0) + 1);
  }
  const routes = [...counts].map(([route, count]) => `${count} ${route}`).join(', ');
  process.stdout.write(`${name}: ${lastRequest() - before} requests: ${routes}\n  ${JSON.stringify(changes)}\n`);
}

try {
  await writeFile(join(directory, 'mapping.yaml'), MAPPING);
  await writeExports(directory, () => false);
  await migrate();
  await editRecords(service);
  await writeExports(directory, isChanged);
  await measure('second export');
  await measure('second export again');
} finally {
  await service.close();
  await rm(directory, { recursive: true, force: true });
}
