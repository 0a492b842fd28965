/** `crm-backfill init`: creates a commented mapping from unknown exports. */
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { counted } from '../numbers.ts';
import { openExport, type Export, type ExportOptions } from './head.ts';
import { emptyNames, referencesText } from './names.ts';
import { guessOthers, nameGuesses } from './others.ts';
import { fitPreset, usedSources } from './preset-entries.ts';
import { bestMatch, matchPreset, presetNamed, presets, type PresetMatch } from './preset.ts';
import { regionOf } from './region.ts';
import { timezoneLine } from './time-zone.ts';
import { flow } from './value-text.ts';

/** The text of the mapping, and what was recognised in each export and why. */
export interface StarterMapping {
  readonly text: string;
  readonly findings: readonly string[];
}

/** Paths in the text are relative to the folder of `out`. Throws a `UserError` if an export cannot be read. */
export async function startMapping(
  paths: readonly string[],
  options: ExportOptions & { readonly preset?: string | undefined; readonly out?: string | undefined },
): Promise<StarterMapping> {
  const exports: Export[] = [];
  for (const path of paths) exports.push(await openExport(path, options));
  const all = await presets();
  const match =
    options.preset === undefined ? bestMatch(all, exports) : matchPreset(presetNamed(options.preset, all), exports);
  const folder = dirname(resolve(options.out ?? 'mapping.yaml'));
  const names = emptyNames();
  const findings = exports.map(exportText);
  const guesses = nameGuesses(exports, match?.preset.columns.keys() ?? []);
  const unmatched = guesses.filter((each) => !match || ![...match.exports.values()].includes(each.export));
  const fitted = match ? fitPreset(match, unmatched, names, findings) : [];
  const recognised = usedSources(match, fitted);
  const others = guesses.filter((each) => !recognised.some(([, used]) => used.source === each.export.source));
  const known = { parents: fitted.flatMap(({ parents }) => parents), texts: fitted.map(({ text }) => text) };
  const guessed = guessOthers(others, known, names);
  findings.push(...guessed.map(({ finding }) => finding));
  const used = guessed.filter((each) => each.text !== undefined || each.lookedUp);
  const sources = new Map([...recognised, ...used.map(({ source, export: each }) => [source, each] as const)]);
  const entries = [...fitted.map(({ text }) => text), ...guessed.flatMap(({ text }) => text ?? [])];
  const text = [
    ...heading(match, folder),
    'version: 1',
    `migration: ${match?.preset.spec.migration ?? 'crm-export'} # set this: the name of the migration; it is part of every event id, so do not change it between runs`,
    '',
    ...defaultsText(match, exports),
    '',
    'sources:',
    ...[...sources].map(([name, each]) => sourceText(name, each, folder)),
    ...guessed.flatMap((each) => (used.includes(each) ? [] : [`  # not read: ${each.finding}`])),
    '',
    referencesText(names, flow),
    '',
    ...eventsText(entries),
    '',
  ].join('\n');
  return { text, findings };
}

function heading(match: PresetMatch | undefined, folder: string): string[] {
  const schema = fileURLToPath(new URL('../../mappings/mapping.schema.json', import.meta.url));
  return [
    `# yaml-language-server: $schema=${relative(folder, schema)}`,
    '#',
    '# Created by `crm-backfill init` from a sample of the exports. Check everything marked "set this" or "check".',
    ...(match ? [`# Based on the preset ${match.preset.name}; see its comments for more about these exports.`] : []),
    '# Next: crm-backfill run THIS-FILE --dry-run',
  ];
}

function defaultsText(match: PresetMatch | undefined, exports: readonly Export[]): string[] {
  const missing = match?.preset.spec.defaults?.missing_values ?? missingValues(exports);
  const region = regionOf(exports, missing);
  return [
    'defaults:',
    region.line,
    timezoneLine(exports, region.country),
    ...(missing.length > 0 ? [`  missing_values: ${flow(missing)}`] : []),
  ];
}

const NO_VALUE = new Set(['N/A', 'n/a', 'NULL', 'null', '(null)', '(none)']);

function missingValues(exports: readonly Export[]): string[] {
  const found = new Set(
    exports.flatMap(({ columns }) => columns.flatMap(({ values }) => values.filter((value) => NO_VALUE.has(value)))),
  );
  return found.size > 0 ? ['', ...found] : [];
}

function sourceText(name: string, { path, settings, reasons }: Export, folder: string): string {
  const { headerLine, ...rest } = settings;
  const value = {
    path: relative(folder, resolve(path)),
    ...rest,
    ...(headerLine === undefined ? {} : { header_line: headerLine }),
  };
  const assumptions = settings.records === undefined ? reasons : [];
  return `  ${flow(name)}: ${flow(value)}${assumptions.length > 0 ? ` # check this: ${assumptions.join('; ')}` : ''}`;
}

/** Without entries, the mapping still shows what is missing. */
function eventsText(entries: readonly string[]): string[] {
  if (entries.length > 0) return ['events:', entries.join('\n\n')];
  return ['events: [] # set this: nothing was recognised; see the README for how to write an entry'];
}

function exportText({ path, source, rows, whole, reasons }: Export): string {
  return `${path}: ${source.description}, ${whole ? '' : 'the first '}${counted(rows, 'record')} read${reasons.map((reason) => `; ${reason}`).join('')}`;
}
