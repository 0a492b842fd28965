// Lost without it: the next command could be one that does not work.
import { describe, expect, it } from 'vitest';
import type { SurveySnapshot } from '../../../src/report/files/documents.ts';
import { nextSection } from '../../../src/report/figures/next-steps.ts';
import type { PlanFigures } from '../../../src/report/figures/plan-figures.ts';
import type { Summary } from '../../../src/report/figures/summary.ts';
import { SANDBOX } from '../../../src/settings/credentials.ts';
import { commandLine } from '../../../src/settings/command-line.ts';

const COUNTS = { total: 10, acknowledged: 4, duplicates: 1, invalid: 1, rejected: 1, blocked: 1, pending: 2 };
const NOTHING = { total: 3, acknowledged: 3, duplicates: 0, invalid: 0, rejected: 0, blocked: 0, pending: 0 };
const BESIDE = { gone: 0, changed: 0 };

const argv = (...args: string[]): string[] => ['node', '/usr/bin/crm-backfill', ...args];
const summary = (change: Partial<Summary>): Summary =>
  ({
    dry_run: false,
    exit: { code: 0, reason: 'done' },
    records: { read: 3, mapped: 3, skipped: 0, unreadable: 0 },
    plan: { digest: '0123456789ab', events: 3 },
    by_type: {},
    errors_by_code: {},
    warnings_by_code: {},
    estimate_seconds: 0,
    pilot: null,
    files: { checkpoint: null, errors: '/s/errors.csv', report: '/s/report.html' },
    ...change,
  }) as Summary;

/** What the plan has: events to send, and names without an answer. */
interface Given {
  readonly due?: number;
  readonly names?: SurveySnapshot['names'];
  readonly sandbox?: boolean;
  readonly unwritten?: readonly string[];
}

function steps(found: Summary, args: readonly string[], { due = 3, names, sandbox, unwritten = [] }: Given = {}) {
  const states = [{ type: 'lead/created', state: 'ready', code: null, is_chosen: 1, priority: 0, count: due }];
  const survey = { mapping: 'a.yaml', base_url: sandbox ? SANDBOX : 'https://crm.example' };
  const plan = { db: { get: () => undefined }, states, names, survey } as unknown as PlanFigures;
  const optionsOf = (command: string) =>
    command === 'verify' ? ['sample', 'state', 'credentials', 'json'] : ['state'];
  return nextSection(plan, found, { argv: argv(...args), unwritten, optionsOf }).rows;
}

/** The commands that are printed, in their order. */
function commands(found: Summary, args: readonly string[], given: Given = {}): string[] {
  return steps(found, args, given)
    .map((row) => row[2] as string)
    .filter((command) => command !== '');
}

it('repeats the command line, quoted for a shell', () => {
  expect(commandLine(argv('run', "it's a.yaml", '--pilot', '10'))).toBe(
    `crm-backfill run 'it'\\''s a.yaml' --pilot 10`,
  );
});

it('goes through npx in a checkout, and where it is installed in a directory that shells do not search', () => {
  const local = ['node', '/home/ada/job/node_modules/.bin/crm-backfill', 'run', 'a.yaml'];
  expect(commandLine(local)).toBe('npx crm-backfill run a.yaml');
  expect(commandLine(local.with(1, '/home/ada/crm-backfill/dist/cli.js'))).toBe('npx crm-backfill run a.yaml');
  expect(commandLine(local.with(1, '/usr/local/bin/crm-backfill'))).toBe('crm-backfill run a.yaml');
});

