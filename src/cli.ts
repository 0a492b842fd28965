#!/usr/bin/env node
import { createRequire } from 'node:module';
import { EXIT } from './errors.ts';
import type * as program from './main.ts';

// Set first: a process that only waits for promises that never settle would otherwise exit as if it had succeeded.
process.exitCode = EXIT.stopped;

const { main } = createRequire(import.meta.url)('./main.js') as typeof program;
process.exitCode = await main(process.argv.slice(2));
