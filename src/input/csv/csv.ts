import type { Hash } from 'node:crypto';
import { UserError } from '../../errors.ts';
import type { Issue, ReadItem } from '../../model.ts';
import { counted } from '../../terminal/numbers.ts';
import { findDialect, type Dialect } from './dialect.ts';
import { MAX_HEADER, RecordParser } from './records.ts';
import { FormulaCells } from './formula-cells.ts';
import { TableRows } from './rows.ts';
import { encodingsOf, fileCount, Items, type FileResult, type SourceFile, type SourceHead } from '../reading.ts';
import { nameOf, numbered } from '../reject-columns.ts';
import { notice, type SourceNotice, type SourceSpec } from '../source.ts';
import type { TextFile } from '../encoding.ts';
import { readText, sampleOf } from '../text.ts';
import { issueOf } from '../../vocabulary/words.ts';

/** Opens CSV files as one table. Throws a `UserError` if one has no header or cannot be decoded. */
export async function openTable(spec: SourceSpec, files: readonly TextFile[]): Promise<SourceHead> {
  const dialects: Dialect[] = [];
  for (const file of files) dialects.push(await dialectOf(file, spec));
  const keys = [...new Set(dialects.flatMap(({ header }) => numbered(header)))];
  const names = keys.map(nameOf);
  const repeated = keys.filter((key) => !key.startsWith('1:')).map(nameOf);
  const duplicates = new Set(repeated.filter((name) => name !== ''));
  const indexes = new Map(keys.map((key, index) => [key, index]));
  const parts = files.map((file, index): SourceFile => {
    const dialect = dialects[index]!;
    const targets = numbered(dialect.header).map((key) => indexes.get(key)!);
    return { file, read: (hash) => readTable(spec.name, file, dialect, names.length, targets, hash) };
  });
  return {
    name: spec.name,
    kind: 'table',
    columns: names,
    duplicateColumns: duplicates,
    ...(names.length > 1 ? { delimiter: dialects[0]!.delimiter } : {}),
    description: describe(files, dialects, names.filter((name) => name !== '').length),
    parts,
    notices: headerNotices(files, dialects, names, duplicates),
  };
}

async function dialectOf(file: TextFile, spec: SourceSpec): Promise<Dialect> {
  const find = ({ text, whole }: Awaited<ReturnType<typeof sampleOf>>) => findDialect(file.shown, text, whole, spec);
  const dialect = (await find(await sampleOf(file))) ?? (await find(await sampleOf(file, MAX_HEADER + 1)))!;
  if (dialect.header.some((cell) => cell.includes('\0'))) {
    throw new UserError(`${file.shown}:${dialect.headerLine}: the header contains NUL characters`, {
      hint: 'if the file is UTF-16, set `encoding: utf-16le`; otherwise it is damaged',
    });
  }
  return dialect;
}

async function* readTable(
  source: string,
  file: TextFile,
  { delimiter, escape, headerLine, start, header, hasHeader }: Dialect,
  columns: number,
  targets: readonly number[],
  hash: Hash,
): AsyncGenerator<readonly ReadItem[], FileResult, undefined> {
  const items = new Items(source, file);
  const rows = new TableRows({ file: file.shown, header, hasHeader, columns, targets, items });
  const parser = new RecordParser(file.shown, { delimiter, escape }, headerLine, (cells, line, afterBlank) =>
    rows.take(cells, line, afterBlank),
  );
  const formulas = new FormulaCells(file.shown, delimiter);
  let skip = start;
  for await (const chunk of readText(file, hash)) {
    if (chunk.includes(0)) rows.expectNul();
    const rest = chunk.subarray(skip);
    skip -= chunk.length - rest.length;
    await parser.feed(formulas.feed(rest));
    yield items.take();
  }
  await parser.feed(formulas.finish());
  await parser.finish();
  rows.finish();
  yield items.take();
  return { rows: items.count, notices: [...rows.notices(), ...formulas.notices()], more: false };
}

function headerNotices(
  files: readonly TextFile[],
  dialects: readonly Dialect[],
  names: readonly string[],
  duplicates: ReadonlySet<string>,
): SourceNotice[] {
  return files.flatMap(({ shown }, index) => {
    const { header, headerLine } = dialects[index]!;
    const present = new Set(header);
    const notices: SourceNotice[] = [];
    const add = (issue: Issue) => notices.push(notice(issue, shown, headerLine));
    for (const name of duplicates) {
      const times = header.filter((other) => other === name).length;
      if (times > 1) add(issueOf('duplicate_column', name, times));
    }
    const last = header.findLastIndex((name) => name !== '');
    const blank = header.slice(0, last).filter((name) => name === '').length;
    if (blank > 0) add(issueOf('blank_column', blank));
    const lacking = names.filter((name) => name !== '' && !present.has(name)).map((name) => `\`${name}\``);
    if (lacking.length > 0) add(issueOf('missing_column', lacking.join(', ')));
    return notices;
  });
}

function describe(files: readonly TextFile[], dialects: readonly Dialect[], columns: number): string {
  const delimiters = dialects.map(({ delimiter }) => (delimiter === '\t' ? 'tab' : `\`${delimiter}\``));
  return [
    ...fileCount(files),
    encodingsOf(files),
    ...(columns > 1 ? [[...new Set(delimiters)].join(' and ')] : []),
    counted(columns, 'column'),
  ].join(', ');
}
