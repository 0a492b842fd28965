/** Loads a mapping file: parses and validates it, and reports all errors at once. `Mapping.compile` checks the columns. */
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { codeOf, messageOf, UserError } from '../errors.ts';
import { openRegular } from '../files/private-file.ts';
import { commandOf } from '../settings/program.ts';
import { didYouMean, Problem, ProblemsError, quoted } from '../problem.ts';
import { FORMATS } from '../input/formats.ts';
import { openSources } from '../input/input.ts';
import { MissingFile } from '../input/files.ts';
import type { SourceSpec } from '../input/source.ts';
import { counted } from '../report/words/numbers.ts';
import { checkMapping } from './check.ts';
import { compileEntries, compileMapping, inOrder } from './values/compile.ts';
import { markedLines, parseMappingDocument, type MappingDocument } from './document.ts';
import { fittedEntry } from './fitted.ts';
import { loadFunctions, type FunctionModule } from './functions.ts';
import type { Mapping, NameMap, References, WorksheetRef } from './mapping.ts';
import { policiesOf } from './policies.ts';
import { asMappingSpec, mappingSchema, type MappingSpec } from './schema.ts';
import { validParts } from './valid-parts.ts';
import { TRANSFORM_BY_NAME } from './transforms/index.ts';
import { sourcesLookedUp, transformsUsed } from './spec-values.ts';
import { problemsOf } from './messages.ts';
import { wrongIndent, type WrongIndent } from './yaml-mistakes.ts';
import { entryWords } from './words.ts';

interface LoadOptions {
  /** Files to read in place of the mapping's, by name of source; absolute paths or globs. */
  readonly sources?: ReadonlyMap<string, string>;
}

/**
 * Loads a mapping file, YAML or JSON. Throws `ProblemsError` with every error as `file:line:column`, or `UserError`
 * where the file cannot be read.
 */
export async function loadMapping(path: string, { sources = new Map() }: LoadOptions = {}): Promise<Mapping> {
  const bytes = await readBytes(path);
  const text = decode(bytes, path);
  if (isOtherJson(path, text)) throw anExport(path);
  const texts = new Map([[path, text]]);
  const indent = wrongIndentIn(text, path);
  const document = parseMappingDocument(indent?.mended ?? text, path);
  const { spec, functions } = await validate({ document, path, texts, indent: indent?.problem }, sources);
  checkOverrides(sources, spec);
  const eventSources = unique(spec.events.map((entry) => entry.source));
  const lookedUp = spec.events.flatMap(sourcesLookedUp);
  return {
    file: path,
    sha256: sha256Of(bytes, functions),
    migration: spec.migration,
    title: spec.title,
    customer: spec.customer,
    timezone: spec.defaults?.timezone,
    sources: sourceSpecs(spec.sources, dirname(resolve(path)), sources),
    references: referencesOf(spec),
    worksheet: worksheetOf(spec, document, dirname(resolve(path))),
    functions,
    region: spec.defaults?.region,
    usedSources: unique([...eventSources, ...lookedUp]),
    eventSources,
    entries: spec.events.map((entry, index) => ({
      index,
      type: entry.type,
      source: entry.source,
      policies: policiesOf(entry, spec.defaults),
    })),
    marks: markedLines(text),
    words: (lacking) => {
      const fitted = spec.events.flatMap((entry, index) =>
        lacking ? (fittedEntry(entry, index, lacking) ?? []) : entry,
      );
      return fitted.map((entry) => entryWords(entry, spec.defaults ?? {}));
    },
    compile: (opened) => compileMapping({ spec, functions, document }, opened, texts),
  };
}

