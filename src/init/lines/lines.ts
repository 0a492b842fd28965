/** The lines of a mapping from a draft. */
import { basename, dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { kindOf } from '../../kinds/index.ts';
import { nameError } from '../../mapping/names.ts';
import { wrapped } from '../../report/print/layout.ts';
import { PROGRAM } from '../../version.ts';
import type { EntryDraft, Field, MappingDraft } from '../decide/draft.ts';
import type { Table } from '../facts/facts.ts';
import { partOf } from '../read/open.ts';
import { Document, visit, type ToStringOptions } from 'yaml';

/** One key with its value, or a comment. */
export interface Line {
  readonly indent: number;
  readonly key?: string;
  readonly value?: unknown;
  /** In place of a key, as it is. */
  readonly text?: string;
  /** Commented out. */
  readonly off?: boolean;
  /** Spaces behind the mark of an entry that is commented out. */
  readonly deep?: number;
  readonly comment?: string;
  /** What it is a line of. */
  readonly entry?: EntryDraft;
  readonly field?: Field;
}

export interface WrittenMapping {
  readonly text: string;
  /** `line`: from 1. */
  lineAt(line: number): Line | undefined;
}

export function yaml(lines: readonly Line[]): WrittenMapping {
  const written = lines.flatMap((line) =>
    textOf(line)
      .split('\n')
      .map((text) => ({ text, line })),
  );
  return { text: `${written.map(({ text }) => text).join('\n')}\n`, lineAt: (line) => written[line - 1]?.line };
}

/** Longer values are written over several lines, unless they are commented out. */
const MAX_WIDTH = 110;
const MAX_COMMENT = 100;

function textOf({ indent, key, value, text, off, deep = 0, comment }: Line): string {
  const margin = ' '.repeat(indent) + (off ? `# ${' '.repeat(deep)}` : '');
  const remark = comment ? remarkText(comment) : '';
  if (key === undefined) return text === undefined ? margin + remark : margin + text;
  const own = flow(value);
  const name = flow(key);
  if (own.length <= MAX_WIDTH || off) return `${margin}${name}: ${own}${remark && ` ${remark}`}`;
  const deeper = toYaml(value, {})
    .split('\n')
    .map((each) => `${margin}  ${each}`);
  return [`${margin}${name}:${remark && ` ${remark}`}`, ...deeper].join('\n');
}

/** A comment on one line. */
function remarkText(comment: string): string {
  const plain = comment.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ');
  return `# ${plain.length > MAX_COMMENT ? `${plain.slice(0, MAX_COMMENT - 1)}…` : plain}`;
}

/** A value of the mapping on one line, quoted where YAML needs it. */
export function flow(value: unknown): string {
  // Not within quotes.
  const padded = /'(?:[^']|'')*'|"(?:[^"\\]|\\.)*"|\[ | \]/g;
  return toYaml(value, { collectionStyle: 'flow' }).replace(padded, (text) =>
    /^["']/.test(text) ? text : text.trim(),
  );
}

/** Quotes texts with line breaks on one line, because block scalars are not allowed in flow collections. */
function toYaml(value: unknown, options: ToStringOptions): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === 'string' && /[\p{Cc}\p{Zl}\p{Zp}]/u.test(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  const oneLine = { lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER };
  return document.toString({ ...oneLine, singleQuote: true, ...options }).trimEnd();
}

/** What is said of the files, arrays and lists. */
export interface ToldFates {
  /** Of those that no entry takes. */
  readonly others: readonly string[];
  /** Columns that an entry does not carry. */
  notCarried(entry: EntryDraft): readonly string[];
  isRead(table: Table): boolean;
}

