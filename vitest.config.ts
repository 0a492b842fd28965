import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: 'test/build.ts',
    // Most of the time of a short test is the loading of modules. No test changes a module.
    isolate: false,
    // Tests of servers and processes wait for most of their time.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    // A safety net: no test depends on the speed of the machine.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
