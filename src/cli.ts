#!/usr/bin/env node
import { createRequire } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { EXIT } from './errors.ts';
import type * as program from './main.ts';
import { beginThread } from './pipeline/thread/begin.ts';

// The first rows of a survey are kept for sending, or wait for a thread. From them V8 would learn that rows live long, put
// every later one where it stays until all memory is gone through, and need a third more memory and time.
setFlagsFromString('--no-allocation-site-pretenuring');

// Set first: a process whose pending promises hold nothing open would otherwise end as if all were well.
process.exitCode = EXIT.stopped;

const args = process.argv.slice(2);
// Modules take a quarter of a second to load, and those of a thread as long: both are loaded at once.
beginThread(args);
const { main } = createRequire(import.meta.url)('./main.js') as typeof program;
process.exitCode = await main(args);
