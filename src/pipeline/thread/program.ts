/** The program of the mapping thread. */
import { createRequire } from 'node:module';
import { workerData } from 'node:worker_threads';
import type * as serving from './serve.ts';
import type { Beginning } from './tasks.ts';

// So its modules load in three quarters of the time that `import` takes.
const { serve } = createRequire(import.meta.url)('./serve.js') as typeof serving;
await serve(workerData as Beginning);
