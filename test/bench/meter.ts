/** Preloaded into every measured process: reports its resource usage when it exits. */
import { subscribe } from 'node:diagnostics_channel';
import { writeFileSync } from 'node:fs';

/** What it took until the first POST request, if there was one. */
let firstPost: { cpu: number; wall: number } | undefined;

subscribe('undici:request:create', (message) => {
  const { method } = (message as { request: { method: string } }).request;
  if (method === 'POST') firstPost ??= used();
});

process.on('exit', () => {
  const peak = process.resourceUsage().maxRSS / 1024;
  writeFileSync(process.env.METER!, JSON.stringify({ ...used(), peak, firstPost }));
});

/** Seconds, so far. */
function used(): { cpu: number; wall: number } {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  return { cpu: (userCPUTime + systemCPUTime) / 1e6, wall: performance.now() / 1000 };
}
