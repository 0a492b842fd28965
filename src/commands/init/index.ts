/**
 * `crm-backfill init`: creates a commented mapping from unknown exports. Its steps, and the files of each:
 *
 * 1. Read. `open-export` finds the settings of a file, `sample` its first records (`raw-table`), `tables` loads them and their lists into SQL.
 *    `family/alike` joins files and sheets of one structure, until `family/apart` makes entries of each again; `types` parts one table of
 *    all types of records; `named/pairs` finds lists of names and values; `known` says what a known CRM means by a header.
 * 2. Evidence. `columns` has what the values of a column look like (`dates`, `multiples`), `words` what its header means,
 *    `relations/references` whose values are ids or names of another table; `named/properties` makes columns of rows that are one
 *    property each, and `named/details` of a table with more about each record.
 * 3. Matrix. `content` scores columns for roles by their values (`ends`: how deals ended), `roles` adds the header, `assign` takes the best sum (`best-sum`) for a kind,
 *    and `settle` what columns have in common. All are in `matrix`.
 * 4. Kinds. `kinds` decides what the records of each table are; `guess` makes a draft of each entry, `kinds/keys` what tells its records apart
 *    (`relations/numbered`: two columns), `relations/firms` which of the people are firms.
 * 5. Lines. `lines/entries` makes a line of each field: `field-lines` for all kinds, `person-lines`, `deal-lines` and `comment-lines`
 *    for one, `parent-lines` by the ways that `relations/joins` finds, names by `relations/names`, with the figures of `evidence`. `questions`, `defaults` (`region`) and
 *    `encodings` ask what is open; `yaml` and `text` write.
 * 6. Closure. `trial` surveys all records with the mapping; `fates` says what became of every file, list and column (`fate-texts`).
 */
import { basename } from 'node:path';
import type { Source } from '../../input/source.ts';
import { markedLines } from '../../mapping/marks.ts';
import { nameError } from '../../mapping/names.ts';
import { UserError } from '../../errors.ts';
import type { Ask } from '../../report/print/ask.ts';
import { columnsOf } from './matrix/assign.ts';
import { joinAlike } from './family/alike.ts';
import type { Table } from './columns.ts';
import { Answers, Back } from './lines/answers.ts';
import { askDefaults, defaultsOf, missingIn } from './lines/defaults.ts';
import { apartEntries, apartTables } from './family/apart.ts';
import { groupEntries, withGroups } from './family/numbered.ts';
import { askEncodings } from './lines/encodings.ts';
import { countryIn, regionOf } from './lines/region.ts';
import { askFiles, askLines, askMarks, askNotes, namesOf } from './lines/questions.ts';
import { keyOf } from './evidence.ts';
import { guessDrafts } from './guess.ts';
import { openAll, partOf, type Export, type ExportOptions } from './open-export.ts';
import { knownCrms, recognise } from './known.ts';
import { withDetails } from './named/details.ts';
import { withProperties } from './named/properties.ts';
import { findReferences } from './relations/references.ts';
import type { KnownTables } from './relations/joins.ts';
import { Fates } from './fates.ts';
import { mappingText, type MappingText } from './lines/text.ts';
import { isWrapper, loadSamples } from './tables.ts';
import type { Mark } from '../../report/words/input.ts';
import { byType } from './types.ts';
import { tryMapping, type SourceFate, type TriedMapping } from './trial.ts';
import { linesOf, withLines, type Entry } from './lines/yaml.ts';

/** The text of the mapping, what was recognised in each export and why, and how much is left to do. */
export interface StarterMapping {
  readonly text: string;
  readonly findings: readonly string[];
  /** Why the mapping could not be tried on all records, or a file could not be read. */
  readonly failure: UserError | undefined;
  /** What became of the records, by the name of their source in the mapping. Empty where it could not be tried. */
  readonly sources: Readonly<Record<string, SourceFate>>;
  /** Lines marked `set this`, and those marked `check`. */
  readonly open: { readonly set: number; readonly check: number };
}

