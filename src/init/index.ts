/** `crm-backfill init`: creates a commented mapping from unknown exports. */
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { markedLines, type Mark } from '../mapping/marks.ts';
import { counted, numberText } from '../numbers.ts';
import { PROGRAM } from '../version.ts';
import type { ExportColumn, Table } from './columns.ts';
import type { EntryText } from './entry-text.ts';
import { openExports, type Export, type ExportOptions } from './open-export.ts';
import { guessOthers, nameGuesses } from './others.ts';
import { fitPreset, usedSources } from './preset-entries.ts';
import { bestMatch, columnsOf, matchPreset, presetNamed, presets, type PresetMatch } from './preset.ts';
import { findReferences } from './references.ts';
import { regionOf, timezoneLine } from './region.ts';
import { MAX_COLUMNS } from './sample.ts';
import { loadSamples, type Samples } from './tables.ts';
import { flow } from './value-text.ts';

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
  const all = await presets();
  const missing = [...new Set(all.flatMap(({ spec }) => spec.defaults?.missing_values ?? []))];
  const samples = loadSamples(exports, missing);
  const { tables } = samples;
  const references = findReferences(samples);
  const match =
    options.preset === undefined ? bestMatch(all, tables) : matchPreset(presetNamed(options.preset, all), tables);
  const folder = dirname(resolve(options.out ?? 'mapping.yaml'));
  const guesses = nameGuesses(tables, references, match?.preset.columns.keys() ?? []);
  const matched = [...(match?.exports.values() ?? [])];
  const unmatched = guesses.filter(({ table }) => !matched.includes(table.parent ?? table));
  const comments = new Set(
    guesses.flatMap(({ kind, table }) => (kind === 'comments' && table.list !== undefined ? [table] : [])),
  );
  const fitted = match && fitPreset(match, { guesses: unmatched, references }, comments);
  const recognised = usedSources(match, fitted?.entries ?? []);
  const others = guesses.flatMap((each) => {
    const [name] = recognised.find(([, used]) => used.sample === each.table.from.sample) ?? [];
    if (name === undefined) return [each];
    // Notes inside the records that no entry of the preset reads.
    const { list } = each.table;
    if (list === undefined || each.kind !== 'comments') return [];
    const read = [...(columnsOf(fitted!.entries.map(({ entry }) => entry)).get(name) ?? [])];
    return read.some((path) => path.startsWith(list)) ? [] : [{ ...each, source: name }];
  });
  const guessed = guessOthers(others, fitted?.entries ?? [], references)
    // A list inside records is worth a word only where it becomes comments.
    .filter(({ table, entry }) => table.list === undefined || entry);
  const used = guessed.filter((each) => each.entry || each.lookedUp);
  const sources = new Map([...recognised, ...used.map(({ source, table }) => [source, table.from] as const)]);
  const entries = [...(fitted?.entries ?? []), ...guessed.flatMap(({ entry }) => entry ?? [])];
  const text = [
    ...heading(match, folder),
    'version: 1',
    `migration: ${match?.preset.spec.migration ?? 'crm-export'} # set this: the name of the migration; it is part of every event id, so do not change it between runs`,
    '',
    ...defaultsText(match, samples),
    '',
    'sources:',
    ...[...sources].map(([name, each]) => sourceText(name, each, folder)),
    ...guessed.flatMap((each) => (sources.has(each.source) ? [] : [`  # not read: ${each.finding}`])),
    '',
    ...referencesText(entries),
    '',
    ...(entries.length > 0 ? ['events:', entries.map((each) => each.text).join('\n\n')] : NO_EVENTS),
    '',
  ].join('\n');
  const marks = markedLines(text);
  const findings = [...tables.map(exportText), ...(fitted?.findings ?? []), ...guessed.map(({ finding }) => finding)];
  const marked = (mark: Mark): number => marks.filter((each) => each.mark === mark).length;
  return { text, findings, open: { set: marked('set this'), check: marked('check') } };
}

/** Without entries, the mapping still shows what is missing. */
const NO_EVENTS = ['events: [] # set this: nothing was recognised; see the README for how to write an entry'];

function heading(match: PresetMatch | undefined, folder: string): string[] {
  const schema = fileURLToPath(new URL('../../mappings/mapping.schema.json', import.meta.url));
  return [
    `# yaml-language-server: $schema=${relative(folder, schema)}`,
    '#',
    `# Created by \`${PROGRAM} init\` from a sample of the exports. Check everything marked "set this" or "check".`,
    ...(match ? [`# Based on the preset ${match.preset.name}; see its comments for more about these exports.`] : []),
    `# Next: ${PROGRAM} run THIS-FILE --dry-run --sandbox`,
  ];
}

function defaultsText(match: PresetMatch | undefined, { tables, missing: texts }: Samples): string[] {
  const columns = tables.flatMap((table): readonly ExportColumn[] =>
    [table, ...table.lists].flatMap((each) => each.columns),
  );
  const region = regionOf(columns);
  const found = [...texts].map(([text, count]) => `${flow(text)} in ${counted(count, 'cell')}`);
  const missing = [...new Set(['', ...(match?.preset.spec.defaults?.missing_values ?? []), ...texts.keys()])];
  return [
    'defaults:',
    region.line,
    timezoneLine(columns, region.country),
    ...(missing.length > 1
      ? [`  missing_values: ${flow(missing)}${found.length > 0 ? ` # check: no value: ${found.join(', ')}` : ''}`]
      : []),
  ];
}

function sourceText(name: string, { path, settings, reasons }: Export, folder: string): string {
  const { headerLine, ...rest } = settings;
  const mark = settings.columns ? 'set this' : 'check';
  const value = {
    path: relative(folder, resolve(path)),
    ...rest,
    ...(headerLine === undefined ? {} : { header_line: headerLine }),
  };
  const assumptions = settings.records === undefined ? reasons : [];
  return `  ${flow(name)}: ${flow(value)}${assumptions.length > 0 ? ` # ${mark}: ${assumptions.join('; ')}` : ''}`;
}

/** Of the names of a kind. */
const MAX_NAMES = 60;

/** The `references` block, with each name of the old CRM commented out as a template. */
function referencesText(entries: readonly EntryText[]): string[] {
  const names = entries.flatMap((each) => each.names);
  const blocks = (['pipelines', 'stages', 'owners'] as const).map((kind) => {
    const counts = new Map<string, number>();
    for (const [name, count] of names.flatMap(([of, found]) => (of === kind ? [...found] : [])))
      counts.set(name, (counts.get(name) ?? 0) + count);
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
    ...blocks.flat(),
  ];
}

function exportText({ from: { path, source, reasons }, columns, rows, whole }: Table): string {
  const more = columns.length < MAX_COLUMNS ? [] : [`only the first ${numberText(MAX_COLUMNS)} columns were looked at`];
  return `${path}: ${source.description}, ${whole ? '' : 'the first '}${counted(rows, 'record')} read${[...reasons, ...more].map((reason) => `; ${reason}`).join('')}`;
}
