import { Redactor } from '../../src/redact.ts';
import { Halt } from '../../src/halt.ts';
import type { Monitor } from '../../src/run/begin.ts';
import { runMigration, type RunResult } from '../../src/run/run.ts';
import { credentials } from '../../src/settings/credentials.ts';
import { runSettings } from '../../src/settings/run-settings.ts';

/** Options of `run` as the command line passes them: `{ maxOutage: '1s' }`. */
export type Options = Readonly<Record<string, unknown>>;

/** A run in this process, without its command line. */
export function migrate(
  env: Readonly<Record<string, string>>,
  mapping: string,
  options: Options = {},
  monitor: Monitor = {},
): Promise<RunResult> {
  return runMigration({
    settings: runSettings({ mapping, rate: '100000/1s', ...options }),
    credentials: credentials(undefined, env),
    stateSuffix: '',
    halt: new Halt(),
    redactor: new Redactor(),
    monitor,
  });
}
