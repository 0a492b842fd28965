import { z } from 'zod';
import type { JsonValue } from '../../src/json.ts';
import type { Issue } from '../../src/model.ts';
import { parseMappingDocument } from '../../src/mapping/document.ts';
import { Fault, type Result } from '../../src/mapping/fault.ts';
import { Scope } from '../../src/mapping/scope.ts';
import type { Defaults, ValueSpec } from '../../src/mapping/spec.ts';
import { TRANSFORM_BY_NAME } from '../../src/mapping/transforms/index.ts';
import { Written } from '../../src/mapping/written.ts';

export interface Applied {
  readonly result: Result;
  readonly warnings: readonly Issue[];
}

/** Applies one transform, written as in a mapping file, to a value. */
export async function apply(written: string, value: JsonValue, defaults: Defaults = {}): Promise<Applied> {
  const { data, problems } = parseMappingDocument(`- ${written}`, 'inline');
  if (problems.length > 0) throw new Error(`${written}: ${problems[0]!.message}`);
  const item = (data as unknown[])[0];
  const [name, raw] =
    typeof item === 'string' ? [item, undefined] : Object.entries(item as Record<string, unknown>)[0]!;
  const entry = TRANSFORM_BY_NAME.get(name)!;
  const argument = raw === undefined ? undefined : entry.argument!(z.any()).parse(raw);
  await entry.load?.();
  const mistakes = entry.check?.(argument, defaults) ?? [];
  if (mistakes.length > 0) throw new Error(mistakes[0]!.message);
  const value_ = (spec: ValueSpec) => (): Result => (spec instanceof Written ? spec.text : (spec as string));
  const run = entry.compile(argument, { defaults, columns: [], value: value_ });
  const scope = new Scope();
  scope.root = value;
  for (;;) {
    const result = run(value, scope);
    if (!scope.waits) return { result, warnings: scope.issues };
    await scope.settle();
  }
}

/** The result, or the code of the fault. */
export async function outcome(written: string, value: JsonValue, defaults?: Defaults): Promise<JsonValue | undefined> {
  const { result } = await apply(written, value, defaults);
  return result instanceof Fault ? `error ${result.code}` : result;
}
