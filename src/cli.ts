#!/usr/bin/env node
// Older versions of Node run this file too: its syntax is old, and nothing of the program is loaded before the check.
import { closeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isatty } from 'node:tty';
import type * as errors from './errors.ts';
import type * as program from './main.ts';

// False or undefined before 20.19, in 21, and from 22.0 to 22.11.
if (process.features.require_module) {
  const load = createRequire(import.meta.url);
  const { EXIT, shortageOf } = load('./errors.js') as typeof errors;
  const terminals = [0, 1, 2].filter(isatty);
  let hasEnded = false;
  process.on('exit', (code) => {
    // Node aborts at its end, with a core dump, if it cannot reset a terminal that is gone.
    for (const fd of terminals) if (!isatty(fd)) closeSync(fd);
    // Code of `functions` may end the process, and so does a wait for promises that never settle. Signals have codes of their own.
    if (hasEnded || code > 128) return;
    process.stderr.write('error: the process ended before the command did; does code of `functions` end it?\n');
    process.exitCode = EXIT.stopped;
  });
  try {
    const { main } = load('./main.js') as typeof program;
    void main(process.argv.slice(2), process).then((code) => {
      hasEnded = true;
      process.exitCode = code;
    });
  } catch (thrown) {
    const error = shortageOf(thrown, EXIT.stopped);
    if (!error) throw thrown;
    hasEnded = true;
    process.exitCode = EXIT.stopped;
    process.stderr.write(`error: ${error.message}\nhint: ${error.hint}\n`);
  }
} else {
  process.stderr.write(
    `error: this is Node ${process.versions.node}; crm-backfill needs Node 20.19 or 22.12, or later\n`,
  );
  process.exitCode = 2;
}