/** Paths in the text are relative to the folder of `out`. Throws a `UserError` if an export cannot be read, or no record becomes an event. */
export async function startMapping(paths: readonly string[], options: StarterOptions): Promise<StarterMapping> {
  options.step?.('reading the exports');
  const opened = await openAll(paths, options);
  const answers = new Answers(options.answer ?? new Map(), options.ask);
  for (;;) {
    try {
      return await draftMapping(opened, options, answers);
    } catch (error) {
      if (!(error instanceof Back)) throw error;
    }
  }
}

interface StarterOptions extends ExportOptions {
  readonly preset?: string | undefined;
  readonly out?: string | undefined;
  /** By the names of questions. */
  readonly answer?: ReadonlyMap<string, string> | undefined;
  /** Undefined: nobody can be asked. */
  readonly ask?: Ask | undefined;
  /** Told what takes time; undefined while the user is asked. */
  readonly step?: ((what: string | undefined) => void) | undefined;
}

/** From the beginning; what is answered already is not asked again. */
async function draftMapping(
  opened: Awaited<ReturnType<typeof openAll>>,
  options: StarterOptions,
  answers: Answers,
): Promise<StarterMapping> {
  const { step = () => undefined, out = 'mapping.yaml' } = options;
  const { own } = opened;
  const crms = await knownCrms();
  const load = (): readonly Table[] => {
    const { tables } = loadSamples(opened.exports, sourceNames(opened.exports), crms.missing);
    step(undefined);
    return tables;
  };
  const exports = await askEncodings(opened.exports, load, options, answers);
  /** `given`: the only texts that mean no value; by default, those that CRMs write. */
  const readAll = async (given?: readonly string[]) => {
    const names = sourceNames(exports);
    const guess = (some: readonly Export[]) => {
      const samples = withDetails(withProperties(loadSamples(some, names, crms.missing, given)));
      const { tables, missing } = samples;
      const recognised = recognise(tables, crms, options.preset);
      const references = findReferences(samples);
      return { tables, missing, recognised, references, guessed: guessDrafts(tables, references) };
    };
    const joined = joinAlike(exports).map(withGroups);
    const typed = joined.map(byType);
    const found = guess(typed.flat());
    // Calls and mails are both comments: types of records that become the same are no tables of their own.
    const kindsIn = (parts: readonly Export[]): number => {
      const kinds = found.guessed.flatMap(({ table, kind }) => (parts.includes(table.from) ? [kind] : []));
      const others = found.tables.filter(({ from, list }) => parts.includes(from) && list === undefined);
      return new Set(kinds.length > 0 ? kinds : others.map(({ nouns }) => nouns.join())).size;
    };
    const fitting = typed.map((parts, at) =>
      parts.length === 1 || kindsIn(parts) > (parts[0]!.type?.is === 'absent' ? 0 : 1) ? parts : [joined[at]!],
    );
    const isSplit = fitting.every((parts, at) => parts.length === typed[at]!.length);
    const { tables, missing, recognised, references, guessed } = isSplit ? found : guess(fitting.flat());
    step(undefined);
    const kinds = await askFiles({ tables, drafts: guessed }, answers);
    const isSettled = tables.some(({ settled }) => settled.size > 0);
    const drafts = await askNotes(isSettled ? guessDrafts(tables, references, kinds) : guessed, answers);
    const columns = tables.flatMap((table) => table.columns);
    const region = regionOf(
      columns,
      drafts.flatMap(({ roles }) => columnsOf(roles, 'phone')),
    );
    const known: KnownTables = { tables, references, drafts, country: countryIn(columns, region) };
    return { known, missing, recognised, region };
  };
  const first = await readAll();
  const defaults = await askDefaults(defaultsOf(first.known, first.missing, first.region), answers);
  const missing = missingIn(defaults);
  const isSame = missing.length === first.missing.size && missing.every((text) => first.missing.has(text));
  const { known, recognised } = isSame ? first : await readAll(missing);
  const asked = await askLines(known, answers);
  // Before the trial, which takes long.
  answers.check(namesOf(asked));
  const apart = { ...known, tables: apartTables(known.tables) };
  const write = (entries: readonly Entry[]): MappingText =>
    mappingText({ defaults, entries, sources: new Fates(entries, apart).sources(), out });
  /** What is left out because of the trial has another result, so it is tried again. */
  const tried = async (given: readonly Entry[]): Promise<{ trial: TriedMapping; fates: Fates; entries: Entry[] }> => {
    step('trying the mapping on all records; Ctrl-C writes it untried');
    const trial = await tryMapping(given, write);
    step(undefined);
    const fates = new Fates(trial.entries, apart);
    const decided = await askMarks(fates.annotated(trial), apart.tables, answers);
    let isOut = false;
    const left = trial.entries.map((entry, at) =>
      withLines(entry, (line, place) => {
        if (line.off || !linesOf(decided[at]!).get(place)!.off) return line;
        isOut = true;
        return { ...line, off: true, comment: 'left out' };
      }),
    );
    return isOut ? tried(left) : { trial, fates, entries: decided };
  };
  const { trial, fates, entries } = await tried(apartEntries(groupEntries(agreeing(asked)), known.tables));
  answers.check();
  if (entries.every(({ refused }) => refused !== undefined))
    throw new UserError(
      ['no mapping is written, because none of its entries can be used:', ...fates.findings(trial)].join('\n'),
      {
        hint: `also name the exports of people and deals, or say what a file contains: \`--answer ${known.tables[0]!.source}=leads\` (or deals, both, comments)`,
      },
    );
  const { text } = write(entries);
  const marks = markedLines(text);
  const marked = (mark: Mark): number => marks.filter((each) => each.mark === mark).length;
  return {
    text,
    findings: [...own, ...fates.findings(trial), ...recognised],
    failure: trial.failure ?? opened.failure,
    sources: Object.fromEntries(trial.sources),
    open: { set: marked('set this'), check: marked('check') },
  };
}

