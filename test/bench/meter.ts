/** Preloaded into every measured process: tells at its end what it took. */
import { writeFileSync } from 'node:fs';

process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const cpu = (userCPUTime + systemCPUTime) / 1e6;
  writeFileSync(process.env.METER!, JSON.stringify({ cpu, wall: performance.now() / 1000, peak: maxRSS / 1024 }));
});
