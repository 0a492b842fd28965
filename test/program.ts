/** The built program. */
import { createRequire } from 'node:module';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type * as program from '../src/main.ts';

export const CLI = fileURLToPath(new URL('../dist/cli.js', import.meta.url));

export interface Ended {
  /** The exit code; null after a signal. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The built program that tests run. */
export const DIST = fileURLToPath(new URL('../dist/', import.meta.url));

/** Runs a command in this process, through the `main` that `cli.js` calls. `dist`: of another copy of the program. */
export async function inProcess(
  args: readonly string[],
  { dist = DIST, stdout }: { readonly dist?: string | undefined; readonly stdout?: Writable | undefined } = {},
): Promise<Ended> {
  const { main } = createRequire(import.meta.url)(`${dist}main.js`) as typeof program;
  const [collected, stderr] = [new Collector(), new Collector()];
  const code = await main(args, { stdout: stdout ?? collected, stderr });
  return { code, stdout: collected.text, stderr: stderr.text };
}

class Collector extends Writable {
  text = '';

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString('utf8');
    done();
  }
}
