/** `backfill init`: creates a commented mapping from unknown exports. */
import { basename, dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nameError } from '../mapping/names.ts';
import type { EntrySpec } from '../mapping/spec.ts';
import { fitEntry, type FittedEntry } from './adapt.ts';
import { guessedEntry, rolesText, type NamedGuess } from './entries.ts';
import { entryText, type EntryLine } from './entry-text.ts';
import { guess } from './guess.ts';
import { openExport, type Export, type ExportOptions } from './head.ts';
import { countNames, emptyNames, referencesText, type CrmNames } from './names.ts';
import { sharedIds } from './joins.ts';
import { bestMatch, columnsOf, matchPreset, presetNamed, presets, type PresetMatch } from './preset.ts';
import { regionLine } from './region.ts';
import { flow, keyOf } from './value-text.ts';
import { numberText } from '../numbers.ts';

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
  const known = await presets();
  const match =
    options.preset === undefined ? bestMatch(known, exports) : matchPreset(presetNamed(options.preset, known), exports);
  const folder = dirname(resolve(options.out ?? 'mapping.yaml'));
  const names = emptyNames();
  const findings = exports.map(exportText);
  const fitted = match ? fitPreset(match, names, findings) : [];
  const others = exports.filter((each) => !match || ![...match.exports.values()].includes(each));
  const guessed = guessOthers(others, { match, fitted }, names, findings);
  const sources = new Map([
    ...usedSources(match, fitted),
    ...guessed.map(({ source, export: each }) => [source, each] as const),
  ]);
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
    '',
    referencesText(names, flow),
    '',
    ...eventsText(entries),
    '',
  ].join('\n');
  return { text, findings };
}

function heading(match: PresetMatch | undefined, folder: string): string[] {
  const schema = fileURLToPath(new URL('../../schema/mapping.schema.json', import.meta.url));
  return [
    `# yaml-language-server: $schema=${relative(folder, schema)}`,
    '#',
    '# Created by `backfill init` from a sample of the exports. Check everything marked "set this" or "check".',
    ...(match ? [`# Based on the preset ${match.preset.name}; see its comments for more about these exports.`] : []),
    '# Next: backfill run THIS-FILE --dry-run',
  ];
}

interface PresetEntry {
  readonly entry: EntrySpec;
  readonly text: string;
}

function fitPreset(match: PresetMatch, names: CrmNames, findings: string[]): PresetEntry[] {
  const { preset, exports } = match;
  findings.push(
    `preset ${preset.name}: ${[...exports].map(([name, each]) => `${basename(each.path)} is \`${name}\``).join(', ')} ` +
      `(${match.found} columns recognised)`,
  );
  return preset.spec.events.flatMap((entry) => {
    const fitted = fitEntry(entry, exports);
    if ('why' in fitted) {
      findings.push(`${entry.type} from \`${entry.source}\` is omitted: ${fitted.why}`);
      return [];
    }
    if (entry.type === 'deal/created') nameDeals(fitted.entry, exports, names);
    return [{ entry: fitted.entry, text: [...unknownText(fitted, exports), fittedText(fitted)].join('\n') }];
  });
}

/** Columns with values that the preset does not use, usually custom fields of the company. */
function unknownText({ entry }: FittedEntry, exports: ReadonlyMap<string, Export>): string[] {
  const { source, columns } = exports.get(entry.source)!;
  if (source.kind === 'tree') return [];
  const used = columnsOf([entry]).get(entry.source);
  const unknown = columns.filter(({ name, facts }) => facts.filled > 0 && used?.has(name) !== true);
  if (unknown.length === 0) return [];
  return [`  # not used, although they have values: ${unknown.map(({ name }) => flow(name)).join(', ')}`];
}

function fittedText({ entry, remarks, missing }: FittedEntry): string {
  const { type, source, data, ...settings } = entry;
  const line = (prefix: string, [key, value]: readonly [string, unknown]): EntryLine => ({
    key,
    value,
    comment: remarks.get(`${prefix}${key}`),
  });
  const text = entryText(
    type,
    source,
    Object.entries(settings).map((each) => line('', each)),
    Object.entries(data).map((each) => line('data.', each)),
  );
  const inside = [...remarks].filter(([path]) => path.startsWith('data.custom_'));
  const comments = [
    ...(missing.length > 0 ? [`not in this export: ${missing.join(', ')}`] : []),
    ...inside.map(([path, remark]) => `${path.slice('data.'.length)}: ${remark}`),
  ];
  return [...comments.map((comment) => `  # ${comment}`), text].join('\n');
}

/** Counts the names of stages, pipelines and owners that the deals use, as far as they come from columns. */
function nameDeals(
  { source, data, stage_pipeline: pipeline }: EntrySpec,
  exports: ReadonlyMap<string, Export>,
  names: CrmNames,
): void {
  const count = (into: Map<string, number>, value: unknown): void => {
    for (const { from, path } of columnsIn(value, source)) {
      countNames(
        into,
        exports.get(from)?.columns.find(({ name }) => name === path),
      );
    }
  };
  count(names.stages, data['stage_name']);
  count(names.owners, data['owner_name']);
  count(names.pipelines, pipeline);
}

