/** `crm-backfill init`: creates a commented mapping from unknown exports. */
import { basename } from 'node:path';
import { markedLines, type Mark } from '../../mapping/marks.ts';
import { nameError } from '../../mapping/names.ts';
import { UserError } from '../../errors.ts';
import type { Ask } from '../../terminal/ask.ts';
import type { Table } from './columns.ts';
import { Answers } from './lines/answers.ts';
import { askDefaults, defaultsOf } from './lines/defaults.ts';
import { askFiles, askLines } from './lines/questions.ts';
import { keyOf } from './evidence.ts';
import type { KnownTables } from './joins.ts';
import { guessDrafts } from './guess.ts';
import { openExports, partOf, type Export, type ExportOptions } from './open-export.ts';
import { isMapping, ownFile } from './own-files.ts';
import { knownCrms, recognise } from './known.ts';
import { entryOf } from './lines/entries.ts';
import { findReferences } from './lines/references.ts';
import { Fates } from './fates.ts';
import { mappingText, type MappingParts, type MappingText } from './lines/text.ts';
import { loadSamples } from './tables.ts';
import { tryMapping, type SourceFate } from './trial.ts';
import type { Entry } from './lines/yaml.ts';

/** The text of the mapping, what was recognised in each export and why, and how much is left to do. */
export interface StarterMapping {
  readonly text: string;
  readonly findings: readonly string[];
  /** Why the mapping could not be tried on all records. */
  readonly failure: UserError | undefined;
  /** What became of the records, by the name of their source in the mapping. Empty where it could not be tried. */
  readonly sources: Readonly<Record<string, SourceFate>>;
  /** Lines marked `set this`, and those marked `check`. */
  readonly open: { readonly set: number; readonly check: number };
}

/** Paths in the text are relative to the folder of `out`. Throws a `UserError` if an export cannot be read. */
export async function startMapping(
  paths: readonly string[],
  options: ExportOptions & {
    readonly preset?: string | undefined;
    readonly out?: string | undefined;
    /** By the names of questions. */
    readonly answer?: ReadonlyMap<string, string> | undefined;
    /** Undefined: nobody can be asked. */
    readonly ask?: Ask | undefined;
    /** Told what takes time; undefined while the user is asked. */
    readonly step?: ((what: string | undefined) => void) | undefined;
  },
): Promise<StarterMapping> {
  const { step = () => undefined } = options;
  step('reading the exports');
  const { exports, own } = await openAll(paths, options);
  const crms = await knownCrms();
  const samples = loadSamples(exports, sourceNames(exports), crms.missing);
  const { tables } = samples;
  const recognised = recognise(tables, crms, options.preset);
  const references = findReferences(samples);
  const guessed = guessDrafts(tables, references);
  step(undefined);
  const answers = new Answers(options.answer ?? new Map(), options.ask);
  const kinds = answers.isEmpty ? undefined : await askFiles({ tables, drafts: guessed }, answers);
  const drafts = kinds ? guessDrafts(tables, references, kinds) : guessed;
  const known: KnownTables = { drafts, tables, references };
  const defaults = await askDefaults(defaultsOf(samples), answers);
  const asked = answers.isEmpty ? drafts.map((draft) => entryOf(draft, known)) : await askLines(known, answers);
  answers.check();
  const drafted = agreeing(asked);
  const write = (entries: readonly Entry[]): MappingText => {
    const fates = new Fates(entries, known);
    return mappingText({ defaults, entries, sources: sourcesOf(tables, fates), out: options.out ?? 'mapping.yaml' });
  };
  step('trying the mapping on all records; Ctrl-C writes it untried');
  const trial = await tryMapping(drafted, write);
  step(undefined);
  const fates = new Fates(trial.entries, known);
  const entries = fates.annotated(trial);
  const { text } = write(entries);
  const marks = markedLines(text);
  const marked = (mark: Mark): number => marks.filter((each) => each.mark === mark).length;
  return {
    text,
    findings: [...own, ...fates.findings(trial), ...recognised],
    failure: trial.failure,
    sources: Object.fromEntries(trial.sources),
    open: { set: marked('set this'), check: marked('check') },
  };
}

/** The sources that are read, and lines about the others. */
function sourcesOf(tables: readonly Table[], fates: Fates): MappingParts['sources'] {
  const records = tables.filter(({ list }) => list === undefined);
  return [
    ...records.map((table) =>
      fates.isRead(table) ? { table, remark: fates.remarkOn(table) } : fates.unreadText(table),
    ),
    ...records.flatMap(({ from: { withoutRecords = [] } }) =>
      withoutRecords.map((name) => `not read: ${name}: its elements are not records`),
    ),
  ];
}

/** Entries of one type have one policy for ids that occur twice: the program refuses others. */
function agreeing(entries: readonly Entry[]): Entry[] {
  return entries.map((entry) => {
    const policy = entries
      .filter(({ type }) => type === entry.type)
      .flatMap(({ settings }) => settings.find(({ key }) => key === 'duplicates') ?? [])[0];
    if (!policy || entry.settings.some(({ key }) => key === policy.key)) return entry;
    return { ...entry, settings: [...entry.settings, { ...policy, comment: 'as of the other records of this type' }] };
  });
}

/** The exports among the files, and which files are none. Throws a `UserError` if nothing can be read. */
async function openAll(
  paths: readonly string[],
  options: ExportOptions,
): Promise<{ exports: Export[]; own: string[] }> {
  const exports: Export[] = [];
  const own: string[] = [];
  for (const path of paths) {
    const found = isMapping(path) ? [] : await openExports(path, options);
    const what = isMapping(path) ? 'a mapping' : found[0] && ownFile(path, found[0].source);
    if (what === undefined) exports.push(...found);
    else own.push(`${path}: not used: it is not an export, but ${what}`);
  }
  const [first] = exports;
  if (!first) throw new UserError(own.join('\n'), { hint: 'name the files that the old CRM exported' });
  if (exports.every(({ sample }) => sample.tables[0]!.columns.size === 0)) {
    const { path, sample } = exports.find((each) => each.sample.why !== undefined) ?? first;
    throw new UserError(`${path} has no record with a value${sample.why === undefined ? '' : `: ${sample.why}`}`, {
      hint: 'is this the right export?',
    });
  }
  return { exports, own };
}

/** Of the name of a source. */
const MOST_CHARACTERS = 40;

/** A name for each export: that of its file, or of its part in a file with several. */
function sourceNames(exports: readonly Export[]): string[] {
  const taken = new Set<string>();
  return exports.map(({ path, settings }) => {
    const several = exports.filter((other) => other.path === path).length > 1;
    const full = several ? partOf(settings)! : basename(path).replace(/(?:\.[A-Za-z\d]{1,7})?(?:\.gz)?$/i, '');
    const plain = [...keyOf(full)].slice(0, MOST_CHARACTERS).join('');
    let source = plain;
    for (let number = 2; taken.has(source) || nameError(source) !== undefined; number += 1)
      source = `${plain}_${number}`;
    taken.add(source);
    return source;
  });
}
