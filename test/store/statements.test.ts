// Lost without it: a statement could take a million times as long over a million rows.
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Database, type SqlValue } from '../../src/store/sqlite.ts';
import { environmentOf, files, refusingFrom, sandbox, workspace } from '../e2e/harness.ts';
import { migrate, type Options } from '../faults/in-process.ts';
import { call } from '../sandbox/client.ts';

const MAPPING = `version: 1
migration: statements
defaults: { region: IT, timezone: UTC }
sources:
  people: { path: people.csv }
  changes: { path: changes.csv }
  deals: { path: deals.csv }
  notes: { path: notes.csv }
references:
  owners: { Ada: Ada Lovelace }
events:
  - type: lead/created
    source: people
    if_exists: update
    if_changed: update
    duplicates: first
    priority: { from: city, apply: [{ map: { Roma: 1, '*': 0 } }] }
    data:
      external_id: id
      full_name: name
      email: email
      phone_number: { from: phone, apply: [phone], on_error: omit }
      custom_params: { city: city }
  - { type: lead/updated, source: changes, if_missing: create, data: { external_id: id, full_name: name } }
  - type: deal/created
    source: deals
    if_changed: report
    if_parent_missing: omit
    data: { external_id: id, title: title, amount: { from: amount, apply: [number] }, stage_name: stage, owner_name: owner, lead_external_id: lead }
  - type: comment/created
    source: notes
    occurred_at: { from: at, apply: [{ date: iso }] }
    data: { external_id: id, content: text, lead_external_id: lead, deal_external_id: deal }
`;

const COUNT = 120;

/** What the old CRM has on the first and on the second day. */
function exports(day: 1 | 2): Record<string, string> {
  const rows = (columns: string, row: (n: number) => string): string =>
    `${[columns, ...Array.from({ length: COUNT }, (_, n) => row(n))].join('\n')}\n`;
  const name = (n: number): string => (day === 2 && n % 5 === 0 ? `Renamed ${n}` : `Name ${n}`);
  return {
    'mapping.yaml': MAPPING,
    'people.csv': `${rows('id,name,email,phone,city', (n) => `${day === 2 && n === 7 ? 'gone' : n},${name(n)},p${n % 90}@example.test,${n % 20 === 0 ? 'none' : `+39 06 ${1_000_000 + n}`},${n % 3 === 0 ? 'Roma' : 'Pisa'}`)}1,Twice,,,\n2,Another two,,,\n`,
    'changes.csv': rows('id,name', (n) => `${n % 40},Changed ${n}${day === 2 && n % 4 === 0 ? ' again' : ''}`),
    'deals.csv': rows(
      'id,title,amount,stage,owner,lead',
      (n) =>
        `d${n},Deal ${n}${day === 2 && n % 6 === 0 ? ' II' : ''},${n === 9 ? 'many' : `${n}.50`},${n % 11 === 0 ? 'Nowhere' : 'Proposal'},Ada,${n % 9 === 0 ? 'nobody' : n}`,
    ),
    'notes.csv': rows(
      'id,text,at,lead,deal',
      (n) =>
        `${n % 7 === 0 ? '' : `n${n}`},Text ${n % 60},${n % 13 === 0 ? '' : `2024-01-${String(1 + (n % 28)).padStart(2, '0')}T00:00:00Z`},${n % 2 === 0 ? n : ''},${n % 2 === 0 ? '' : `d${n}`}`,
    ),
  };
}

interface Step {
  readonly id: number;
  readonly parent: number;
  readonly detail: string;
}

/** How often each statement ran, and what SQLite does for it. */
const statements = new Map<string, { times: number; readonly steps: readonly Step[] }>();

const METHODS = ['run', 'insert', 'get', 'all', 'each'] as const;

