import { isAscii } from 'node:buffer';
import type { Hash } from 'node:crypto';
import { UserError } from '../errors.ts';
import type { Place, ReadItem, Unread } from '../model.ts';
import { readError, RecordReader, shorten, type Parsed } from './json-record.ts';
import { shapeOf } from './json-shape.ts';
import { Outbox, type FileEnd, type SourceHead } from './reading.ts';
import type { SourceSpec } from './source.ts';
import { readText, sampleOf, type TextFile } from './text.ts';

/** As for an element of a JSON array. */
const MAX_LINE = 64 * 1024 * 1024;
const BLANK = /^[ \t\r]*$/;

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
): AsyncGenerator<readonly Unread[], FileEnd, undefined> {
  const outbox = new Outbox<Unread>();
  const reader = new RecordReader();
  /** A line whose end has not come yet. */
  let parts: Buffer[] = [];
  let length = 0;
  let number = 0;
  const takeLines = (bytes: Buffer): void => {
    // ASCII becomes text faster when it is known to be that.
    const text = bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8');
    for (let start = 0; start <= text.length;) {
      const end = text.indexOf('\n', start);
      const line = text.slice(start, end < 0 ? text.length : end);
      start += line.length + 1;
      number += 1;
      if (BLANK.test(line)) continue;
      const place = { source, file: file.shown, line: number, record: outbox.rows + 1 };
      outbox.add({ kind: 'unread', place, text: line, read: () => readLine(reader.read(line, shapeOf), place) });
    }
  };
  for await (const chunk of readText(file, hash)) {
    const end = chunk.lastIndexOf(0x0a);
    if (end >= 0) {
      takeLines(Buffer.concat([...parts, chunk.subarray(0, end)]));
      parts = [];
      length = 0;
    }
    parts.push(chunk.subarray(end + 1));
    length += chunk.length - end - 1;
    if (length > MAX_LINE) {
      throw new UserError(`${file.shown}:${number + 1}: this line is longer than 64 MiB`, {
        hint: 'NDJSON has one object a line; where the file is one array, say `format: json`',
      });
    }
    yield* outbox.take();
  }
  takeLines(Buffer.concat(parts));
  yield* outbox.take(true);
  return { rows: outbox.rows, notices: [], more: false };
}

function readLine(parsed: Parsed, place: Place): ReadItem {
  if ('value' in parsed) return { kind: 'row', place, raw: parsed.value, issues: [] };
  if ('issue' in parsed) return { kind: 'unreadable', place, ...parsed };
  const message = `the line is no JSON, from column ${parsed.at + 1} on: ${shorten(parsed.syntax)}`;
  return { kind: 'unreadable', place, issue: readError('no_json', message) };
}
