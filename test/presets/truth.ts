/** Migrates an export into a sandbox and compares the content of the sandbox with expected results written by hand. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { parseDocument } from 'yaml';
import { UserError } from '../../src/errors.ts';
import { Halt } from '../../src/halt.ts';
import { runMigration } from '../../src/run/run.ts';
import { Redactor } from '../../src/redact.ts';
import { defaultAccount, type Sandbox } from '../../src/sandbox/index.ts';
import { uuidOf } from '../../src/sandbox/account.ts';
import type { Account } from '../../src/service/account.ts';
import type { Summary } from '../../src/report/figures/summary.ts';
import type { PrintedSummary } from '../e2e/harness.ts';
import { runSettings } from '../../src/settings/run-settings.ts';
import { PLAN } from '../../src/store/plan-schema.ts';
import { Database } from '../../src/store/sqlite.ts';
import { sandbox } from '../e2e/harness.ts';

export interface Truth {
  /** What the user has to set in a preset: merged into its `defaults` and `references`. */
  readonly defaults?: Readonly<Record<string, string>>;
  readonly references?: Readonly<Record<string, unknown>>;
  /** Other texts that the user has to set in a preset, and what stands in their place then. */
  readonly replace?: readonly (readonly [from: string, to: string])[];
  /** Deal pipelines of the target account, if they are not those of the sandbox. */
  readonly account?: { readonly pipelines: Readonly<Record<string, readonly string[]>> };
  readonly exit: number;
  readonly leads?: Readonly<Record<string, unknown>>;
  readonly deals?: Readonly<Record<string, unknown>>;
  readonly comments?: Readonly<Record<string, unknown>>;
  /** External id (or line, if the record has no event) and code of every line of the error report. */
  readonly errors?: readonly (readonly [string, string])[];
  readonly omitted?: readonly (readonly [string, string])[];
  /** Codes that must be among the warnings. */
  readonly warnings?: readonly string[];
  readonly duplicates?: number;
  /** What the survey's profile must contain. */
  readonly profile?: object;
  /** What the error message must contain, if the input is refused as a whole. */
  readonly says?: readonly string[];
}

export interface Migrated {
  readonly service: Sandbox;
  readonly ended: PrintedSummary | UserError;
}

export async function truthIn(directory: string): Promise<Truth> {
  return JSON.parse(await readFile(join(directory, 'expected.json'), 'utf8')) as Truth;
}

