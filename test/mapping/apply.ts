import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { JsonValue } from '../../src/json.ts';
import { parseMappingDocument, WrittenScalar } from '../../src/mapping/document.ts';
import { loadFunctions } from '../../src/mapping/functions.ts';
import { RowContext, type Result } from '../../src/mapping/values/result.ts';
import type { Defaults, ValueSpec } from '../../src/mapping/spec.ts';
import { TRANSFORM_BY_NAME } from '../../src/mapping/transforms/index.ts';
import { Problem } from '../../src/problem.ts';

/** The functions of the reference. */
const MAPPINGS = fileURLToPath(new URL('../../mappings', import.meta.url));

export interface Applied {
  readonly result: Result;
  readonly warnings: readonly Problem[];
}

/** Applies one transform, in the notation of mapping files, to a value. */
export async function apply(written: string, value: JsonValue, defaults: Defaults = {}): Promise<Applied> {
  const { data, problems } = parseMappingDocument(`- ${written}`, 'inline');
  if (problems.length > 0) throw new Error(`${written}: ${problems[0]!.message}`);
  const item = (data as unknown[])[0];
  const [name, raw] =
    typeof item === 'string' ? [item, undefined] : Object.entries(item as Record<string, unknown>)[0]!;
  const entry = TRANSFORM_BY_NAME.get(name)!;
  const argument = raw === undefined ? undefined : entry.argument!(z.any()).parse(raw);
  await entry.load?.();
  const functions = await loadFunctions('functions.mjs', MAPPINGS);
  if (functions instanceof Problem) throw new Error(functions.message);
  const problemsFound = entry.check?.(argument, defaults, functions) ?? [];
  if (problemsFound.length > 0) throw new Error(problemsFound[0]!.message);
  const value_ = (spec: ValueSpec) => (): Result => (spec instanceof WrittenScalar ? spec.text : (spec as string));
  const run = entry.compile(argument, {
    defaults,
    columns: [],
    functions,
    at: { file: 'inline', line: 1, column: 3 },
    value: value_,
  });
  const row = new RowContext();
  row.root = value;
  return { result: run(value, row), warnings: row.issues };
}

/** The result, or the code of the error. */
export async function outcome(written: string, value: JsonValue, defaults?: Defaults): Promise<JsonValue | undefined> {
  const { result } = await apply(written, value, defaults);
  return result instanceof Problem ? `error ${result.code}` : result;
}
