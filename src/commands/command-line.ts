import { basename, extname } from 'node:path';
import type { Summary } from '../report/summary.ts';
import { shortPath } from '../report/text.ts';

/** Options that belong to one run, not to the next; none takes a value. */
const ONCE: readonly string[] = ['--dry-run', '--offline', '--adopt', '--take-over'];

/** The command that was given, quoted for a shell, without some options and with others added. */
export function commandLine(
  argv: readonly string[],
  change: { readonly without?: readonly string[]; readonly and?: readonly string[] } = {},
): string {
  const { without = [], and = [] } = change;
  const words: string[] = [];
  for (let index = 2; index < argv.length; index += 1) {
    const word = argv[index]!;
    const name = word.split('=', 1)[0]!;
    if (!without.includes(name)) words.push(word);
    else if (!ONCE.includes(name) && word === name) index += 1;
  }
  const program = basename(argv[1] ?? 'backfill').replace(/^cli\.(js|ts)$/, 'backfill');
  return [program, ...words, ...and].map(quoted).join(' ');
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** What the next steps depend on beside the summary; `rejects` are files by source. */
interface Circumstances {
  readonly mapping: string;
  readonly state?: string | undefined;
  readonly sandbox: boolean;
  readonly rejects: ReadonlyMap<string, string>;
}

/** What to do next after a run that nothing stopped, with the commands to do it. */
export function nextSteps(
  summary: Summary,
  argv: readonly string[],
  { mapping, state, sandbox, rejects }: Circumstances,
): readonly string[] {
  const { events, records, dry_run: dry, plan } = summary;
  const failed = events.invalid + events.rejected + events.blocked + records.unreadable;
  const approved = dry && plan.digest !== null ? ['--plan', plan.digest] : [];
  const plain = commandLine(argv, { without: [...ONCE, '--plan'], and: approved });
  if (failed > 0 && rejects.size > 0) {
    const copies = [...rejects].map(([name, path]) => ({ name, path, copy: `corrected-${name}${extname(path)}` }));
    const fixes = copies.flatMap(({ name, copy }) => ['--fix', `${name}=${copy}`]);
    return [
      'next: mend the mapping or the exports and run again, or correct copies of rejects:',
      ...copies.map(({ path, copy }) => `  cp ${quoted(shortPath(path))} ${quoted(copy)}`),
      `  ${commandLine(argv, { without: dry ? [] : ONCE, and: fixes })}`,
      ...(dry && events.pending > 0 ? ['to send what is sound already:', `  ${plain}`] : []),
    ];
  }
  if (dry) {
    if (events.pending === 0) return [];
    const isPilot = argv.some((word) => /^--(limit|pick|sandbox)\b/.test(word));
    return [
      ...(isPilot
        ? []
        : ['next: a pilot of ten events of each type, to look at in the service:', `  ${plain} --limit 10`]),
      isPilot ? 'next:' : 'then all of it:',
      `  ${plain}`,
    ];
  }
  if (events.pending > 0) {
    const whole = commandLine(argv, { without: [...ONCE, '--limit', '--pick', '--only', '--max-requests', '--until'] });
    return [`next: the ${events.pending.toLocaleString('en')} events that are still pending:`, `  ${whole}`];
  }
  if (sandbox || failed > 0 || events.total === 0) return [];
  const verify = ['backfill', 'verify', mapping, ...(state === undefined ? [] : ['--state', state])];
  return ['next: read it back and compare:', `  ${verify.map(quoted).join(' ')}`];
}
