/** The text of a mapping, and which part of it each line is. */
import { kindOfType } from '../../../kinds/index.ts';
import { basename, dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nameError } from '../../../mapping/names.ts';
import { PROGRAM } from '../../../version.ts';
import type { Table } from '../columns.ts';
import { partOf } from '../open-export.ts';
import { flow, lineText, remarkText, type Entry, type Line } from './yaml.ts';

export interface MappingParts {
  /** Where the mapping will be: its paths are relative to this folder. */
  readonly out: string;
  readonly defaults: readonly Line[];
  /** Those that an entry reads with what is to be said of them, and lines about the others. */
  readonly sources: readonly ({ readonly table: Table; readonly remark?: string | undefined } | string)[];
  readonly entries: readonly Entry[];
}

/** What a line of the text belongs to: an entry, or one of its lines. */
export interface MappingPart {
  readonly entry: Entry;
  readonly line?: Line;
}

export interface MappingText {
  readonly text: string;
  /** `line`: from 1. */
  partAt(line: number): MappingPart | undefined;
  /** Of the sources that it reads, by name; absolute. */
  readonly paths: ReadonlyMap<string, string>;
}

export function mappingText({ out, defaults, sources, entries }: MappingParts): MappingText {
  const folder = dirname(resolve(out));
  const parts: (MappingPart | undefined)[] = [];
  const lines: string[] = [];
  const add = (text: string, part?: MappingPart): void => {
    for (const each of text.split('\n')) {
      lines.push(each);
      parts.push(part);
    }
  };
  for (const line of [
    `# yaml-language-server: $schema=${relative(folder, SCHEMA)}`,
    '#',
    '# Lines marked "set this" need your decision; lines marked "check" are guesses to confirm.',
    `# Next: ${PROGRAM} run THIS-FILE --dry-run --sandbox`,
    'version: 1',
    `migration: ${flow(migrationOf(out))} # part of every event id: do not change it between runs`,
    '',
    'defaults:',
    ...defaults.map((line) => lineText(line, 2)),
    '',
    'sources:',
    ...sources.map((each) =>
      typeof each === 'string' ? `  ${remarkText(each)}` : sourceText(each.table, folder, each.remark),
    ),
    '',
    'references:',
    '  file: references.csv # the first dry run writes this file: fill in the new names of pipelines, stages and owners',
    '',
    'events:',
  ])
    add(line);
  entries.forEach((entry, at) => {
    if (at > 0) add('');
    addEntry(entry, add);
  });
  add('');
  const read = sources.flatMap((each) => (typeof each === 'string' ? [] : [each.table]));
  const paths = new Map(read.map(({ source, from }) => [source, resolve(from.path)]));
  return { text: lines.join('\n'), partAt: (line) => parts[line - 1], paths };
}

const SCHEMA = fileURLToPath(new URL('../../../../mappings/mapping.schema.json', import.meta.url));

/** The name of the file, or of its folder. */
function migrationOf(out: string): string {
  const file = basename(out).replace(/\.[^.]*$/, '');
  const names = [...(file === 'mapping' ? [] : [file]), basename(dirname(resolve(out)))];
  const able = names.map((name) => name.replace(/[^\p{L}\p{N} ._-]+/gu, '-').replace(/^[^\p{L}\p{N}]+|[. ]+$/gu, ''));
  return able.find((name) => nameError(name) === undefined) ?? 'crm-export';
}

function sourceText(
  { source, columns, settled, from: { path, settings, reasons } }: Table,
  folder: string,
  about?: string,
): string {
  const { headerLine, columns: given, ...rest } = settings;
  const value = {
    path: relative(folder, resolve(path)),
    ...rest,
    ...(given && { columns: columns.map(({ name }) => name) }),
    ...(headerLine === undefined ? {} : { header_line: headerLine }),
  };
  const assumptions = partOf(settings) === undefined && !settled.has('reading') ? reasons : [];
  const doubts = assumptions.length > 0 ? [`${given ? 'set this' : 'check'}: ${assumptions.join('; ')}`] : [];
  const remarks = [...doubts, ...(about === undefined ? [] : [about])];
  return `  ${flow(source)}: ${flow(value)}${remarks.length > 0 ? ` ${remarkText(remarks.join('; ').replaceAll('; check: ', '; '))}` : ''}`;
}

function addEntry(entry: Entry, add: (text: string, part: MappingPart) => void): void {
  const { type, source, above, settings, data, custom, refused, isProposal } = entry;
  const margin = refused === undefined ? '  ' : '  # ';
  const put = (text: string, line?: Line): void => add(text.replace(/^/gm, margin), { entry, ...(line && { line }) });
  const putAll = (list: readonly Line[], indent: number): void =>
    list.forEach((line) => put(lineText(line, indent), line));
  if (isProposal) add(`  ${remarkText(`check: ${refused}`)}`, { entry });
  else if (refused !== undefined) add(`  ${remarkText(`set this: this entry has a mistake: ${refused}`)}`, { entry });
  for (const comment of isProposal ? [] : above) put(remarkText(comment));
  put(`- type: ${type}`);
  put(`  source: ${flow(source)}`);
  putAll(settings, 2);
  put('  data:');
  putAll(data, 4);
  if (custom.length === 0) return;
  put(`    ${kindOfType(type).custom!}:`);
  putAll(custom, 6);
}