function collect(): void {
  type Method = (this: Database, sql: string, ...values: SqlValue[]) => unknown;
  const real = (method: (typeof METHODS)[number] | 'exec'): Method =>
    Reflect.get<Record<string, Method>, string>(Database.prototype as never, method);
  const [all, exec] = [real('all'), real('exec')];
  const note = (db: Database, sql: string, values: readonly SqlValue[]): void => {
    const known = statements.get(sql);
    if (known) known.times += 1;
    else if (/^\s*(?:with|select|insert|update|delete|create (?:temp )?table \S+ as)\b/i.test(sql)) {
      statements.set(sql, { times: 1, steps: all.call(db, `explain query plan ${sql}`, ...values) as Step[] });
    }
  };
  for (const method of METHODS) {
    const original = real(method);
    vi.spyOn(Database.prototype, method).mockImplementation(function (
      this: Database,
      sql: string,
      ...values: SqlValue[]
    ) {
      note(this, sql, values);
      return original.call(this, sql, ...values);
    });
  }
  // Several statements in one text: each may need the tables that the one before has made.
  vi.spyOn(Database.prototype, 'exec').mockImplementation(function (this: Database, text: string) {
    for (const sql of text.replaceAll(/--.*$/gm, '').split(/;(?=\s|$)/)) {
      if (sql.trim() === '') continue;
      note(this, sql, []);
      exec.call(this, sql);
    }
  });
}

/** Columns with few different values: a search by them alone finds a good part of the table. */
const COARSE = ['type', 'entity', 'parent_entity', 'state', 'status', 'is_chosen'];

function scans({ detail }: Step): boolean {
  // `read`: the rows that the statement itself brings.
  if (/^SCAN (?!.*VIRTUAL TABLE|CONSTANT ROW|.*VALUES CLAUSE|read$)/.test(detail)) return true;
  const by = /^SEARCH .* \(([^()]*)\)/.exec(detail)?.[1];
  return by !== undefined && by.split(' AND ').every((term) => COARSE.includes(term.replace(/[=<>]\?$/, '')));
}

const loops = ({ detail }: Step): boolean => /^(?:SCAN|SEARCH) /.test(detail);

/** The tables that are read from their beginning to their end for each row of another one. */
function scansInLoops(steps: readonly Step[]): string[] {
  const below = (parent: number): Step[] => steps.filter((step) => step.parent === parent);
  const within = (parent: number): Step[] => below(parent).flatMap((step) => [step, ...within(step.id)]);
  const found: Step[] = [];
  for (const parent of new Set(steps.map((step) => step.parent))) {
    const [, ...inner] = below(parent).filter(loops);
    found.push(...inner.filter(scans));
    for (const step of below(parent)) {
      if (/^CORRELATED /.test(step.detail)) found.push(...within(step.id).filter(scans));
    }
  }
  return found.map(({ detail }) => detail);
}

afterEach(() => vi.restoreAllMocks());

describe('of all statements of surveys and of runs', { timeout: 120_000 }, () => {
  it('none reads a whole table for each row of another one, nor each time for one record', async () => {
    const service = await sandbox();
    const cwd = await workspace();
    await call(service, 'POST', '/leads', { body: { fullName: 'There', email: 'p3@example.test' } });
    const run = (options: Options = {}) =>
      migrate(environmentOf(service), join(cwd, 'mapping.yaml'), { maxErrors: '100%', ...options });
    collect();
    await files(cwd, exports(1));
    await run({ dryRun: true, pilot: '10' });
    await run({ pick: ['lead:3', 'deal:d5'] });
    service.setFaults({
      seed: 1,
      rules: [{ kind: 'drop', committed: true, when: { probability: 0.02 } }, refusingFrom(148)],
    });
    await run();
    service.setFaults({ rules: [] });
    await run();
    await files(cwd, exports(2));
    await run({ dryRun: true, only: 'lead' });
    await run();
    expect(statements.size).toBeGreaterThan(100);
    const inLoops = [...statements].flatMap(([sql, { steps }]) => scansInLoops(steps).map((scan) => ({ sql, scan })));
    expect(inLoops).toEqual([]);
    const often = [...statements].filter(([, { times, steps }]) => times > COUNT && steps.some(scans));
    expect(often.map(([sql, { times }]) => ({ sql, times }))).toEqual([]);
  });
});
