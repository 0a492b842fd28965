import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: 'test/build.ts',
    // Most of the time of a short test is the loading of modules. No test changes a module.
    isolate: false,
    // Tests of servers and processes wait for most of their time.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
