/** `npm run demo`: migrates the demo exports into an embedded sandbox, prints the error report, and runs again. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Summary } from './report/figures/summary.ts';

const cli = fileURLToPath(new URL('./cli.js', import.meta.url));
const mapping = fileURLToPath(new URL('../fixtures/demo/mapping.yaml', import.meta.url));
const state = mkdtempSync(join(tmpdir(), 'backfill-demo-'));

function show(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Runs `crm-backfill run` on the demo, with its messages on stderr, and returns the summary that it printed to stdout. */
function run(title: string, ...options: string[]): Summary {
  show(`\n--- ${title}\n$ crm-backfill run fixtures/demo/mapping.yaml --sandbox ${options.join(' ')}\n`);
  const args = [cli, 'run', mapping, '--sandbox', '--state', state, '--json', ...options];
  const child = spawnSync(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' });
  if (child.stdout === '') throw new Error(`the run ended with exit code ${child.status} and no summary`);
  return JSON.parse(child.stdout) as Summary;
}

function expect(holds: boolean, what: string): void {
  if (!holds) throw new Error(`the demo failed; expected: ${what}`);
  show(`ok: ${what}`);
}

try {
  const rehearsed = run('a dry run: everything is checked, nothing is sent', '--dry-run');
  const first = run('the migration');
  show(`\n--- the error report (errors.csv)\n`);
  show(readFileSync(first.files.errors, 'utf8'));
  const again = run('the same command again');
  show('');
  expect(rehearsed.this_run.events_sent === 0, 'the dry run sent no event');
  expect(first.this_run.events_sent === rehearsed.events.pending, 'the run sent every event that the dry run planned');
  expect(first.events.acknowledged === first.this_run.events_sent, 'every event sent was acknowledged');
  expect(first.this_run.rate_limited === 0, 'no request was refused because of the rate limit');
  expect(again.this_run.events_sent === 0, 'the second run sent nothing twice');
  const { events } = again;
  const sum =
    events.acknowledged + events.duplicates + events.invalid + events.rejected + events.blocked + events.pending;
  expect(events.total === sum, `every one of the ${events.total} events is accounted for`);
} finally {
  rmSync(state, { recursive: true });
}
