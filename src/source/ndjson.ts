import { isAscii } from 'node:buffer';
import type { Hash } from 'node:crypto';
import { UserError } from '../errors.ts';
import type { Place, ReadItem } from '../model.ts';
import { parseRecord, readError, shorten } from './json-record.ts';
import { ValueScan, type Shape } from './json-shape.ts';
import { Outbox, type FileEnd, type SourceHead } from './reading.ts';
import type { SourceSpec } from './source.ts';
import { readText, sampleOf, type TextFile } from './text.ts';

/** As for an element of a JSON array. */
const MAX_LINE = 64 * 1024 * 1024;

/** Opens files with one JSON object a line. Throws a `UserError` where one holds nothing. */
export async function openLines(spec: SourceSpec, files: readonly TextFile[]): Promise<SourceHead> {
  for (const file of files) {
    const { text, whole } = await sampleOf(file);
    const start = text.toString('utf8').trimStart();
    if (whole && start === '') throw new UserError(`${file.shown} is empty`, { hint: 'export it again' });
    if (/^(?:\[|\{\s*\n)/.test(start)) {
      throw new UserError(`${file.shown} has no object of its own on the first line, as NDJSON has`, {
        hint: 'where the file is one JSON text, say `format: json`',
      });
    }
  }
  const encodings = [...new Set(files.map(({ encoding }) => encoding.name))].join(' and ');
  return {
    name: spec.name,
    kind: 'tree',
    columns: [],
    duplicateColumns: new Set(),
    description: `${files.length > 1 ? `${files.length} files, ` : ''}NDJSON, ${encodings}`,
    parts: files.map((file) => ({ file, read: (hash) => readLines(spec.name, file, hash) })),
    notices: [],
  };
}

async function* readLines(
  source: string,
  file: TextFile,
  hash: Hash,
): AsyncGenerator<readonly ReadItem[], FileEnd, undefined> {
  const outbox = new Outbox();
  const scan = new ValueScan();
  /** A line whose end has not come yet. */
  let parts: Buffer[] = [];
  let length = 0;
  let number = 0;
  const endLine = (bytes: Buffer, start: number, end: number, isPlain: boolean): void => {
    number += 1;
    if (isBlank(bytes, start, end)) return;
    const text = bytes.toString(isPlain ? 'latin1' : 'utf8', start, end);
    scan.begin();
    scan.follow(bytes, start, end);
    outbox.add(readLine(text, scan, { source, file: file.shown, line: number, record: outbox.rows + 1 }));
  };
  for await (const chunk of readText(file, hash)) {
    let start = 0;
    let end = chunk.indexOf(0x0a);
    if (end >= 0 && parts.length > 0) {
      const line = Buffer.concat([...parts, chunk.subarray(0, end)]);
      endLine(line, 0, line.length, false);
      start = end + 1;
      end = chunk.indexOf(0x0a, start);
      parts = [];
      length = 0;
    }
    // ASCII becomes text faster when it is known to be that.
    const isPlain = isAscii(chunk);
    for (; end >= 0; end = chunk.indexOf(0x0a, start)) {
      endLine(chunk, start, end, isPlain);
      start = end + 1;
    }
    parts.push(chunk.subarray(start));
    length += chunk.length - start;
    if (length > MAX_LINE) {
      throw new UserError(`${file.shown}:${number + 1}: this line is longer than 64 MiB`, {
        hint: 'NDJSON has one object a line; where the file is one array, say `format: json`',
      });
    }
    yield* outbox.take();
  }
  const last = Buffer.concat(parts);
  endLine(last, 0, last.length, false);
  yield* outbox.take(true);
  return { rows: outbox.rows, notices: [], more: false };
}

function readLine(line: string, shape: Shape, place: Place): ReadItem {
  const parsed = parseRecord(line, shape);
  if ('value' in parsed) return { kind: 'row', place, raw: parsed.value, text: parsed.text, issues: [] };
  if ('issue' in parsed) return { kind: 'unreadable', place, ...parsed };
  const message = `the line is no JSON, from column ${parsed.at + 1} on: ${shorten(parsed.syntax)}`;
  return { kind: 'unreadable', place, issue: readError('no_json', message) };
}

function isBlank(bytes: Buffer, start: number, end: number): boolean {
  for (let index = start; index < end; index += 1) {
    const byte = bytes[index];
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return false;
  }
  return true;
}