describe('the next command', () => {
  const ready = summary({ dry_run: true, events: { ...NOTHING, ...BESIDE, acknowledged: 0, pending: 3 } });

  it('sends a pilot and then everything after a dry run without problems', () => {
    expect(commands(ready, ['run', 'a.yaml', '--dry-run'])).toEqual([
      'crm-backfill run a.yaml --plan 0123456789ab --pilot 30',
      'crm-backfill run a.yaml --plan 0123456789ab',
    ]);
  });

  it('sends the rest without another pilot where something was sent, and what is waited for where nothing can go', () => {
    const rest = summary({ dry_run: true, events: { ...NOTHING, ...BESIDE, acknowledged: 2, pending: 1 } });
    expect(commands(rest, ['run', 'a.yaml', '--dry-run'])).toEqual(['crm-backfill run a.yaml --plan 0123456789ab']);
    expect(commands(ready, ['run', 'a.yaml', '--dry-run', '--only', 'deal'], { due: 0 })).toEqual([
      'crm-backfill run a.yaml',
    ]);
  });

  it('rehearses as fast as the machine can after a dry run against the sandbox, if it would take a while', () => {
    const after = (...more: string[]): string[] =>
      commands({ ...ready, estimate_seconds: 60 }, ['run', 'a.yaml', '--dry-run', '--sandbox', ...more], {
        sandbox: true,
      });
    expect(after()).toEqual(['crm-backfill run a.yaml --sandbox --plan 0123456789ab --rate 10000/1s']);
    expect(commands(ready, ['run', 'a.yaml', '--dry-run', '--sandbox'], { sandbox: true })).toEqual([
      'crm-backfill run a.yaml --sandbox --plan 0123456789ab',
    ]);
    expect(after('--rate', '5/1s')).toEqual(['crm-backfill run a.yaml --sandbox --rate 5/1s --plan 0123456789ab']);
  });

  it('repeats itself where something is to be corrected, without the plan, which will be another one', () => {
    const found = summary({ exit: { code: 1, reason: 'invalid' }, events: { ...COUNTS, ...BESIDE } });
    const args = ['run', 'a.yaml', '--plan', '0123456789ab'];
    const names = { file: '/s/references.csv', isNamed: true, rows: [] };
    expect(commands(found, args, { names })).toContain('crm-backfill run a.yaml');
    expect(steps(found, args, { names })[0]![1]).toMatch(/references\.csv.*a\.yaml/);
    const unnamed = { ...found, errors_by_code: { unresolved_owner: 1, parent_failed: 2 } };
    const step = (isNamed: boolean) => steps(unnamed, args, { names: { ...names, isNamed } })[0]![1];
    expect(step(true)).toBe('fill in `new_name` in /s/references.csv, then');
    expect(step(false)).toMatch(/copy of \/s\/references\.csv and name it in .*`references\.file`, then$/);
    // No record is at fault.
    const unanswered = { ...found, errors_by_code: { internal: 1, timeout: 2, parent_failed: 2 } };
    expect(steps(unanswered, args)[0]).toEqual([
      'Next',
      'run it again: no record is at fault',
      'crm-backfill run a.yaml',
    ]);
  });

  it('resumes what was stopped with the same command, and after a history that is unknown with --adopt', () => {
    const stopped = (reason: string) => summary({ exit: { code: 3, reason, message: 'why' } });
    expect(commands(stopped('until'), ['run', 'a.yaml', '--fresh'])).toEqual(['crm-backfill run a.yaml']);
    expect(commands(stopped('unknown_history'), ['run', 'a.yaml'])).toEqual(['crm-backfill run a.yaml --adopt']);
  });

  it('continues after a pilot with the same plan, without the options that chose it', () => {
    const found = summary({ events: { ...NOTHING, ...BESIDE, total: 5, pending: 2 } });
    const args = ['run', 'a.yaml', '--pilot=10', '--only', 'lead', '--plan', '0123456789ab'];
    expect(commands(found, args)).toEqual(['crm-backfill run a.yaml --plan 0123456789ab']);
  });

  it('verifies and purges a finished migration, but not a rehearsal', () => {
    const found = summary({ events: { ...NOTHING, ...BESIDE } });
    const args = ['run', 'a.yaml', '--state', '/s t', '--quiet', '--pilot', '3'];
    expect(commands(found, [...args, '--credentials=prod.env'])).toEqual([
      "crm-backfill verify a.yaml --state '/s t' --credentials=prod.env",
      "crm-backfill purge a.yaml --state '/s t'",
    ]);
    expect(steps(found, args, { unwritten: ['ids.csv', 'report.html'] })[0]).toEqual([
      'Next',
      '1  fix what the warnings say, then write ids.csv and report.html again',
      "crm-backfill run a.yaml --state '/s t' --quiet",
    ]);
    expect(commands(found, ['run', 'a.yaml', '--sandbox'], { sandbox: true })).toEqual([]);
  });
});
