import { execFileSync } from 'node:child_process';
import { describe, expect, it, vi } from 'vitest';
import { commandLine } from '../../src/commands/command-line.ts';
import { nextSteps } from '../../src/commands/next-steps.ts';
import type { Summary } from '../../src/report/summary.ts';
import type { Finding } from '../../src/report/findings.ts';
import {
  clockText,
  countsTable,
  durationText,
  findingsText,
  prioritiesTable,
  shortPath,
} from '../../src/report/text.ts';

vi.stubEnv('TZ', 'UTC');

const COUNTS = { total: 10, acknowledged: 4, duplicates: 1, invalid: 1, rejected: 1, blocked: 1, pending: 2 };
const NOTHING = { total: 3, acknowledged: 3, duplicates: 0, invalid: 0, rejected: 0, blocked: 0, pending: 0 };
const BESIDE = { gone: 0, changed: 0 };

describe('the table of outcomes', () => {
  const events = {
    total: 13,
    acknowledged: 7,
    duplicates: 1,
    invalid: 1,
    rejected: 1,
    blocked: 1,
    pending: 2,
    gone: 0,
    changed: 0,
  };
  const counts = { by_type: { 'lead/created': NOTHING, 'deal/created': COUNTS }, events };

  it('shows the accounting identity, and every row adds up', () => {
    const [head, ...lines] = countsTable(counts, 120).split('\n');
    expect(head!.trim().replace(/ +/g, ' ')).toBe(
      'total = acknowledged + duplicates + invalid + rejected + blocked + pending',
    );
    expect(lines).toHaveLength(3);
    for (const line of lines) {
      const [total, ...parts] = line.trim().split(/ +/).slice(1).map(Number);
      expect(parts.reduce((sum, part) => sum + part, 0)).toBe(total);
    }
  });

  it('fits into 80 columns by leaving out columns that are zero', () => {
    for (const line of countsTable(counts, 80).split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    const good = countsTable({ by_type: { 'lead/created': NOTHING }, events: NOTHING }, 80);
    expect(good).toBe('             total = acknowledged\nlead/created     3              3');
  });
});

describe('findings', () => {
  const none = { file: '', line: 0, record: 0, type: null, externalId: null, field: null, hint: null, original: null };
  const finding = (code: string, count: number, examples: Finding['examples'] = []): Finding => {
    return { severity: 'error', kind: 'map', code, field: '', count, share: null, told: 0, types: {}, examples };
  };

  it('have their counts, the first places with the same message, that message and a hint', () => {
    const about = { ...none, file: 'contacts.csv', message: '`31.02.2023` does not exist', hint: 'correct it' };
    const other = { ...about, line: 18, message: '`1.13.2023` does not exist' };
    const examples = [{ ...about, line: 17 }, other, { ...about, line: 19 }];
    const input = { ...none, message: 'no deal has a stage' };
    expect(findingsText([finding('bad_date', 1_200, examples), finding('odd_code', 1, [input])])).toBe(
      [
        '  1,200  bad_date',
        '         contacts.csv:17, contacts.csv:19: `31.02.2023` does not exist',
        '         hint: correct it',
        '      1  odd_code',
        '         no deal has a stage',
      ].join('\n'),
    );
  });

  it('have their share of all events, where it is at least a tenth and not of a few', () => {
    const shared = (share: number | null, count = 70): string =>
      findingsText([{ ...finding('bad_phone', count), share }]).trim();
    expect(shared(0.129)).toBe('70  bad_phone (12 %)');
    expect(shared(1)).toBe('70  bad_phone (100 %)');
    expect(shared(0.099)).toBe('70  bad_phone');
    expect(shared(null)).toBe('70  bad_phone');
    expect(shared(1, 9)).toBe('9  bad_phone');
  });

  it('of values left out name the events and the field', () => {
    const left = {
      ...finding('bad_phone', 2),
      severity: 'omission',
      field: 'phone_number',
      types: { 'lead/created': 2 },
    } as const;
    expect(findingsText([left])).toBe('  2  lead/created phone_number: bad_phone');
  });

  it('are truncated if there are too many', () => {
    const many = Array.from({ length: 40 }, (_, index) => finding(`code_${index}`, 40 - index));
    expect(findingsText(many)).toMatch(/code_11\n {6}and 28 more codes$/);
  });
});

describe('times', () => {
  const now = new Date('2026-03-02T10:42:00Z');

  it.each([
    [0, '0 s'],
    [59.2, '1 min'],
    [3_600, '1 h'],
    [5_990, '1 h 40 min'],
    [86_400 * 2, '2 d'],
    [86_400 * 3.2, '3 d 4 h'],
  ])('%d seconds are shown as %s', (seconds, text) => {
    expect(durationText(seconds)).toBe(text);
  });

  it.each([
    ['2026-03-02T21:40:00Z', '21:40'],
    ['2026-03-03T03:12:00Z', 'Tue 03:12'],
    ['2026-03-24T03:12:00Z', '24 Mar 03:12'],
    ['2026-02-20T03:12:00Z', '20 Feb 03:12'],
  ])('%s is shown as %s', (time, text) => {
    expect(clockText(new Date(time), now)).toBe(text);
  });
});

describe('the table of priorities', () => {
  const now = new Date('2026-03-02T10:42:00Z');
  const counts = (priority: number, done: string | null) => ({
    priority,
    events: 12_400,
    acknowledged: 200,
    done_at: done,
  });

  it('says of each priority how many events it has, and when they are done', () => {
    const text = prioritiesTable(
      [counts(1, '2026-03-01T10:42:00Z'), counts(0, '2026-03-20T12:00:00Z'), counts(-5, null)],
      now,
    );
    expect(text.split('\n').map((line) => line.split(/ {2,}/).map((cell) => cell.trim()))).toEqual([
      ['priority', 'events', 'acknowledged', 'done'],
      ['1', '12,400', '200', 'Sun 10:42'],
      ['0', '12,400', '200', 'about 20 Mar 12:00'],
      ['-5', '12,400', '200', '–'],
    ]);
  });

  it('is left out where there is one priority, and shows the highest of many', () => {
    expect(prioritiesTable([counts(0, null)], now)).toBe('');
    const many = Array.from({ length: 300 }, (_, n) => counts(300 - n, null));
    const lines = prioritiesTable(many, now).split('\n');
    expect(lines).toHaveLength(12);
    expect(lines.at(-1)).toBe('and 290 with lower priority');
  });
});

it('shows a relative path if it is shorter', () => {
  expect(shortPath(`${process.cwd()}/a/b.csv`)).toBe('a/b.csv');
  expect(shortPath('/x')).toBe('/x');
});

describe('the next command', () => {
  const argv = (...args: string[]): string[] => ['node', '/usr/bin/crm-backfill', ...args];
  const summary = (change: Partial<Summary>): Summary =>
    ({
      dry_run: false,
      exit: { code: 0, reason: 'done' },
      records: { read: 3, mapped: 3, skipped: 0, unreadable: 0 },
      plan: { digest: '0123456789ab', events: 3 },
      errors_by_code: {},
      ...change,
    }) as Summary;

  const CALM = { mapping: 'a.yaml', sandbox: false, toCorrect: [], pilot: undefined };

  it('repeats the command line, quoted for a shell', () => {
    expect(commandLine(argv('run', "it's a.yaml", '--pilot', '10'))).toBe(
      `crm-backfill run 'it'\\''s a.yaml' --pilot 10`,
    );
  });

  it('writes what a terminal does not show as the shell reads it', () => {
    const path = "it's\u001b[31m \\red\n\u202e.yaml";
    const line = commandLine(argv('run', path));
    expect(line).toMatch(/^crm-backfill run \$'[ -~]+'$/);
    expect(
      execFileSync('bash', ['-c', `printf %s ${line.slice('crm-backfill run '.length)}`], { encoding: 'utf8' }),
    ).toBe(path);
  });

  it('goes through npx in a checkout, and where it is installed in a directory that shells do not search', () => {
    const local = ['node', '/home/ada/job/node_modules/.bin/crm-backfill', 'run', 'a.yaml'];
    expect(commandLine(local)).toBe('npx crm-backfill run a.yaml');
    expect(commandLine(local.with(1, '/home/ada/crm-backfill/dist/cli.js'))).toBe('npx crm-backfill run a.yaml');
    expect(commandLine(local.with(1, '/usr/local/bin/crm-backfill'))).toBe('crm-backfill run a.yaml');
  });

  it('sends a pilot and then everything after a dry run without problems', () => {
    const found = summary({ dry_run: true, events: { ...NOTHING, ...BESIDE, acknowledged: 0, pending: 3 } });
    expect(nextSteps(found, argv('run', 'a.yaml', '--dry-run'), CALM)).toEqual([
      'next: send a pilot of 30 records and check them in the service:',
      '  crm-backfill run a.yaml --plan 0123456789ab --pilot 30',
      'then send everything:',
      '  crm-backfill run a.yaml --plan 0123456789ab',
    ]);
  });

  it('rehearses as fast as the machine can after a dry run against the sandbox', () => {
    const found = summary({ dry_run: true, events: { ...NOTHING, ...BESIDE, acknowledged: 0, pending: 3 } });
    const after = (...more: string[]): readonly string[] =>
      nextSteps(found, argv('run', 'a.yaml', '--dry-run', '--sandbox', ...more), { ...CALM, sandbox: true });
    expect(after()).toEqual(['next:', '  crm-backfill run a.yaml --sandbox --plan 0123456789ab --rate 10000/1s']);
    expect(after('--rate', '5/1s')).toEqual([
      'next:',
      '  crm-backfill run a.yaml --sandbox --rate 5/1s --plan 0123456789ab',
    ]);
  });

  it('says how a copy of the rejects comes into the mapping, which makes another plan', () => {
    const found = summary({ exit: { code: 1, reason: 'invalid' }, events: { ...COUNTS, gone: 0, changed: 0 } });
    expect(
      nextSteps(found, argv('run', 'a.yaml', '--plan', '0123456789ab'), {
        ...CALM,
        toCorrect: [
          { source: 'deals', rejects: '/s/deals.ndjson', copy: 'more.ndjson', fixes: ['more.ndjson'] },
          { source: 'notes', rejects: '/s/notes.csv', copy: 'x/b: c.csv', fixes: ['a.csv', 'b: c.csv'] },
        ],
      }),
    ).toEqual([
      expect.stringMatching(/correct copies of the rejects.*a\.yaml/),
      '  cp /s/deals.ndjson more.ndjson',
      '  fixes: more.ndjson  # in source deals',
      "  cp /s/notes.csv 'x/b: c.csv'",
      "  fixes: [a.csv, 'b: c.csv']  # in source notes",
      'then run again:',
      '  crm-backfill run a.yaml',
    ]);
  });

  it('continues after a pilot without the options that chose it', () => {
    const found = summary({ events: { ...NOTHING, ...BESIDE, total: 5, pending: 2 } });
    expect(nextSteps(found, argv('run', 'a.yaml', '--pilot=10', '--only', 'lead', '--json'), CALM)).toEqual([
      'next: send the 2 events that are still pending:',
      '  crm-backfill run a.yaml --json',
    ]);
  });

  it('verifies a finished migration, but not a rehearsal', () => {
    const found = summary({ events: { ...NOTHING, ...BESIDE } });
    expect(
      nextSteps(
        found,
        argv('run', 'a.yaml', '--state', '/s t', '--quiet', '--pilot', '3', '--env-file=prod.env'),
        CALM,
      ),
    ).toEqual([
      'next: read the records back and compare them:',
      "  crm-backfill verify a.yaml --state '/s t' --env-file=prod.env",
      'then write the report again, to hand it over:',
      "  crm-backfill report a.yaml --state '/s t'",
    ]);
    expect(nextSteps(found, argv('run', 'a.yaml', '--sandbox'), { ...CALM, sandbox: true })).toEqual([]);
  });
});
