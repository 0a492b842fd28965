/** Preloaded into every measured process: reports its resource usage (seconds, MB) when it exits. */
import { writeFileSync } from 'node:fs';

process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const taken = { cpu: (userCPUTime + systemCPUTime) / 1e6, wall: performance.now() / 1000, peak: maxRSS / 1024 };
  writeFileSync(process.env.METER!, JSON.stringify(taken));
});
