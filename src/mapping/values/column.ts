import type { ValueContext } from './compile-context.ts';
import { compilePath, isPathError } from './path.ts';
import type { Evaluate } from './row-context.ts';

/** A column or path as a function of the record. An unknown one is a problem of the mapping. */
export function compileColumn(path: string, context: ValueContext): Evaluate {
  const at = context.compilation.locate(context.path);
  const compiled = compilePath(path, context.frame);
  if (isPathError(compiled)) {
    const { code, message, suggestion } = compiled;
    context.problems.push({ code, message, severity: 'error', at, ...(suggestion !== undefined && { suggestion }) });
    return () => undefined;
  }
  context.uses.push({ field: context.field, path, at, compiled, decides: context.decides });
  return compiled.evaluate;
}
