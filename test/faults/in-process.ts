import { Redactor } from '../../src/redact.ts';
import { Halt } from '../../src/halt.ts';
import { runMigration } from '../../src/run.ts';
import type { Summary } from '../../src/report/summary.ts';
import type { Sandbox } from '../../src/commands/sandbox/index.ts';
import { credentials } from '../../src/settings/credentials.ts';
import { runSettings } from '../../src/settings/run-settings.ts';
import { environmentOf } from '../e2e/harness.ts';

/** Options of `run` as the command line passes them: `{ maxRequests: '12' }`. */
export type Options = Readonly<Record<string, unknown>>;

/** A run in this process, which saves the time that starting another one takes. */
export async function migrate(
  service: Sandbox,
  mapping: string,
  options: Options = {},
  halt = new Halt(),
): Promise<Summary> {
  const { summary } = await runMigration({
    settings: runSettings({ mapping, rate: '100000/1s', ...options }),
    credentials: credentials(undefined, environmentOf(service)),
    stateSuffix: '',
    halt,
    redactor: new Redactor(),
    monitor: {},
  });
  return summary;
}