async function readBytes(path: string): Promise<Buffer> {
  const init = (...exports: readonly string[]): string => `\`${commandOf(process.argv, 'init', ...exports)}\``;
  if (isExport(path)) throw anExport(path);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    const hint = `give the mapping file in it; to make one, name the exports: ${init(`${path}/FILE.csv`, '--out', 'mapping.yaml')}`;
    throw new UserError(`${path} is a directory, not a mapping file`, { hint });
  }
  const bytes = await readRegular(path).catch(async (cause: unknown) => {
    if (codeOf(cause) !== 'ENOENT')
      throw new UserError(`cannot read mapping file ${path}: ${codeOf(cause) ?? messageOf(cause)}`, { cause });
    const names = await readdir(dirname(path)).catch(() => []);
    const meant = didYouMean(
      basename(path),
      names.filter((name) => /\.(ya?ml|json)$/i.test(name)),
    );
    const hint = [...(meant === undefined ? [] : [meant]), `create one with ${init('EXPORT…')}`].join('\n');
    throw new UserError(`mapping file not found: ${path}`, { hint });
  });
  if (bytes.toString('latin1').trim() !== '') return bytes;
  throw new UserError(`the mapping file ${path} is empty`, { hint: `create one with ${init('EXPORT…')}` });
}

function anExport(path: string): UserError {
  return new UserError(`${path} is an export, not a mapping file`, {
    hint: `make a mapping from it: \`${commandOf(process.argv, 'init', path, '--out', 'mapping.yaml')}\``,
  });
}

/** Whether it is a JSON file with nothing that a mapping has. */
function isOtherJson(path: string, text: string): boolean {
  if (!/\.json$/i.test(path)) return false;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Object.keys(mappingSchema.shape).some((key) => key in value);
  } catch {
    return false;
  }
}

/** By its name. A mapping is YAML or JSON. */
function isExport(path: string): boolean {
  const names = FORMATS.flatMap(({ name, extensions }) => (name === 'json' ? [] : extensions));
  return [...names, 'gz'].some((extension) => path.toLowerCase().endsWith(`.${extension}`));
}

async function readRegular(path: string): Promise<Buffer> {
  const file = await openRegular(path);
  return file.readFile().finally(() => file.close());
}

/** Without the worksheet, to which the program adds names: its answers are compared one by one (plan/earlier-plans). */
function sha256Of(bytes: Buffer, functions: FunctionModule | undefined): string {
  const hash = createHash('sha256').update(bytes);
  if (functions) hash.update(functions.sha256);
  return hash.digest('hex');
}

function decode(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new UserError(`mapping file ${path} is not valid UTF-8`, { hint: 'save it as UTF-8', cause: error });
  }
}

/** A mapping file as it was read. */
interface MappingAsRead {
  readonly path: string;
  readonly document: MappingDocument;
  readonly texts: ReadonlyMap<string, string>;
  /** The line that is the cause of its mistakes; the document is without them. */
  readonly indent: Problem | undefined;
}

/** Throws all problems at once: those of the schema, and all others of the parts that are valid. */
async function validate(
  { document, path, texts, indent }: MappingAsRead,
  overrides: ReadonlyMap<string, string>,
): Promise<{ readonly spec: MappingSpec; readonly functions: FunctionModule | undefined }> {
  const fail = (others: readonly Problem[]): never => {
    const problems = [...(indent ? [indent] : []), ...others];
    throw new ProblemsError(`${path} has ${counted(problems.length, 'error')}`, inOrder(problems), texts);
  };
  if (document.data === undefined) fail(document.problems);
  const parsed = schemaProblems(document);
  const spec = parsed.spec ?? validParts(document.data);
  // Only the libraries of the transforms in use.
  for (const name of transformsUsed(spec.events)) await TRANSFORM_BY_NAME.get(name)?.load?.();
  const folder = dirname(resolve(path));
  const functions = spec.functions === undefined ? undefined : await loadFunctions(spec.functions, folder);
  const checked = { spec, document, functions };
  const found = [...parsed.problems, ...checkMapping(checked)];
  if (parsed.spec && !indent && document.problems.length + found.length === 0 && !(functions instanceof Problem))
    return { spec: parsed.spec, functions };
  const used = new Set(spec.events.flatMap((entry) => (entry ? [entry.source, ...sourcesLookedUp(entry)] : [])));
  const opened = await openSources(
    sourceSpecs(spec.sources ?? {}, folder, overrides).filter(({ name }) => used.has(name)),
  );
  // Of other failures, a mistake of the mapping may be the cause.
  const missing = [...opened.failures].filter(([, error]) => error instanceof MissingFile);
  const { problems } = await compileEntries(checked, { sources: opened.sources, failures: new Map(missing) });
  // A YAML mistake causes others on its line, and an invalid value may look like a column.
  const lines = new Set(document.problems.map(({ at }) => at?.line));
  const places = new Set(found.map(({ at }) => JSON.stringify(at)));
  return fail([
    ...document.problems,
    ...found.filter(({ at }) => !lines.has(at?.line)),
    ...problems.filter(({ at }) => !places.has(JSON.stringify(at))),
  ]);
}

