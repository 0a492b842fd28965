/** Calls a command as the command line does, and collects its output. */
import { Writable } from 'node:stream';
import { join } from 'node:path';
import { Console } from '../../src/report/print/console.ts';
import { UserError } from '../../src/errors.ts';
import type { Sandbox } from '../../src/sandbox/index.ts';
import { environmentOf, files, workspace } from '../e2e/harness.ts';

export interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

type Argv = Readonly<Record<string, unknown>>;

/**
 * Options by their names in camel case. The message of a `UserError` goes to stderr, as in `main.ts`. With `isTTY`, both
 * streams say that they are terminals.
 */
export async function call(
  command: (argv: Argv, console: Console) => Promise<number>,
  argv: Argv,
  { isTTY = false }: { readonly isTTY?: boolean } = {},
): Promise<Said> {
  const texts = { stdout: '', stderr: '' };
  const into = (name: 'stdout' | 'stderr'): Writable =>
    Object.assign(
      new Writable({
        write(chunk: Buffer, _encoding, done) {
          texts[name] += chunk.toString('utf8');
          done();
        },
      }),
      { isTTY },
    );
  const console = new Console({ stdout: into('stdout'), stderr: into('stderr') });
  try {
    return { code: await command(argv, console), ...texts };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return {
      code: error.exitCode,
      stdout: texts.stdout,
      stderr: `${texts.stderr}${error.message}\n${error.hint ?? ''}`,
    };
  }
}

/** A .env file with which a command reaches this sandbox as if it were the service. */
export async function envFile(service: Sandbox, changes: Readonly<Record<string, string>> = {}): Promise<string> {
  const directory = await workspace();
  const env = { ...environmentOf(service), ...changes };
  await files(directory, {
    env: Object.entries(env)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  });
  return join(directory, 'env');
}
