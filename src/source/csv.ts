import type { Hash } from 'node:crypto';
import { UserError } from '../errors.ts';
import type { ReadItem } from '../model.ts';
import { findDialect, LineSkipper, type Dialect } from './csv-dialect.ts';
import { QuickParser } from './csv-quick.ts';
import { TableRows } from './csv-rows.ts';
import { Outbox, type FileEnd, type Part, type SourceHead } from './reading.ts';
import type { SourceNotice, SourceSpec } from './source.ts';
import { readText, sampleOf, type TextFile } from './text.ts';

/** Opens CSV files as one table. Throws a `UserError` where one has no header or cannot be decoded. */
export async function openTable(spec: SourceSpec, files: readonly TextFile[]): Promise<SourceHead> {
  const dialects: Dialect[] = [];
  for (const file of files) dialects.push(await dialectOf(file, spec));
  const columns = union(dialects.map(({ header }) => header));
  const names = columns.map(({ name }) => name);
  const duplicates = new Set(columns.filter(({ name, nth }) => nth > 1 && name !== '').map(({ name }) => name));
  const parts = files.map((file, index): Part => {
    const dialect = dialects[index]!;
    const targets = numbered(dialect.header).map(({ name, nth }) =>
      columns.findIndex((column) => column.name === name && column.nth === nth),
    );
    return { file, read: (hash) => readTable(spec.name, file, dialect, names.length, targets, hash) };
  });
  return {
    name: spec.name,
    kind: 'table',
    columns: names,
    duplicateColumns: duplicates,
    description: describe(files, dialects, names.filter((name) => name !== '').length),
    parts,
    notices: headerNotices(files, dialects, names, duplicates),
  };
}

async function dialectOf(file: TextFile, spec: SourceSpec): Promise<Dialect> {
  const { text, whole } = await sampleOf(file);
  const dialect = await findDialect(file.shown, text, whole, spec);
  if (dialect.header.some((cell) => cell.includes('\0'))) {
    throw new UserError(`${file.shown}:${dialect.headerLine}: the header holds NUL characters`, {
      hint: 'the file may be UTF-16: say so, `encoding: utf-16le`; otherwise it is damaged',
    });
  }
  return dialect;
}

async function* readTable(
  source: string,
  file: TextFile,
  { delimiter, headerLine, header }: Dialect,
  columns: number,
  targets: readonly number[],
  hash: Hash,
): AsyncGenerator<readonly ReadItem[], FileEnd, undefined> {
  const outbox = new Outbox();
  const rows = new TableRows({ source, file: file.shown, header, columns, targets, outbox });
  const parser = new QuickParser(file.shown, delimiter, headerLine, (cells, line, afterBlank) =>
    rows.take(cells, line, afterBlank),
  );
  const skipper = new LineSkipper(headerLine - 1);
  for await (const chunk of readText(file, hash)) {
    if (chunk.includes(0)) rows.expectNul();
    await parser.feed(skipper.skip(chunk));
    yield* outbox.take();
  }
  await parser.finish();
  rows.finish();
  yield* outbox.take();
  return { rows: outbox.rows, notices: rows.notices(), more: false };
}

interface Column {
  readonly name: string;
  /** Counts the columns of one name within a header, from 1. */
  readonly nth: number;
}

function numbered(header: readonly string[]): Column[] {
  const seen = new Map<string, number>();
  return header.map((name) => {
    const nth = (seen.get(name) ?? 0) + 1;
    seen.set(name, nth);
    return { name, nth };
  });
}

function union(headers: readonly (readonly string[])[]): Column[] {
  const columns: Column[] = [];
  for (const header of headers) {
    for (const column of numbered(header)) {
      if (!columns.some(({ name, nth }) => name === column.name && nth === column.nth)) columns.push(column);
    }
  }
  return columns;
}

function headerNotices(
  files: readonly TextFile[],
  dialects: readonly Dialect[],
  names: readonly string[],
  duplicates: ReadonlySet<string>,
): SourceNotice[] {
  return files.flatMap(({ shown }, index) => {
    const { header, headerLine } = dialects[index]!;
    const notices: SourceNotice[] = [];
    const add = (code: string, message: string) => notices.push({ code, message, file: shown, line: headerLine });
    for (const name of duplicates) {
      const times = header.filter((other) => other === name).length;
      if (times > 1) add('duplicate_column', `the header names \`${name}\` ${times} times`);
    }
    const last = header.findLastIndex((name) => name !== '');
    const blank = header.slice(0, last).filter((name) => name === '').length;
    if (blank > 0) add('blank_column', `${blank === 1 ? 'a column has' : `${blank} columns have`} no name`);
    const lacking = names.filter((name) => name !== '' && !header.includes(name)).map((name) => `\`${name}\``);
    if (lacking.length > 0) add('missing_column', `the header lacks ${lacking.join(', ')}, which other files have`);
    return notices;
  });
}

function describe(files: readonly TextFile[], dialects: readonly Dialect[], columns: number): string {
  const delimiters = dialects.map(({ delimiter }) => (delimiter === '\t' ? 'tab' : `\`${delimiter}\``));
  return [
    ...(files.length > 1 ? [`${files.length} files`] : []),
    [...new Set(files.map(({ encoding }) => encoding.name))].join(' and '),
    ...(columns > 1 ? [[...new Set(delimiters)].join(' and ')] : []),
    `${columns} ${columns === 1 ? 'column' : 'columns'}`,
  ].join(', ');
}
