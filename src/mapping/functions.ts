/** The module of `functions`: code of the user's, for what no transform covers. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { codeOf, messageOf } from '../errors.ts';
import { Problem } from '../problem.ts';
import { shortened } from '../report/words/visible.ts';

export interface FunctionModule {
  /** As written in the mapping. */
  readonly file: string;
  /** Absolute. */
  readonly path: string;
  readonly sha256: string;
  readonly exports: Readonly<Record<string, unknown>>;
  /** Where an error was thrown in the module: `functions.mjs:12:5`, or its name alone if that is not known. */
  placeOf(error: unknown): string;
}

/** Runs the module, which is an ES module beside the mapping, once. A changed file is another module. A problem if it cannot be used. */
export async function loadFunctions(file: string, folder: string): Promise<FunctionModule | Problem> {
  const path = resolve(folder, file);
  let sha256: string;
  try {
    sha256 = createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
  } catch (error) {
    const why = codeOf(error) === 'ENOENT' ? 'is not there' : `cannot be read: ${codeOf(error) ?? messageOf(error)}`;
    const hint = 'the path of `functions` is relative to the mapping file';
    return new Problem({ code: 'bad_functions', message: `${file} ${why}`, hint });
  }
  const url = pathToFileURL(path);
  url.searchParams.set('sha256', sha256);
  const placeOf = (error: unknown): string => placeIn(file, url, error);
  try {
    const exports = (await import(/* @vite-ignore */ url.href)) as FunctionModule['exports'];
    return { file, path, sha256, exports, placeOf };
  } catch (error) {
    const place = error instanceof SyntaxError ? placeOfSyntax(file, path) : placeOf(error);
    const hint = `correct it: \`node ${file}\` must end without an error`;
    return new Problem({ code: 'bad_functions', message: `${place} cannot be loaded: ${thrownText(error)}`, hint });
  }
}

/** What was thrown, on one line. */
export function thrownText(error: unknown): string {
  const text =
    error instanceof Error ? `${error.name}: ${error.message}` : typeof error === 'string' ? error : inspect(error);
  return shortened(text.replace(/\s+/g, ' ').trim(), 200);
}

/** The innermost place within the module of an error's stack. */
function placeIn(file: string, url: URL, error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const frame = stack.split('\n').find((line) => line.includes(url.href) || line.includes(fileURLToPath(url)));
  const [, line, column] = /:(\d+):(\d+)\)?$/.exec(frame ?? '') ?? [];
  return line === undefined ? file : `${file}:${line}:${column}`;
}

/** The stack of a syntax error does not say where it is: only Node itself does, when it prints it. */
function placeOfSyntax(file: string, path: string): string {
  const { stderr } = spawnSync(process.execPath, ['--check', path], { encoding: 'utf8', timeout: 10_000 });
  const [, line] = /:(\d+)\r?\n/.exec(stderr) ?? [];
  return line === undefined ? file : `${file}:${line}`;
}
