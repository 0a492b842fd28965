/** A real terminal, in tmux, whose screen can be read. */
import { execFile, execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

export function hasTmux(): boolean {
  try {
    execFileSync('tmux', ['-V']);
    return true;
  } catch {
    return false;
  }
}

let servers = 0;

/** Starts the program on a terminal of so many columns; at its end, the screen says `ended` and the exit code. */
export async function onTerminal(
  columns: number,
  args: string,
  { cwd, env = {} }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
) {
  const server = `backfill-test-${process.pid}-${(servers += 1)}`;
  const call = async (...words: string[]): Promise<string> =>
    (await promisify(execFile)('tmux', ['-L', server, '-f', '/dev/null', ...words])).stdout;
  onTestFinished(async () => {
    await call('kill-server').catch(() => undefined);
  });
  const variables = Object.entries({ ...env, LC_ALL: 'C.UTF-8' }).map(([name, value]) => `${name}='${value}'`);
  // Lines that tmux can scroll out of a terminal that becomes narrower, before those of the program.
  const shell = `trap : INT HUP; seq 60; env ${variables.join(' ')} ${process.execPath} ${CLI} ${args}; echo ended $?`;
  // Closed, a terminal ends its first process, and then signals the others.
  const outer = 'trap : INT; sh -c "$0"; sleep 60';
  await call('-u', 'new-session', '-d', '-x', String(columns), '-y', '260', '-c', cwd, 'sh', '-c', outer, shell);
  return {
    text: () => call('-u', 'capture-pane', '-p'),
    /** With its colours. */
    painted: () => call('-u', 'capture-pane', '-p', '-e'),
    /** Rows that the terminal itself continued are one line, as they are when they are copied. */
    copied: () => call('-u', 'capture-pane', '-p', '-J'),
    close: () => call('kill-server'),
    keys: (...names: string[]) => call('send-keys', ...names),
    resize: (to: number) => call('resize-window', '-x', String(to)),
    cursorIsShown: async () => (await call('display-message', '-p', '#{cursor_flag}')).trim() === '1',
  };
}
