import { UserError } from '../../errors.ts';
import { issueOf } from '../../report/words/words.ts';
import type { InputFile } from '../files.ts';
import type { FileEnd, TableFile, TableRecord } from '../format.ts';
import { shorten } from '../reading.ts';
import type { SourceSpec } from '../source.ts';
import { openText, readText, sampleOf, type TextFile } from '../text/text.ts';
import { findDialect, type Dialect } from './dialect.ts';
import { MAX_HEADER, RecordParser } from './records.ts';

/** Opens a CSV file as a table. Throws a `UserError` if it has no header or cannot be decoded. */
export async function openCsv(input: InputFile, spec: SourceSpec): Promise<TableFile> {
  const { file, encoding, notices } = await openText(input, spec);
  const dialect = await dialectOf(file, spec);
  const { header, headerLine, delimiter } = dialect;
  const mark = delimiter === '\t' ? 'tab' : `\`${delimiter}\``;
  return {
    kind: 'table',
    file,
    traits: [encoding, ...(header.length > 1 ? [mark] : [])],
    notices,
    header,
    headerLine,
    delimiter,
    read: (hash) => readCsv(file, dialect, hash),
  };
}

async function dialectOf(file: TextFile, spec: SourceSpec): Promise<Dialect> {
  const find = ({ text, whole }: Awaited<ReturnType<typeof sampleOf>>) => findDialect(file.label, text, whole, spec);
  const dialect = (await find(await sampleOf(file))) ?? (await find(await sampleOf(file, MAX_HEADER + 1)))!;
  if (dialect.header.some((cell) => cell.includes('\0'))) {
    throw new UserError(`${file.label}:${dialect.headerLine}: the header contains NUL characters`, {
      hint: 'if the file is UTF-16, set `encoding: utf-16le`; otherwise it is damaged',
    });
  }
  return dialect;
}

async function* readCsv(
  file: TextFile,
  { delimiter, escape, quote, headerLine, start, hasHeader }: Dialect,
  hash: Parameters<TableFile['read']>[0],
): AsyncGenerator<readonly TableRecord[], FileEnd, undefined> {
  let records: TableRecord[] = [];
  let mayHaveNul = false;
  let isHeader = hasHeader;
  const parser = new RecordParser(file.label, { delimiter, escape, quote }, headerLine, (cells, line, afterBlank) => {
    const nul = mayHaveNul ? cells.find((cell) => cell.includes('\0')) : undefined;
    if (!isHeader) records.push({ cells, line, afterBlank, ...(nul !== undefined && { issue: nulByte(nul) }) });
    isHeader = false;
  });
  const taken = (): readonly TableRecord[] => {
    const all = records;
    records = [];
    return all;
  };
  let skip = start;
  for await (const chunk of readText(file, hash)) {
    mayHaveNul ||= chunk.includes(0);
    const rest = chunk.subarray(skip);
    skip -= chunk.length - rest.length;
    await parser.feed(rest);
    yield taken();
  }
  await parser.finish();
  yield taken();
  return { notices: parser.notices() };
}

const nulByte = (cell: string) => issueOf('nul_byte', shorten(cell));