/** Edits a mapping as a user would: sets its defaults and references, and removes the marks of what is set. */
export async function fillIn(path: string, truth: Truth): Promise<void> {
  let text = await readFile(path, 'utf8');
  for (const [from, to] of truth.replace ?? []) {
    expect(text).toContain(from);
    text = text.replace(from, to);
  }
  const document = parseDocument(text);
  for (const [key, value] of Object.entries(truth.defaults ?? {})) document.setIn(['defaults', key], value);
  for (const [key, value] of Object.entries(truth.references ?? {})) document.setIn(['references', key], value);
  await writeFile(path, document.toString().replace(/ *# set this\b.*$/gm, ''));
}

async function targetOf(truth: Truth): Promise<Sandbox> {
  return sandbox(truth.account ? { account: accountOf(truth.account.pipelines) } : {});
}

function accountOf(pipelines: Readonly<Record<string, readonly string[]>>): Account {
  return {
    pipelines: Object.entries(pipelines).map(([name, stages]) => ({
      id: uuidOf('pipeline', name),
      name,
      type: 'DEAL',
      stages: stages.map((stage) => ({ id: uuidOf('stage', name, stage), name: stage })),
    })),
    users: defaultAccount().users,
  };
}

/** Does what `crm-backfill run MAPPING --state <cwd>/state` does, in this process and over real HTTP. */
export async function migrate(
  cwd: string,
  mapping: string,
  truth: Truth,
  options: { readonly dryRun?: boolean } = {},
): Promise<Migrated> {
  const service = await targetOf(truth);
  const { baseUrl, apiKey, ingestToken } = service;
  const place = { mapping: join(cwd, mapping), state: join(cwd, 'state') };
  const settings = runSettings({ ...place, rate: '100000/1s', ...options });
  const ended = await runMigration({
    settings,
    credentials: { baseUrl, apiKey, ingestToken },
    stateSuffix: '',
    halt: new Halt(),
    redactor: new Redactor(),
    monitor: {},
  }).then(
    ({ summary, profile }) => ({ ...summary, profile }),
    (error: unknown) => {
      if (error instanceof UserError) return error;
      throw error;
    },
  );
  return { service, ended };
}

/** Compares the records in the sandbox, the error report and the totals with the expected results. */
export async function compare(cwd: string, { ended, service }: Migrated, truth: Truth): Promise<void> {
  const refusal = ended instanceof UserError ? `${ended.message}\n${ended.hint ?? ''}` : '';
  for (const text of truth.says ?? []) expect(refusal).toContain(text);
  expect(ended instanceof UserError ? ended.exitCode : ended.exit.code, refusal || explain(ended)).toBe(truth.exit);
  const records = recordsOf(service);
  expect(records.leads).toEqual(truth.leads ?? {});
  expect(records.deals).toEqual(truth.deals ?? {});
  expect(records.comments).toEqual(truth.comments ?? {});
  expect(service.triggersFired).toBe(0);
  if (ended instanceof UserError) return;
  expectIdentity(ended);
  expect(ended.events.duplicates).toBe(truth.duplicates ?? 0);
  const warnings = Object.keys(ended.warnings_by_code);
  expect(warnings).toEqual(expect.arrayContaining([...(truth.warnings ?? [])]));
  // These are suspicions about whole columns: none may fall on a sound export.
  for (const code of ['rounded_id', 'day_month_exchanged']) {
    if (!truth.warnings?.includes(code)) expect(warnings).not.toContain(code);
  }
  expect(errorsIn(cwd)).toEqual([...(truth.errors ?? [])].sort());
  if (truth.profile) expect(ended.profile).toMatchObject(truth.profile);
  if (truth.omitted) expect(await omittedIn(cwd)).toEqual([...truth.omitted].sort());
}

function explain(ended: Summary | UserError): string {
  return ended instanceof UserError ? ended.message : JSON.stringify(ended.errors_by_code);
}

function expectIdentity({ events, records }: Summary): void {
  const { acknowledged, duplicates, invalid, rejected, blocked, pending } = events;
  expect(events.total).toBe(acknowledged + duplicates + invalid + rejected + blocked + pending);
  expect(pending).toBe(0);
  expect(records.read).toBe(records.mapped + records.skipped + records.unreadable);
}

function errorsIn(cwd: string): [string, string][] {
  const plan = Database.read(join(cwd, 'state/plan.db'), PLAN)!;
  const errors = plan.all<{ external_id: string | null; line: number; code: string }>(
    "select external_id, line, code from problems where severity = 'error'",
  );
  plan.close();
  return errors.map(({ external_id: id, line, code }): [string, string] => [id ?? `line ${line}`, code]).sort();
}

async function omittedIn(cwd: string): Promise<[string, string][]> {
  const [, ...lines] = (await readFile(join(cwd, 'state/left_out.csv'), 'utf8')).trimEnd().split('\n');
  return lines
    .map((line) => line.split(','))
    .filter((cells) => cells[4] !== '')
    .map((cells): [string, string] => [cells[3]!, cells[4]!])
    .sort();
}

interface Records {
  readonly leads: Record<string, unknown>;
  readonly deals: Record<string, unknown>;
  readonly comments: Record<string, unknown>;
}

/** The sandbox's records by external id, with stage names and external ids of parents instead of ids. */
function recordsOf(service: Sandbox): Records {
  const { leads, deals, comments } = service.state();
  const external = new Map([...leads, ...deals].map((record) => [record.id, record.externalId]));
  const parent = (id: unknown) => (id === null ? null : external.get(id as string));
  const pipelines = service.account.pipelines;
  const users = service.account.users;
  return {
    leads: byId(leads, (lead) => ({
      name: lead.fullName,
      email: lead.email,
      phone: lead.phoneNumber,
      occurred_at: lead.occurredAt,
      custom: lead.customParams,
    })),
    deals: byId(deals, (deal) => {
      const pipeline = pipelines.find(({ id }) => id === deal.pipelineId);
      const owner = users.find(({ id }) => id === deal.ownerId);
      return {
        title: deal.title,
        amount: deal.amount,
        currency: deal.currency,
        lead: parent(deal.primaryContactId),
        pipeline: pipeline?.name,
        stage: pipeline?.stages.find(({ id }) => id === deal.stageId)?.name,
        owner: owner ? (owner.email ?? owner.names[0]) : null,
        custom: deal.customFields,
      };
    }),
    comments: byId(comments, (comment) => ({
      content: comment.content,
      author: comment.authorName,
      deal: parent(comment.dealId),
      lead: parent(comment.leadId),
    })),
  };
}

function byId<T extends { readonly id: string; readonly externalId: string | null }>(
  records: readonly T[],
  show: (record: T) => object,
): Record<string, unknown> {
  return Object.fromEntries(records.map((record) => [record.externalId ?? record.id, show(record)]));
}
