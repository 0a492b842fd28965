/** Binds a mapping to opened sources: checks columns, fills lookup tables, compiles entries to functions. */
import type { MappingSpec } from '../schema.ts';
import type { ValidParts } from '../valid-parts.ts';
import type { UserError } from '../../errors.ts';
import type { OpenedSources } from '../../input/input.ts';
import { counted } from '../../report/words/numbers.ts';
import { mistake, Problem, ProblemsError } from '../../problem.ts';
import type { Source } from '../../input/source.ts';
import type { LoadedMapping } from '../check.ts';
import type { MappingDocument } from '../document.ts';
import { compileEntry } from './entry.ts';
import type { FunctionModule } from '../functions.ts';
import { LookupTables } from '../kinds/lookup-table.ts';
import type { CompiledEntry, CompiledMapping } from '../mapping.ts';
import { meantColumns, type MeantColumns } from './meant-columns.ts';
import { sourcesLookedUp } from '../spec-values.ts';
import type { NamedOtherwise } from '../not-in-export.ts';
import type { CompileContext } from './compile-context.ts';
import { columnOf } from './path.ts';
import { issueOf } from '../../report/words/words.ts';

/** Problems are located through `document` and shown with lines of `texts`. */
export async function compileMapping(
  mapping: LoadedMapping & { readonly spec: MappingSpec },
  opened: OpenedSources,
  texts: ReadonlyMap<string, string>,
): Promise<CompiledMapping> {
  const { document } = mapping;
  const { compilation, entries, problems } = await compileEntries(mapping, opened);
  const [only] = opened.failures.values();
  if (only && problems.length === 1) throw only;
  if (problems.length > 0) {
    const summary = `the mapping does not fit its sources (${counted(problems.length, 'error')})`;
    throw new ProblemsError(summary, inOrder(problems), texts);
  }
  expectIds(entries, compilation);
  for (const [name, count] of await compilation.lookups.build()) {
    const at = document.locate(['sources', name], 'key');
    compilation.warnings.push(issueOf('lookup_unreadable', count, name).with({ at }));
  }
  const { lookups, missingValues, warnings, lacking, isLenient } = compilation;
  const lookedUp = lookups.paths();
  // Of several spellings in the mapping, one may be that of the column.
  const isNamed = ({ source, header }: NamedOtherwise): boolean =>
    lookedUp.get(source)?.has(header) === true ||
    entries.some((entry) => entry.source === source && entry.uses.some(({ path }) => path === header));
  const named = compilation.named.filter((each) => !isNamed(each));
  return { entries, lookedUp, missingValues, warnings: inOrder(warnings), isLenient, lacking, named };
}

/** Ids, phone numbers, and what lookups read: texts that are compared. */
const ID = /(?:^|_)external_id$|^phone_number$/;

function expectIds(entries: readonly CompiledEntry[], { sources, lookups, frameOf }: CompileContext): void {
  const lookedUp = lookups.paths();
  for (const [name, source] of sources) {
    const uses = entries
      .filter((entry) => entry.source === name)
      .flatMap(({ uses, isEach }) =>
        uses.filter((use) => ID.test(use.field) && !use.isRest && (!isEach || use.column !== undefined)),
      );
    const others = [...(lookedUp.get(name) ?? [])].map((path) => ({ path, column: columnOf(path, frameOf(source)) }));
    source.expectIds([...uses, ...others]);
  }
}

/**
 * What is wrong with the sources of the valid parts of a mapping: files that cannot be read, and columns that they lack. Entries whose
 * sources could not be opened are not checked.
 */
export async function compileEntries(
  { spec, functions, document }: LoadedMapping,
  opened: OpenedSources,
): Promise<{ compilation: CompileContext; entries: readonly CompiledEntry[]; problems: readonly Problem[] }> {
  const { sources, failures } = opened;
  const meant = await meantColumns(spec.events, sources);
  const module = functions instanceof Problem ? undefined : functions;
  const compilation = newContext(spec, module, sources, document, meant);
  const entries = spec.events.flatMap((entry, index) =>
    entry && [entry.source, ...sourcesLookedUp(entry)].every((name) => sources.has(name))
      ? [compileEntry(entry, index, compilation)]
      : [],
  );
  const used = new Set(spec.events.map((entry) => entry?.source));
  const absent = compilation.lacking.sources.filter((name) => used.has(name));
  const problems = [
    ...[...failures].flatMap(([name, error]) => problemsOfSource(name, error, document)),
    // Without any file there is nothing to migrate.
    ...(absent.length < used.size ? [] : absent.map((name) => noFile(name, spec, document))),
    ...compilation.problems,
  ];
  return { compilation, entries, problems: inOrder(problems) };
}

type Document = Pick<MappingDocument, 'locate'>;

function problemsOfSource(name: string, error: UserError, document: Document): readonly Problem[] {
  if (error instanceof ProblemsError) return error.problems;
  return [mistake('bad_source', error.message, document.locate(['sources', name, 'path']), error.hint)];
}

function noFile(name: string, { sources }: ValidParts, document: Document): Problem {
  const message = `source \`${name}\`: no file matches ${sources?.[name]?.path ?? ''}`;
  return mistake('bad_source', message, document.locate(['sources', name, 'path']));
}

function newContext(
  spec: ValidParts,
  functions: FunctionModule | undefined,
  sources: ReadonlyMap<string, Source>,
  document: Document,
  meant: ReadonlyMap<string, MeantColumns>,
): CompileContext {
  const missing = new Map<string, ReadonlySet<string>>();
  for (const [name, source] of Object.entries(spec.sources ?? {})) {
    const texts = source.missing_values ?? spec.defaults?.missing_values ?? [];
    missing.set(name, new Set(texts.map((text) => text.trim()).filter((text) => text !== '')));
  }
  const missingValues = (source: string): ReadonlySet<string> => missing.get(source) ?? new Set();
  const absent = [...sources.values()].flatMap(({ name, isAbsent }) => (isAbsent ? [name] : []));
  const positions = [...meant].flatMap(([source, columns]) =>
    Array.from(columns, ([name, column]) => ({ source, name, header: positionOf(sources.get(source)!, name, column) })),
  );
  return {
    defaults: spec.defaults ?? {},
    sources,
    isLenient: spec.columns === 'optional',
    lacking: { sources: absent, values: [], columns: new Map(), entries: [] },
    named: positions,
    functions,
    lookups: new LookupTables(),
    problems: [],
    warnings: [],
    locate: (path, part) => document.locate(path, part),
    missingValues,
    frameOf: (source) => {
      const columns = meant.get(source.name);
      return { source, missing: missingValues(source.name), ...(columns && { meant: columns }) };
    },
  };
}

/** `Status#2` */
function positionOf({ columns }: Source, name: string, column: number): string {
  return `${name}#${columns.slice(0, column + 1).filter((each) => each === name).length}`;
}

/** A value compiled several times is reported once. Sorted by place. */
export function inOrder(problems: readonly Problem[]): Problem[] {
  const seen = new Map(problems.map((problem) => [JSON.stringify([problem.at, problem.message]), problem]));
  return [...seen.values()].sort(
    (a, b) => (a.at?.line ?? 0) - (b.at?.line ?? 0) || (a.at?.column ?? 0) - (b.at?.column ?? 0),
  );
}
