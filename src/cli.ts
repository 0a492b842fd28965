#!/usr/bin/env node
// Node takes `--env-file` of any place on the command line for an option of its own. `env -S node --` would prevent that, but
// BusyBox (Alpine) has no `env -S`.
// Older versions of Node run this file too: its syntax is old, and nothing of the program is loaded before the check.
import { closeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isatty } from 'node:tty';
import type * as errors from './errors.ts';
import type * as program from './main.ts';
import type * as guest from './mapping/guest.ts';

// False or undefined before 20.19, in 21, and from 22.0 to 22.11.
if (process.features.require_module) {
  const load = createRequire(import.meta.url);
  const { EXIT, shortageOf } = load('./errors.js') as typeof errors;
  // Set first: a process that only waits for promises that never settle would otherwise exit as if it had succeeded.
  process.exitCode = EXIT.stopped;
  const terminals = [0, 1, 2].filter(isatty);
  // Node aborts at its end, with a core dump, if it cannot reset a terminal that is gone.
  process.on('exit', () => {
    for (const fd of terminals) if (!isatty(fd)) closeSync(fd);
  });
  try {
    const { main } = load('./main.js') as typeof program;
    void main(process.argv.slice(2), process).then((code) => {
      process.exitCode = code;
      // Timers of code of the user's would keep it alive.
      setTimeout(() => (load('./mapping/guest.js') as typeof guest).endProcess(code), 1000).unref();
    });
  } catch (thrown) {
    const error = shortageOf(thrown, EXIT.stopped);
    if (!error) throw thrown;
    process.stderr.write(`error: ${error.message}\nhint: ${error.hint}\n`);
  }
} else {
  process.stderr.write(
    `error: this is Node ${process.versions.node}; crm-backfill needs Node 20.19 or 22.12, or later\n`,
  );
  process.exitCode = 2;
}