/** `out`: where the mapping will be; its paths are relative to this folder. */
export function lines(
  { defaults, entries, extra = [] }: MappingDraft,
  tables: readonly Table[],
  fates: ToldFates,
  out: string,
): Line[] {
  const folder = dirname(resolve(out));
  const text = (line: string, indent = 0): Line => ({ indent, text: line });
  return [
    text(`# yaml-language-server: $schema=${relative(folder, SCHEMA)}`),
    text('#'),
    text('# Lines marked "set this" need your decision; lines marked "check" are guesses to confirm.'),
    text(`# Next: ${PROGRAM} run ${basename(out)} --dry-run --sandbox`),
    text('version: 1'),
    text(`migration: ${flow(migrationOf(out))} # part of every event id: do not change it between runs`),
    text(''),
    text('defaults:'),
    ...defaults.map((field) => fieldLine(field, 2)),
    text(''),
    text('sources:'),
    ...tables
      .filter((table) => table.list === undefined && fates.isRead(table))
      .map((table) => sourceLine(table, folder)),
    ...extra.map(({ name, table, records }) => ({
      indent: 2,
      key: name,
      value: { path: relative(folder, resolve(table.export.path)), records },
    })),
    ...fates.others.flatMap((each) => remarks(each, 2)),
    text(''),
    text('references:'),
    text('file: references.csv # the first dry run writes this file: fill in the new names', 2),
    text(''),
    text('events:'),
    ...entries.flatMap((entry, at) => [...(at > 0 ? [text('')] : []), ...entryLines(entry, fates)]),
  ];
}

const SCHEMA = fileURLToPath(new URL('../../../mappings/mapping.schema.json', import.meta.url));

/** The name of the file, or of its folder. */
function migrationOf(out: string): string {
  const file = basename(out).replace(/\.[^.]*$/, '');
  const names = [...(file === 'mapping' ? [] : [file]), basename(dirname(resolve(out)))];
  const able = names.map((name) => name.replace(/[^\p{L}\p{N} ._-]+/gu, '-').replace(/^[^\p{L}\p{N}]+|[. ]+$/gu, ''));
  return able.find((name) => nameError(name) === undefined) ?? 'crm-export';
}

function commentOf({ doubt, said, off }: Pick<Field, 'doubt' | 'said' | 'off'>): string {
  if (!doubt) return off && !said ? 'left out' : said;
  const mark = doubt === 'set' ? 'set this' : 'check';
  return said ? `${mark}: ${said}` : mark;
}

function fieldLine(field: Field, indent: number, entry?: EntryDraft): Line {
  const { key, value, off } = field;
  return { indent, key, value, off: off ?? false, comment: commentOf(field), field, ...(entry && { entry }) };
}

function sourceLine(table: Table, folder: string): Line {
  const {
    source,
    export: { path, settings, reasons },
  } = table;
  const { headerLine, columns, ...rest } = settings;
  const value = {
    path: relative(folder, resolve(path)),
    ...rest,
    ...(columns && { columns }),
    ...(headerLine !== undefined && { header_line: headerLine }),
  };
  const isDoubtful = partOf(settings) === undefined && reasons.length > 0;
  const comment = isDoubtful ? commentOf({ doubt: columns ? 'set' : 'check', said: reasons.join('; ') }) : '';
  return { indent: 2, key: source, value, comment };
}

/** A long comment over several lines. */
function remarks(comment: string, indent: number): Line[] {
  return wrapped(comment, WIDTH)
    .split('\n')
    .map((each) => ({ indent, comment: each }));
}

const WIDTH = 98;

function entryLines(entry: EntryDraft, fates: ToldFates): Line[] {
  const { kind, table, doubt, fields, refused } = entry;
  const isOff = refused !== undefined;
  const left = isOff ? [] : fates.notCarried(entry);
  const own = (deep: number, line: Omit<Line, 'indent'>): Line =>
    isOff ? { ...line, indent: 2, off: true, deep, entry } : { ...line, indent: 2 + deep, entry };
  const put = (place: Field['place'], deep: number): Line[] =>
    fields.filter((field) => field.place === place).map((field) => own(deep, fieldLine(field, 0, entry)));
  const custom = put('custom', 6);
  return [
    ...(isOff ? [{ indent: 2, comment: `set this: this entry has a mistake: ${refused}` }] : []),
    ...(doubt && !isOff ? remarks(commentOf({ doubt: doubt.mark, said: doubt.why }), 2) : []),
    ...(left.length > 0 ? remarks(`not carried: ${left.join(', ')}`, 2) : []),
    own(0, { text: `- type: ${entry.type ?? `${kind}/created`}` }),
    own(2, { key: 'source', value: table.source }),
    ...(table.list === undefined ? [] : [own(2, { key: 'each', value: table.list })]),
    ...put('settings', 2),
    own(2, { text: 'data:' }),
    ...put('data', 4),
    ...(custom.length > 0 ? [own(4, { text: `${kindOf(kind).custom!}:` }), ...custom] : []),
  ];
}
