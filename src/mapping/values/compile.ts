/** Binds a mapping to opened sources: checks columns, fills lookup tables, compiles entries to functions. */
import type { MappingSpec } from '../schema.ts';
import type { ValidParts } from '../valid-parts.ts';
import { counted } from '../../report/words/numbers.ts';
import { ProblemsError, type Problem } from '../../problem.ts';
import type { Source } from '../../input/source.ts';
import type { LoadedMapping } from '../check.ts';
import type { MappingDocument } from '../document.ts';
import { compileEntry } from './entry.ts';
import { isModule, type FunctionModule } from '../functions.ts';
import { LookupTables } from '../kinds/lookup-table.ts';
import type { CompiledEntry, CompiledMapping } from '../mapping.ts';
import { sourcesLookedUp } from '../spec-values.ts';
import type { CompileContext } from './compile-context.ts';
import { columnOf } from './path.ts';
import { issueOf } from '../../report/words/words.ts';

/** Problems are located through `document` and shown with lines of `texts`. */
export async function compileMapping(
  spec: MappingSpec,
  functions: FunctionModule | undefined,
  sources: ReadonlyMap<string, Source>,
  document: Pick<MappingDocument, 'locate'>,
  texts: ReadonlyMap<string, string>,
): Promise<CompiledMapping> {
  const compilation = newContext(spec, functions, sources, document);
  const entries = spec.events.map((entry, index) => compileEntry(entry, index, compilation));
  const problems = inOrder(compilation.problems);
  if (problems.length > 0) {
    throw new ProblemsError(
      `the mapping does not fit its sources (${counted(problems.length, 'error')})`,
      problems,
      texts,
    );
  }
  expectIds(entries, compilation);
  for (const [name, count] of await compilation.lookups.build()) {
    const { code, message } = issueOf('lookup_unreadable', count, name);
    compilation.warnings.push({ code, message, severity: 'warning', at: document.locate(['sources', name], 'key') });
  }
  const { lookups, missingValues, warnings } = compilation;
  return { entries, lookedUp: lookups.paths(), missingValues, warnings: inOrder(warnings) };
}

/** Ids, phone numbers, and what lookups read: texts that are compared. */
const ID = /(?:^|_)external_id$|^phone_number$/;

function expectIds(entries: readonly CompiledEntry[], { sources, lookups }: CompileContext): void {
  const lookedUp = lookups.paths();
  for (const [name, source] of sources) {
    const uses = entries
      .filter((entry) => entry.source === name)
      .flatMap(({ uses, isEach }) =>
        uses.filter((use) => ID.test(use.field) && !use.isRest && (!isEach || use.column !== undefined)),
      );
    const others = [...(lookedUp.get(name) ?? [])].map((path) => ({ path, column: columnOf(path, source) }));
    source.expectIds([...uses, ...others]);
  }
}

/** The columns that the valid parts of a mapping name and `sources` lack; entries that need other sources are not checked. */
export function columnProblems(
  { spec, functions, document }: LoadedMapping,
  sources: ReadonlyMap<string, Source>,
): readonly Problem[] {
  const compilation = newContext(spec, functions && isModule(functions) ? functions : undefined, sources, document);
  for (const [index, entry] of spec.events.entries()) {
    if (entry && [entry.source, ...sourcesLookedUp(entry)].every((name) => sources.has(name)))
      compileEntry(entry, index, compilation);
  }
  return compilation.problems;
}

function newContext(
  spec: ValidParts,
  functions: FunctionModule | undefined,
  sources: ReadonlyMap<string, Source>,
  document: Pick<MappingDocument, 'locate'>,
): CompileContext {
  const missing = new Map<string, ReadonlySet<string>>();
  for (const [name, source] of Object.entries(spec.sources ?? {})) {
    const texts = source.missing_values ?? spec.defaults?.missing_values ?? [];
    missing.set(name, new Set(texts.map((text) => text.trim()).filter((text) => text !== '')));
  }
  return {
    defaults: spec.defaults ?? {},
    sources,
    functions,
    lookups: new LookupTables(),
    problems: [],
    warnings: [],
    locate: (path, part) => document.locate(path, part),
    missingValues: (source) => missing.get(source) ?? new Set(),
  };
}

/** A value compiled several times is reported once. Sorted by place. */
export function inOrder(problems: readonly Problem[]): Problem[] {
  const seen = new Map(problems.map((problem) => [JSON.stringify([problem.at, problem.message]), problem]));
  return [...seen.values()].sort(
    (a, b) => (a.at?.line ?? 0) - (b.at?.line ?? 0) || (a.at?.column ?? 0) - (b.at?.column ?? 0),
  );
}