/** Compiling a schema pays off only when it is used more than once: `jitless`. */
function schemaProblems(document: MappingDocument): { spec?: MappingSpec; problems: readonly Problem[] } {
  const parsed = mappingSchema.safeParse(document.data, { jitless: true });
  return parsed.success
    ? { spec: asMappingSpec(parsed.data), problems: [] }
    : { problems: problemsOf(parsed.error.issues, document) };
}

/** The one line whose indent is the cause of a mistake of YAML, or of several of the schema. */
function wrongIndentIn(text: string, file: string): WrongIndent | undefined {
  const document = parseMappingDocument(text, file);
  const isYaml = document.data !== undefined;
  const problems = isYaml ? inOrder(schemaProblems(document).problems) : document.problems;
  const { at } = problems.find(({ code }) => code !== 'missing_key') ?? {};
  if (at?.line === undefined || (isYaml && problems.length < 2)) return undefined;
  return wrongIndent({ text, file, first: at.line }, (changed) => {
    const document = parseMappingDocument(changed, file);
    return document.data === undefined ? undefined : schemaProblems(document).problems.map(({ message }) => message);
  });
}

function checkOverrides(overrides: ReadonlyMap<string, string>, spec: MappingSpec): void {
  const known = Object.keys(spec.sources);
  for (const name of overrides.keys()) {
    if (known.includes(name)) continue;
    const hint = didYouMean(name, known) ?? `available sources: ${quoted(known)}`;
    throw new UserError(`--source ${name}=…: unknown source \`${name}\``, { hint });
  }
}

function sourceSpecs(
  sources: MappingSpec['sources'],
  folder: string,
  overrides: ReadonlyMap<string, string>,
): readonly SourceSpec[] {
  return Object.entries(sources).map(
    ([name, { path, fixes, missing_values: _, recognise: __, optional, ...rest }]) => ({
      ...Object.fromEntries(Object.entries(rest).map(([key, value]) => [camelCase(key), value])),
      name,
      path: overrides.get(name) ?? resolve(folder, path),
      // A file that was named for this run must be there.
      ...(optional && !overrides.has(name) && { optional }),
      ...(fixes !== undefined && { fixes: [fixes].flat().map((file) => resolve(folder, file)) }),
    }),
  );
}

/** `header_line` of a mapping is `headerLine` of a source. */
function camelCase(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function worksheetOf(spec: MappingSpec, document: MappingDocument, folder: string): WorksheetRef | undefined {
  const file = spec.references?.file;
  if (file === undefined) return undefined;
  return { path: resolve(folder, file), at: document.locate(['references', 'file']) };
}

/** `stages` maps names, or pipelines to the names within each. */
function referencesOf({
  references: { pipelines = {}, stages: given = {}, owners = {} } = {},
}: MappingSpec): References {
  const stages = new Map<string, string | null>();
  const stagesByPipeline = new Map<string, NameMap>();
  for (const [key, value] of Object.entries(given)) {
    if (typeof value === 'object' && value !== null) stagesByPipeline.set(key, nameMap(value));
    else stages.set(key, value);
  }
  return { pipelines: nameMap(pipelines), stages, stagesByPipeline, owners: nameMap(owners) };
}

function nameMap(names: Readonly<Record<string, string | null>>): NameMap {
  return new Map(Object.entries(names));
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}
