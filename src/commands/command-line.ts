import { basename, extname } from 'node:path';
import type { Summary } from '../report/summary.ts';
import { shortPath } from '../report/text.ts';

/** Options for one run that the next should not repeat; none takes a value. */
const ONCE: readonly string[] = ['--dry-run', '--offline', '--adopt', '--take-over'];

/** Options whose value is a secret, so it cannot be printed. */
export const SECRET: readonly string[] = ['--notify', '--heartbeat'];

/** The command line of this process, quoted for a shell, without secrets, without some options and with others added. */
export function commandLine(
  argv: readonly string[],
  change: { readonly without?: readonly string[]; readonly and?: readonly string[] } = {},
): string {
  const { without = [], and = [] } = change;
  const kept: string[] = [];
  for (let index = 2; index < argv.length; index += 1) {
    const arg = argv[index]!;
    const name = arg.split('=', 1)[0]!;
    if (!without.includes(name) && !SECRET.includes(name)) kept.push(arg);
    else if (!ONCE.includes(name) && arg === name) index += 1;
  }
  const program = basename(argv[1] ?? 'backfill').replace(/^cli\.(js|ts)$/, 'backfill');
  return [program, ...kept, ...and].map(quoted).join(' ');
}

function quoted(arg: string): string {
  return /^[\w@%+=:,./-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", `'\\''`)}'`;
}

/** What the next steps depend on besides the summary; `rejects` are files by source. */
interface Circumstances {
  readonly mapping: string;
  readonly state?: string | undefined;
  readonly sandbox: boolean;
  readonly rejects: ReadonlyMap<string, string>;
}

/** The next steps after a run that was not stopped, with their commands. */
export function nextSteps(
  summary: Summary,
  argv: readonly string[],
  { mapping, state, sandbox, rejects }: Circumstances,
): readonly string[] {
  const { events, records, dry_run: dry, exit, plan } = summary;
  const failed = events.invalid + events.rejected + events.blocked + records.unreadable;
  const approved = dry && plan.digest !== null ? ['--plan', plan.digest] : [];
  const plain = commandLine(argv, { without: [...ONCE, '--plan'], and: approved });
  if (exit.reason === 'too_many_omitted') return ['next: fix the mapping, then:', `  ${commandLine(argv)}`];
  if (rejects.size > 0) {
    const copies = [...rejects].map(([name, path]) => ({ name, path, copy: `corrected-${name}${extname(path)}` }));
    const fixes = copies.flatMap(({ name, copy }) => ['--fix', `${name}=${copy}`]);
    return [
      'next: fix the mapping or exports and run again, or correct copies of the rejects:',
      ...copies.map(({ path, copy }) => `  cp ${quoted(shortPath(path))} ${quoted(copy)}`),
      // Corrected records make another plan.
      `  ${commandLine(argv, { without: dry ? ['--plan'] : [...ONCE, '--plan'], and: fixes })}`,
      ...(dry && events.pending > 0 ? ['to send the valid events now:', `  ${plain}`] : []),
    ];
  }
  if (dry) {
    if (events.pending === 0) return [];
    const isPilot = argv.some((arg) => /^--(limit|pick|sandbox)\b/.test(arg));
    return [
      ...(isPilot
        ? []
        : ['next: send a pilot of ten events of each type and check them in the service:', `  ${plain} --limit 10`]),
      isPilot ? 'next:' : 'then send everything:',
      `  ${plain}`,
    ];
  }
  if (events.pending > 0) {
    const whole = commandLine(argv, {
      without: [...ONCE, '--limit', '--pick', '--only', '--max-requests', '--until'],
    });
    return [`next: send the ${events.pending.toLocaleString('en')} events that are still pending:`, `  ${whole}`];
  }
  if (sandbox || failed > 0 || events.total === 0) return [];
  const verify = ['backfill', 'verify', mapping, ...(state === undefined ? [] : ['--state', state])];
  return ['next: read the records back and compare them:', `  ${verify.map(quoted).join(' ')}`];
}
