/**
 * The screens of the documentation. Each `console` block of a page is a piece of one session: a line that begins with `$ ` is a command,
 * and the lines below it are what it printed. All sessions are run in an empty folder, so a page shows what its reader will see.
 *
 * `<!-- run: COMMAND -->` is a command that the page describes in words, such as an edit of a file. `<!-- account -->` at its top gives the
 * session the credentials of an account.
 */
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory } from '../directory.ts';
import { CLI } from '../program.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { ROOT } from './root.ts';

const SESSION = /^```console\n([^]*?)^```$|^<!-- run: (.*) -->$/gm;

/** What the documentation calls the base URL of an account. */
const BASE_URL = 'https://crm.example';

/** The page with the output that its commands print now. Throws if one cannot be run. */
export async function withScreens(page: string): Promise<string> {
  if (!/^```console$/m.test(page)) return page;
  const place = await makePlace(page.includes('<!-- account -->'));
  try {
    const parts: string[] = [];
    let end = 0;
    for (const match of page.matchAll(SESSION)) {
      parts.push(page.slice(end, match.index));
      end = match.index + match[0].length;
      const [whole, block, hidden] = match;
      if (hidden !== undefined) await place.run(hidden);
      if (block === undefined) parts.push(whole);
      else {
        const shown: string[] = [];
        for (const command of commandsOf(block)) shown.push(`$ ${command}\n${await place.run(command)}`);
        parts.push(`\`\`\`console\n${shown.join('')}\`\`\``);
      }
    }
    return [...parts, page.slice(end)].join('');
  } finally {
    await place.close();
  }
}

/** The commands of a block. One that ends with a backslash goes on in the next line. */
function commandsOf(block: string): string[] {
  return [...block.matchAll(/^\$ (.*(?:\\\n.*)*)$/gm)].map(([, command]) => command!);
}

export interface Place {
  /** Resolves to what the command printed, whatever its exit code. */
  run(command: string): Promise<string>;
  close(): Promise<void>;
}

/** An empty folder with the program and the fixtures. `hasAccount`: and with credentials of an account in `.env`. */
export async function makePlace(hasAccount: boolean): Promise<Place> {
  const cwd = makeDirectory();
  const bin = join(cwd, '.bin');
  mkdirSync(bin);
  symlinkSync(join(ROOT, 'fixtures'), join(cwd, 'fixtures'));
  script(join(bin, 'crm-backfill'), `exec '${process.execPath}' '${CLI}' "$@"`);
  script(join(bin, 'npx'), 'exec "$@"');
  const service = hasAccount ? await startSandbox({ rate: { requests: 100_000, seconds: 1 } }) : undefined;
  if (service) {
    const url = `${service.baseUrl}/webhooks/ingest/${service.ingestToken.reveal()}`;
    writeFileSync(join(cwd, '.env'), `BACKFILL_API_KEY=${service.apiKey.reveal()}\nBACKFILL_INGEST_URL=${url}\n`);
  }
  const run = async (command: string): Promise<string> => {
    const text = (await output(command, { cwd, path: `${bin}:${process.env.PATH}` }))
      .replaceAll(`${cwd}/`, '')
      .replaceAll(cwd, '.');
    return service ? text.replaceAll(service.baseUrl, BASE_URL) : text;
  };
  return {
    run,
    close: async () => {
      await service?.close();
      rmSync(cwd, { recursive: true, force: true });
    },
  };
}

/** What a command prints on an 80 columns wide page. */
function output(command: string, { cwd, path }: { readonly cwd: string; readonly path: string }): Promise<string> {
  const env = { PATH: path, HOME: cwd, COLUMNS: '80', NO_COLOR: '1', TZ: 'UTC' };
  return new Promise((resolve) => {
    // An exit code other than 0 is a result like any other.
    execFile('sh', ['-c', `{ ${command}\n} 2>&1`], { cwd, env }, (_error, stdout) => resolve(stdout));
  });
}

function script(path: string, line: string): void {
  writeFileSync(path, `#!/bin/sh\n${line}\n`);
  chmodSync(path, 0o755);
}

/** Without what differs between two sessions: durations, times of day, dates, ports. */
export function steady(page: string): string {
  return page
    .replaceAll(/\b\d+(?:\.\d+)? (?:ms|s|seconds?|min|minutes?|h|hours?)\b/g, 'a while')
    .replaceAll(/\bless than a (?:second|minute)\b/g, 'a while')
    .replaceAll(/\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?Z?)?/g, 'a day')
    .replaceAll(/\b\d{2}:\d{2}(?::\d{2})?\b/g, 'a time')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:port')
    .replaceAll(/ +/g, ' ');
}
