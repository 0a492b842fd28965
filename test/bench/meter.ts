/** Preloaded into every measured process: reports its resource usage when it exits. */
import { subscribe } from 'node:diagnostics_channel';
import { writeFileSync } from 'node:fs';

/** Seconds until the first POST request, if there was one. */
let firstPost: number | undefined;

subscribe('undici:request:create', (message) => {
  const { method } = (message as { request: { method: string } }).request;
  if (method === 'POST') firstPost ??= performance.now() / 1000;
});

process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const cpu = (userCPUTime + systemCPUTime) / 1e6;
  const wall = performance.now() / 1000;
  writeFileSync(process.env.METER!, JSON.stringify({ cpu, wall, peak: maxRSS / 1024, firstPost }));
});
