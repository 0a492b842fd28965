/**
 * `crm-backfill init`: a first mapping from unknown exports.
 *
 *     exports -> tables -> facts -> decide -> lines -> yaml -> trial
 *
 * `open` and `sample` read the exports, `tables` names their records and lists, `facts` and `relations` measure them (`shapes`, `dates`,
 * `numbers`). `decide` makes a draft: `kinds` and `score` by the tables of `roles` and `words`, `keys`, `joins`, `fields`, `parents`,
 * `defaults`. `lines` and `yaml` write it, `trial` tries it on all records, `fates` says what became of them.
 */
import { resolve } from 'node:path';
import { UserError } from '../errors.ts';
import { markedLines } from '../mapping/document.ts';
import type { Ask } from '../report/print/ask.ts';
import type { Mark } from '../report/words/input.ts';
import { entriesOf, type Facts } from './decide/decide.ts';
import { defaultsOf } from './decide/defaults.ts';
import type { EntryDraft, Field, MappingDraft } from './decide/draft.ts';
import { measured, type Table } from './facts/facts.ts';
import { Fates } from './lines/fates.ts';
import { lines } from './lines/lines.ts';
import { completed, partsOf, presetEntries, presetKey } from './presets/entries.ts';
import { presetOf, type PresetMatch } from './presets/match.ts';
import { openAll, type ExportOptions } from './read/open.ts';
import { Answers } from './questions.ts';
import { relations } from './facts/relations.ts';
import { tables as tablesOf, type Part } from './read/tables.ts';
import { tryMapping, type SourceFate } from './trial.ts';
import { why } from './why.ts';
import { yaml, type WrittenMapping } from './lines/lines.ts';

/** The text of the mapping, what became of each export and why, and how much is left to do. */
export interface StarterMapping {
  readonly text: string;
  readonly findings: readonly string[];
  /** Why the mapping could not be tried on all records, or a file could not be read. */
  readonly failure: UserError | undefined;
  /** By the names of sources. Empty where the mapping could not be tried. */
  readonly sources: Readonly<Record<string, SourceFate>>;
  /** Lines marked `set this`, and those marked `check`. */
  readonly open: { readonly set: number; readonly check: number };
}

export interface StarterOptions extends ExportOptions {
  readonly preset?: string | undefined;
  readonly out?: string | undefined;
  /** By the names of questions. */
  readonly answer?: ReadonlyMap<string, string> | undefined;
  /** Undefined: nobody can be asked. */
  readonly ask?: Ask | undefined;
  /** Told what takes time; undefined while the user is asked. */
  readonly step?: ((what: string | undefined) => void) | undefined;
}

/** Throws a `UserError` if no export can be read, or no record becomes an event. */
export async function startMapping(paths: readonly string[], options: StarterOptions): Promise<StarterMapping> {
  const { step = () => undefined, ask, out = 'mapping.yaml' } = options;
  step('reading the exports');
  const opened = await openAll(paths, options);
  const facts = factsOf(await tablesOf(opened.exports));
  const { tables } = facts;
  step(undefined);
  const answers = new Answers(options.answer);
  const preset = await presetOf(facts, options.preset);
  let draft = decide(facts, preset.match, answers);
  while (ask && (await answers.ask(ask, draft, tables))) draft = decide(facts, preset.match, answers);
  answers.check(draft, tables);
  const write = (each: MappingDraft): WrittenMapping => yaml(lines(each, tables, new Fates(tables, each), out));
  step('trying the mapping on all records; Ctrl-C writes it untried');
  const tried = await tryMapping(draft, { write, paths: (each) => pathsOf(tables, each) });
  step(undefined);
  const findings = [...opened.others, ...new Fates(tables, tried.draft).findings(tried), ...preset.findings];
  if (tried.draft.entries.every(({ refused }) => refused !== undefined))
    throw new UserError(['no mapping is written, because none of its entries can be used:', ...findings].join('\n'), {
      hint: `also name the exports of people and deals, or say what a file contains: \`--answer ${tables[0]!.source}=leads\` (or deals, both, comments)`,
    });
  const { text } = write(tried.draft);
  const marks = markedLines(text);
  const marked = (mark: Mark): number => marks.filter((each) => each.mark === mark).length;
  return {
    text,
    findings,
    failure: tried.failure ?? opened.failure,
    sources: Object.fromEntries(tried.sources),
    open: { set: marked('set this'), check: marked('check') },
  };
}

/** What decided about a column, in lines. */
export async function explained(paths: readonly string[], column: string, options: StarterOptions): Promise<string[]> {
  const { exports } = await openAll(paths, options);
  return why(column, factsOf(await tablesOf(exports)), new Answers(options.answer));
}

export function factsOf(parts: readonly Part[]): Facts {
  const tables = measured(parts);
  return { tables, references: relations(tables) };
}

/** What the exports become. Pure: the same facts and answers give the same draft. */
export function decide(facts: Facts, preset: PresetMatch | undefined, answers: Answers): MappingDraft {
  const all = preset ? presetEntries(preset, facts) : [];
  // Without people, what the preset only looks up may be those whom deals belong to.
  const hasPeople = all.some(({ kind }) => kind === 'lead');
  const isOfPreset = (table: Table): boolean =>
    answers.kindsOf(table) === undefined &&
    (preset?.files.some(([, each]) => each === table || each === table.holder) ?? false) &&
    (hasPeople || all.some((entry) => entry.table === table));
  const taken = all.filter(({ table }) => isOfPreset(table));
  const ownOf = (table: Table): EntryDraft[] => taken.filter((entry) => entry.table === table);
  const others = entriesOf(facts, {
    rolesOf: (...of) => answers.rolesOf(...of),
    kindsOf: (table) => (isOfPreset(table) ? ownOf(table).map(({ kind }) => kind) : answers.kindsOf(table)),
    keyOf: (table, kind) => presetKey(ownOf(table).find((entry) => entry.kind === kind)),
  });
  const whole = taken.map((entry) =>
    completed(
      entry,
      others.find(({ table, kind }) => table === entry.table && kind === entry.kind),
    ),
  );
  const general = others.filter(({ table }) => ownOf(table).length === 0);
  const draft = answers.settle({ entries: [...whole, ...general], defaults: [] });
  const settled = (field: Field): Field => answers.settle({ entries: [], defaults: [field] }).defaults[0]!;
  const defaults = defaultsOf(facts.tables, draft.entries, settled, preset?.zone).map(settled);
  const extra = preset ? partsOf(preset.spec, preset.tables) : [];
  return { ...draft, defaults, extra };
}

function pathsOf(tables: readonly Table[], draft: MappingDraft): Map<string, string> {
  const fates = new Fates(tables, draft);
  const read = tables.filter((table) => fates.isRead(table)).map((table) => [table.source, table] as const);
  const extra = (draft.extra ?? []).map(({ name, table }) => [name, table] as const);
  return new Map([...read, ...extra].map(([name, table]) => [name, resolve(table.export.path)]));
}