/** The columns whose values are used unchanged: no lookup keys, no values with transforms. */
function columnsIn(value: unknown, source: string): { from: string; path: string }[] {
  if (typeof value === 'string') return [{ from: source, path: value }];
  if (Array.isArray(value)) return value.flatMap((each) => columnsIn(each, source));
  if (typeof value !== 'object' || value === null) return [];
  const { from, lookup, apply } = value as {
    from?: unknown;
    lookup?: { source: string; take: unknown };
    apply?: unknown;
  };
  if (apply !== undefined) return [];
  return lookup ? columnsIn(lookup.take, lookup.source) : columnsIn(from, source);
}

/** In the preset's order. If the preset reads a list inside the file's records, so does the mapping. */
function usedSources(match: PresetMatch | undefined, entries: readonly PresetEntry[]): [string, Export][] {
  if (!match) return [];
  const used = JSON.stringify(entries.map(({ entry }) => entry));
  return Object.entries(match.preset.spec.sources).flatMap(([name, { records }]): [string, Export][] => {
    const found = match.exports.get(name);
    if (!found || !used.includes(`"source":${JSON.stringify(name)}`)) return [];
    const deeper = records !== undefined && records.startsWith(`${found.settings.records ?? ''}[`);
    return [[name, deeper ? { ...found, settings: { ...found.settings, records } } : found]];
  });
}

interface GuessedEntry extends NamedGuess {
  readonly text: string | undefined;
}

/** Of the name of a source. */
const MOST_CHARACTERS = 40;

function guessOthers(
  exports: readonly Export[],
  { match, fitted }: { readonly match: PresetMatch | undefined; readonly fitted: readonly PresetEntry[] },
  names: CrmNames,
  findings: string[],
): GuessedEntry[] {
  const parents = match
    ? fitted.flatMap(({ entry }) => presetParent(entry, match.exports.get(entry.source)!) ?? [])
    : [];
  const taken = new Set(match?.preset.columns.keys() ?? []);
  const plainGuesses = exports.map((each): NamedGuess => {
    const plain = [...keyOf(basename(each.path).replace(/(?:\.\w+)+$/, ''))].slice(0, MOST_CHARACTERS).join('');
    let source = plain;
    for (let number = 2; taken.has(source) || nameError(source) !== undefined; number += 1)
      source = `${plain}_${number}`;
    taken.add(source);
    return { ...guess(each), source, prefix: undefined };
  });
  const guesses = plainGuesses.map((each, index) => ({
    ...each,
    prefix: prefixOf(each, plainGuesses.slice(0, index)),
  }));
  return guesses
    .map((each) => {
      const recognised =
        each.kind === 'unknown'
          ? 'not recognised, so there is no entry for it'
          : `recognised as ${each.kind}: ${rolesText(each.roles)}`;
      findings.push(`${each.export.path}: ${recognised}`);
      return { ...each, text: guessedEntry(each, [...parents, ...guesses], names) };
    })
    .filter(
      ({ kind, text, source }, _index, all) => text !== undefined || (kind === 'users' && isLookedUp(source, all)),
    );
}

/** The records of a preset's entry, for joins from exports that the preset does not know. */
function presetParent({ type, source, data }: EntrySpec, own: Export): NamedGuess | undefined {
  const found = guess(own);
  const id = own.columns.find(({ name }) => name === data['external_id']);
  const kind = type === 'lead/created' ? 'leads' : 'deals';
  if (!id || type === 'comment/created' || found.kind !== kind) return undefined;
  return { ...found, roles: new Map([...found.roles, ['id', id]]), source, prefix: undefined };
}

/** For ids that are also those of other records of an earlier export of the same kind. */
function prefixOf(each: NamedGuess, earlier: readonly NamedGuess[]): NamedGuess['prefix'] {
  if (each.kind !== 'leads' && each.kind !== 'deals') return undefined;
  for (const other of earlier.filter(({ kind }) => kind === each.kind)) {
    const shared = sharedIds(each, other);
    if (shared === 0) continue;
    const common = each.roles.has('email') ? 'e-mail address' : 'name';
    const why = `${shared} ids are also in ${other.source}, without one common ${common}: two number ranges, so these have a prefix`;
    return { text: `${each.source}-`, why };
  }
  return undefined;
}

function isLookedUp(source: string, all: readonly GuessedEntry[]): boolean {
  return all.some(({ text }) => text?.includes(`source: ${source},`) === true);
}

function defaultsText(match: PresetMatch | undefined, exports: readonly Export[]): string[] {
  const missing = match?.preset.spec.defaults?.missing_values ?? missingValues(exports);
  return [
    'defaults:',
    regionLine(exports),
    '  timezone: UTC # set this: the time zone of dates without an offset, such as Europe/Rome',
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
  return `${path}: ${source.description}, ${whole ? '' : 'the first '}${numberText(rows)} records read${reasons.map((reason) => `; ${reason}`).join('')}`;
}
