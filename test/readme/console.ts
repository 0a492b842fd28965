/**
 * The screens of the documentation. Each `console` block of a page is a piece of one session: a line that begins with `$ ` is a command,
 * and the lines below it are what a terminal of 80 columns showed. All sessions are run in an empty folder, so a page shows what its reader
 * will see. `console first 12 last 3` shows that many lines.
 *
 * `<!-- keys: Down Enter -->` above a block are the keys that answer its questions, by their names in tmux. `<!-- account -->` at the top of
 * a page gives the session the credentials of an account.
 */
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeDirectory } from '../directory.ts';
import { CLI } from '../program.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { ROOT } from './root.ts';

const BLOCK = /(?:^<!-- keys: (.*) -->\n\n)?^```console(?: first (\d+)(?: last (\d+))?)?\n([^]*?)^```$/gm;

/** What the documentation calls the base URL of an account. */
const BASE_URL = 'https://crm.example';

/** The page with what its commands show now. Throws if one cannot be run. */
export async function withScreens(page: string): Promise<string> {
  if (!/^```console/m.test(page)) return page;
  const place = await makePlace(page.includes('<!-- account -->'));
  try {
    const parts: string[] = [];
    let end = 0;
    for (const match of page.matchAll(BLOCK)) {
      const [whole, keys, first, last = 0, block] = match;
      const shown: string[] = [];
      for (const command of commandsOf(block!)) {
        const { typed, text } = await place.run(command, keys?.split(' '));
        shown.push(`$ ${typed}\n${first === undefined ? text : shortened(text, Number(first), Number(last))}`);
      }
      parts.push(page.slice(end, match.index), whole.slice(0, whole.indexOf('\n$ ') + 1), ...shown, '```');
      end = match.index + whole.length;
    }
    return [...parts, page.slice(end)].join('');
  } finally {
    await place.close();
  }
}

/** The commands of a block. One that ends with a backslash goes on in the next line. */
function commandsOf(block: string): string[] {
  return [...block.matchAll(/^\$ ((?:.*\\\n)*.*)$/gm)].map(([, command]) => command!);
}

function shortened(text: string, first: number, last: number): string {
  const lines = text.trimEnd().split('\n');
  if (lines.length <= first + last) return text;
  return [...lines.slice(0, first), '…', ...lines.slice(lines.length - last), ''].join('\n');
}

interface Shown {
  /** The command, with the digest of the plan that was shown last. */
  readonly typed: string;
  readonly text: string;
}

interface Place {
  /** Resolves to what the command showed, whatever its exit code. Each key is pressed once a question is there. */
  run(command: string, keys?: readonly string[]): Promise<Shown>;
  close(): Promise<void>;
}

/** An empty folder with the program, its mappings and the fixtures. `hasAccount`: and with credentials of an account in `.env`. */
async function makePlace(hasAccount: boolean): Promise<Place> {
  const cwd = makeDirectory();
  const bin = join(cwd, '.bin');
  mkdirSync(bin);
  for (const folder of ['fixtures', 'mappings']) symlinkSync(join(ROOT, folder), join(cwd, folder));
  script(join(bin, 'crm-backfill'), `exec '${process.execPath}' '${CLI}' "$@"`);
  script(join(bin, 'npx'), 'exec "$@"');
  const service = hasAccount ? await startSandbox({ rate: { requests: 100_000, seconds: 1 } }) : undefined;
  if (service) {
    const url = `${service.baseUrl}/webhooks/ingest/${service.ingestToken.reveal()}`;
    writeFileSync(join(cwd, '.env'), `BACKFILL_API_KEY=${service.apiKey.reveal()}\nBACKFILL_INGEST_URL=${url}\n`);
  }
  let digest: string | undefined;
  return {
    run: async (command, keys = []) => {
      const typed = command.replace(/(?<=--plan )[0-9a-f]{12}\b/, (old) => digest ?? old);
      const text = await onTerminal(typed, { cwd, bin, keys });
      digest = [...text.matchAll(/\bPlan ([0-9a-f]{12})\b/g)].at(-1)?.[1] ?? digest;
      const here = text.replaceAll(`${cwd}/`, '').replaceAll(cwd, '.');
      return { typed, text: service ? here.replaceAll(service.baseUrl, BASE_URL) : here };
    },
    close: async () => {
      await service?.close();
      rmSync(cwd, { recursive: true, force: true });
    },
  };
}

const QUESTION = /^◆/m;
const ENDED = /^ended$/m;
let sessions = 0;

/** What a command shows on a terminal of 80 columns, in tmux. */
async function onTerminal(
  command: string,
  { cwd, bin, keys }: { readonly cwd: string; readonly bin: string; readonly keys: readonly string[] },
): Promise<string> {
  const server = `backfill-readme-${process.pid}-${(sessions += 1)}`;
  const tmux = async (...words: string[]): Promise<string> =>
    (await promisify(execFile)('tmux', ['-L', server, '-f', '/dev/null', '-u', ...words])).stdout;
  const variables = { PATH: `${bin}:${process.env.PATH}`, HOME: cwd, TZ: 'UTC', LC_ALL: 'C.UTF-8' };
  const env = ['env', '-i', 'TERM=screen', ...Object.entries(variables).map(([name, value]) => `${name}=${value}`)];
  const shell = `{ ${command}\n}; printf '\\nended\\n'; sleep 600`;
  await tmux('new-session', '-d', '-x', '80', '-y', '400', '-c', cwd, ...env, 'sh', '-c', shell);
  try {
    const screen = async (): Promise<string> =>
      (await tmux('capture-pane', '-p', '-J')).replaceAll(/ +$/gm, '').trimEnd();
    for (const key of keys) {
      await still(screen, QUESTION);
      await tmux('send-keys', key);
    }
    const text = await still(screen, ENDED);
    return text.replace(ENDED, '').replace(/\n+$/, '\n').replace(/^\n$/, '');
  } finally {
    await tmux('kill-server').catch(() => undefined);
  }
}

/** The screen once it shows this and does not change for a moment. */
async function still(screen: () => Promise<string>, what: RegExp): Promise<string> {
  let before = '';
  for (let tries = 0; tries < 300; tries += 1) {
    const now = await screen();
    if (what.test(now) && now === before) return now;
    if (ENDED.test(now) && what !== ENDED) break;
    before = now;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`not shown: ${String(what)}\n${before}`);
}

function script(path: string, line: string): void {
  writeFileSync(path, `#!/bin/sh\n${line}\n`);
  chmodSync(path, 0o755);
}

/** Without what differs between two sessions: durations, times of day, dates, ports, and where lines break because of them. */
export function steady(page: string): string {
  return page
    .replaceAll(/\b\d+(?:\.\d+)? (?:ms|s|seconds?|min|minutes?|h|hours?)\b/g, 'a while')
    .replaceAll(/\bless than a (?:second|minute)\b/g, 'a while')
    .replaceAll(/\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?Z?)?/g, 'a day')
    .replaceAll(/\b\d{2}:\d{2}(?::\d{2})?\b/g, 'a time')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:port')
    .replaceAll(/\b[\d,]+\/min\b/g, 'a rate')
    .replaceAll(/\s+/g, ' ');
}
