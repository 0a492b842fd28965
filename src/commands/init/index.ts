/** `crm-backfill init`: creates a commented mapping from unknown exports. */
import { basename, dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { markedLines, type Mark } from '../../mapping/marks.ts';
import { nameError } from '../../mapping/names.ts';
import { counted, numberText } from '../../terminal/numbers.ts';
import { PROGRAM } from '../../version.ts';
import type { Table } from './columns.ts';
import { keyOf } from './evidence.ts';
import type { KnownTables } from './joins.ts';
import { guessDrafts, type EntryDraft } from './guess.ts';
import { openExports, type Export, type ExportOptions } from './open-export.ts';
import { knownCrms, recognise } from './known.ts';
import { entryOf } from './lines/entries.ts';
import { findReferences } from './lines/references.ts';
import { regionOf, timezoneLine } from './region.ts';
import { MAX_COLUMNS } from './sample.ts';
import { loadSamples, type Samples } from './tables.ts';
import { flow, lineText, lookupsIn, remarkText, type Entry } from './yaml.ts';

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
  const exports: Export[] = [];
  for (const path of paths) exports.push(...(await openExports(path, options)));
  const crms = await knownCrms();
  const samples = loadSamples(exports, sourceNames(exports), crms.missing);
  const { tables } = samples;
  const recognised = recognise(tables, crms, options.preset);
  const references = findReferences(samples);
  const drafts = guessDrafts(tables, references);
  const known: KnownTables = { drafts, tables, references };
  const entries = drafts.map((draft) => entryOf(draft, known));
  const folder = dirname(resolve(options.out ?? 'mapping.yaml'));
  const read = new Set(
    entries.flatMap(({ source, settings, data, custom }) => [
      source,
      ...lookupsIn([settings, data, custom].flat().filter(({ off }) => !off)).map((each) => each.source),
    ]),
  );
  const records = samples.tables.filter(({ list }) => list === undefined);
  const text = [
    ...heading(folder),
    'version: 1',
    `migration: crm-export # set this: the name of the migration; it is part of every event id, so do not change it between runs`,
    '',
    ...defaultsText(samples),
    '',
    'sources:',
    ...records.map((table) =>
      read.has(table.source) ? sourceText(table, folder) : `  ${remarkText(`not read: ${unreadText(table)}`)}`,
    ),
    ...records.flatMap(({ from: { withoutRecords = [] } }) =>
      withoutRecords.map((name) => `  ${remarkText(`not read: ${name}: its elements are no records`)}`),
    ),
    '',
    ...referencesText(entries),
    '',
    'events:',
    entries.map(entryText).join('\n\n'),
    '',
  ].join('\n');
  const marks = markedLines(text);
  const marked = (mark: Mark): number => marks.filter((each) => each.mark === mark).length;
  const findings = [...records.map((table) => `${exportText(table)}; ${finding(table, drafts, read)}`), ...recognised];
  return { text, findings, open: { set: marked('set this'), check: marked('check') } };
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

function heading(folder: string): string[] {
  const schema = fileURLToPath(new URL('../../../mappings/mapping.schema.json', import.meta.url));
  return [
    `# yaml-language-server: $schema=${relative(folder, schema)}`,
    '#',
    `# Created by \`${PROGRAM} init\` from a sample of the exports. Check everything marked "set this" or "check".`,
    `# Next: ${PROGRAM} run THIS-FILE --dry-run --sandbox`,
  ];
}

function defaultsText({ tables, missing: texts }: Samples): string[] {
  const columns = tables.flatMap((table) => table.columns);
  const region = regionOf(columns);
  const found = [...texts].map(([text, count]) => `${flow(text)} in ${counted(count, 'cell')}`);
  const missing = ['', ...texts.keys()];
  return [
    'defaults:',
    region.line,
    timezoneLine(columns, region.country),
    ...(missing.length > 1
      ? [`  missing_values: ${flow(missing)}${found.length > 0 ? ` # check: no value: ${found.join(', ')}` : ''}`]
      : []),
  ];
}

function sourceText({ source, columns, from: { path, settings, reasons } }: Table, folder: string): string {
  const { headerLine, columns: given, ...rest } = settings;
  const value = {
    path: relative(folder, resolve(path)),
    ...rest,
    ...(given && { columns: columns.map(({ name }) => name) }),
    ...(headerLine === undefined ? {} : { header_line: headerLine }),
  };
  const mark = given ? 'set this' : 'check';
  const assumptions = settings.records === undefined ? reasons : [];
  return `  ${flow(source)}: ${flow(value)}${assumptions.length > 0 ? ` ${remarkText(`${mark}: ${assumptions.join('; ')}`)}` : ''}`;
}

function entryText({ type, source, above, settings, data, custom }: Entry): string {
  const field = type === 'lead/created' ? 'custom_params' : 'custom_fields';
  return [
    ...above.map((comment) => `  ${remarkText(comment)}`),
    `  - type: ${type}`,
    `    source: ${flow(source)}`,
    ...settings.map((line) => lineText(line, 4)),
    '    data:',
    ...data.map((line) => lineText(line, 6)),
    ...(custom.length > 0 ? [`      ${field}:`, ...custom.map((line) => lineText(line, 8))] : []),
  ].join('\n');
}

/** Of the names of a kind; owners are in the worksheet. */
const MAX_NAMES = 60;

/** The `references` block, with each name of the old CRM commented out as a template. */
function referencesText(entries: readonly Entry[]): string[] {
  const blocks = (['pipelines', 'stages', 'owners'] as const).flatMap((kind) => {
    const counts = new Map<string, number>();
    for (const [of, found] of entries.flatMap(({ names }) => names))
      if (of === kind) for (const [name, count] of found) counts.set(name, (counts.get(name) ?? 0) + count);
    if (kind === 'owners') {
      const remark =
        counts.size > 0
          ? ` # ${counted(counts.size, 'name')} in the sample: a dry run lists them in references.csv, to be filled in there`
          : '';
      return [`  owners: {}${remark}`];
    }
    const sorted = [...counts].sort((a, b) => b[1] - a[1]);
    const more = sorted.length > MAX_NAMES ? [`  #  and ${numberText(sorted.length - MAX_NAMES)} more`] : [];
    const shown = sorted
      .slice(0, MAX_NAMES)
      .map(([name, count]) => `  #  ${flow(name)}: ${flow(name)} # ${numberText(count)} in the sample`);
    return [`  ${kind}: {}`, ...shown, ...more];
  });
  return [
    'references:',
    '  # set this: old name: name or UUID in the target account; null omits the field.',
    '  # Only names that differ are needed: replace {} with their lines.',
    ...blocks,
  ];
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

function whyUnread({ rows, nouns }: Table): string {
  if (rows === 0) return 'it has no records';
  if (nouns.includes('others')) return 'the service has no place for such records';
  if (nouns.includes('companies')) return 'no lead or deal has ids of these companies';
  if (nouns.includes('users')) return 'no record has ids of these users';
  return 'its columns show neither people nor deals nor texts about them, and no other record has ids of it';
}