/** Entries of one type have one policy for ids that occur twice: the program refuses others. */
function agreeing(entries: readonly Entry[]): Entry[] {
  return entries.map((entry) => {
    const policies = entries
      .filter(({ type }) => type === entry.type)
      .flatMap(({ settings }) => settings.find(({ key }) => key === 'duplicates') ?? []);
    const policy = policies.find(({ value }) => value === 'last') ?? policies[0];
    if (!policy || entry.settings.some(({ key, value }) => key === policy.key && value === policy.value)) return entry;
    const others = entry.settings.filter(({ key }) => key !== policy.key);
    const comment = `${policy.value === 'last' ? 'check: ' : ''}as for the other records of this type`;
    return { ...entry, settings: [...others, { ...policy, comment }] };
  });
}

/** Of the name of a source. */
const MOST_CHARACTERS = 40;

/** A name for each export: that of its file, or of its part in a file with several. Types of records of one export have its name. */
function sourceNames(exports: readonly Export[]): Map<Source, string> {
  const names = new Map<Source, string>();
  const taken = new Set<string>();
  for (const { path, settings, called, source: of } of exports) {
    const part = called ?? partOf(settings);
    const file = basename(path).replace(/(?:\.[A-Za-z\d]{1,7})?(?:\.gz)?$/i, '');
    const several = exports.filter((other) => other.path === path).length > 1;
    // `contacts.json#data`, `deals.json#data`.
    const isAlike = exports.some((other) => other.path !== path && partOf(other.settings) === part);
    const full = !several ? file : !isAlike ? part! : isWrapper(part!) ? file : `${file}_${part!}`;
    const plain = [...keyOf(full)].slice(0, MOST_CHARACTERS).join('');
    let source = plain;
    for (let number = 2; taken.has(source) || nameError(source) !== undefined; number += 1)
      source = `${plain}_${number}`;
    taken.add(source);
    names.set(of, source);
  }
  return names;
}
