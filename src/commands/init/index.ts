/** `crm-backfill init`: creates a commented mapping from unknown exports. */
import { basename } from 'node:path';
import { markedLines, type Mark } from '../../mapping/marks.ts';
import { nameError } from '../../mapping/names.ts';
import { counted, numberText } from '../../terminal/numbers.ts';
import { UserError } from '../../errors.ts';
import type { Table } from './columns.ts';
import { keyOf } from './evidence.ts';
import type { KnownTables } from './joins.ts';
import { guessDrafts, type EntryDraft } from './guess.ts';
import { openExports, type Export, type ExportOptions } from './open-export.ts';
import { isMapping, ownFile } from './own-files.ts';
import { knownCrms, recognise } from './known.ts';
import { entryOf } from './lines/entries.ts';
import { findReferences } from './lines/references.ts';
import { MAX_COLUMNS } from './sample.ts';
import { mappingText } from './lines/text.ts';
import { loadSamples } from './tables.ts';
import { lookupsIn } from './yaml.ts';

/** The text of the mapping, what was recognised in each export and why, and how much is left to do. */
export interface StarterMapping {
  readonly text: string;
  readonly findings: readonly string[];
  /** Lines marked `set this`, and those marked `check`. */
  readonly open: { readonly set: number; readonly check: number };
}

/** Paths in the text are relative to the folder of `out`. Throws a `UserError` if an export cannot be read. */
export async function startMapping(
  paths: readonly string[],
  options: ExportOptions & { readonly preset?: string | undefined; readonly out?: string | undefined },
): Promise<StarterMapping> {
  const { exports, own } = await openAll(paths, options);
  const crms = await knownCrms();
  const samples = loadSamples(exports, sourceNames(exports), crms.missing);
  const { tables } = samples;
  const recognised = recognise(tables, crms, options.preset);
  const references = findReferences(samples);
  const drafts = guessDrafts(tables, references);
  const known: KnownTables = { drafts, tables, references };
  const entries = drafts.map((draft) => entryOf(draft, known));
  const read = new Set(
    entries.flatMap(({ source, settings, data, custom }) => [
      source,
      ...lookupsIn([settings, data, custom].flat().filter(({ off }) => !off)).map((each) => each.source),
    ]),
  );
  const records = samples.tables.filter(({ list }) => list === undefined);
  const sources = [
    ...records.map((table) => (read.has(table.source) ? table : `not read: ${unreadText(table)}`)),
    ...records.flatMap(({ from: { withoutRecords = [] } }) =>
      withoutRecords.map((name) => `not read: ${name}: its elements are no records`),
    ),
  ];
  const { text } = mappingText({ ...{ samples, sources, entries }, out: options.out ?? 'mapping.yaml' });
  const marks = markedLines(text);
  const marked = (mark: Mark): number => marks.filter((each) => each.mark === mark).length;
  const findings = [
    ...own,
    ...records.map((table) => `${exportText(table)}; ${finding(table, drafts, read)}`),
    ...recognised,
  ];
  return { text, findings, open: { set: marked('set this'), check: marked('check') } };
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
    else own.push(`${path}: not used: it is no export, but ${what}`);
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

/** A name for each export: that of its file, or of the array that it is in a JSON document. */
function sourceNames(exports: readonly Export[]): string[] {
  const taken = new Set<string>();
  return exports.map(({ path, settings }) => {
    const several = exports.filter((other) => other.path === path).length > 1;
    const full = several ? settings.records! : basename(path).replace(/(?:\.[A-Za-z\d]{1,7})+$/, '');
    const plain = [...keyOf(full)].slice(0, MOST_CHARACTERS).join('');
    let source = plain;
    for (let number = 2; taken.has(source) || nameError(source) !== undefined; number += 1)
      source = `${plain}_${number}`;
    taken.add(source);
    return source;
  });
}

/** As messages name it: an array of a JSON document like a file. */
function nameOf({ from: { path, settings } }: Table): string {
  return settings.records === undefined ? path : `${path}#${settings.records}`;
}

function exportText(table: Table): string {
  const { from, columns, rows, whole } = table;
  const more = columns.length < MAX_COLUMNS ? [] : [`only the first ${numberText(MAX_COLUMNS)} columns were looked at`];
  const reasons = [...from.reasons, ...more].map((reason) => `; ${reason}`).join('');
  return `${nameOf(table)}: ${from.source.description}, ${whole ? '' : 'the first '}${counted(rows, 'record')} read${reasons}`;
}

function finding(table: Table, drafts: readonly EntryDraft[], read: ReadonlySet<string>): string {
  const own = drafts.filter((each) => each.table === table || each.table.parent === table);
  if (own.length > 0) return `its records become ${[...new Set(own.map(({ kind }) => kind))].join(' and ')}`;
  return read.has(table.source) ? 'other records look up names or ids in it' : `not used: ${whyUnread(table)}`;
}

function unreadText(table: Table): string {
  return `${nameOf(table)}: not used, because ${whyUnread(table)}`;
}

function whyUnread({ rows, nouns, from: { sample } }: Table): string {
  if (rows === 0 && sample.why !== undefined)
    return `none of its ${counted(sample.unreadable, 'record')} can be read: ${sample.why}`;
  if (rows === 0) return 'it has no records';
  if (nouns.includes('others')) return 'the service has no place for such records';
  if (nouns.includes('companies')) return 'no lead or deal has ids of these companies';
  if (nouns.includes('users')) return 'no record has ids of these users';
  return 'its columns show neither people nor deals nor texts about them, and no other record has ids of it';
}
