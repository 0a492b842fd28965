/** Plays histories one after the other. Started by main.ts as plain JavaScript, in a process of its own. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { history, type History } from './history.ts';
import { play, type Played } from './play.ts';
import { Program } from './program.ts';
import { realNow, simulateTime } from './time.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    histories: { type: 'string', default: '100' },
    /** Stop after so many seconds. */
    seconds: { type: 'string' },
    /** Of the compiled program. */
    root: { type: 'string', default: 'dist' },
    /** Print every history, not only those that fail. */
    story: { type: 'boolean', default: false },
    /** Files with histories, instead of random ones. */
    file: { type: 'string', multiple: true },
    /** Stop at the first failure, and do not shrink it. */
    quick: { type: 'boolean', default: false },
  },
});

/** How long a failing history is shrunk, in real milliseconds. */
const SHRINK_MS = 60_000;
const MOST_FAILURES = 3;

const [seed, histories] = [Number(values.seed), values.file?.length ?? Number(values.histories)];
const deadline = values.seconds === undefined ? Infinity : realNow() + Number(values.seconds) * 1000;

simulateTime();
const program = await Program.load(values.root);
const began = realNow();
let [count, runs, failures] = [0, 0, 0];
for (; count < histories && realNow() < deadline; count += 1) {
  const found = historyOf(seed + count);
  const played = await play(program, found);
  runs += played.runs;
  if (values.story) say(played.story);
  if (played.violations.length === 0) continue;
  failures += 1;
  say([`history ${seed + count} fails:`, ...played.violations.map((violation) => `  ${violation}`)]);
  if (values.quick) break;
  if (!values.story && !values.file) await tellShortest(seed + count, played);
  if (failures >= MOST_FAILURES) break;
}
const seconds = (realNow() - began) / 1000;
const rate = (count / seconds).toFixed(1);
say([
  `${count} histories (seeds from ${seed}), ${runs} runs, ${seconds.toFixed(1)} s, ${rate} histories a second, ${failures} failed`,
]);
process.exit(failures === 0 ? 0 : 1);

function historyOf(number: number): History {
  const file = values.file?.[number - seed];
  if (file !== undefined) return JSON.parse(readFileSync(file, 'utf8')) as History;
  return fc.sample(history, { seed: number, numRuns: 1 })[0]!;
}

/** Shrinks a failing history of a seed, and prints what remains of it. */
async function tellShortest(number: number, failed: Played): Promise<void> {
  const until = realNow() + SHRINK_MS;
  const kind = kindOf(failed);
  const fits = fc.asyncProperty(history, async (candidate) => {
    return realNow() > until || kindOf(await play(program, candidate)) !== kind;
  });
  const { counterexample } = await fc.check(fits, { seed: number, numRuns: 1 });
  const [shortest] = counterexample ?? [historyOf(number)];
  const played = await play(program, shortest);
  say(['the shortest history that fails in the same way:', JSON.stringify(shortest), ...played.story]);
  say(played.violations.map((violation) => `  ${violation}`));
}

/** A failure of the same kind says the same of another record or value. */
function kindOf({ violations }: Played): string {
  return (violations[0] ?? '').replace(/["'`].*?["'`]|\d+|[LDC]\d/g, '…').slice(0, 60);
}

function say(lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}
