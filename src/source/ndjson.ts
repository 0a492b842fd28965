import type { Hash } from 'node:crypto';
import { UserError } from '../errors.ts';
import type { Place, ReadItem } from '../model.ts';
import { parseRecord, readError, shapeOf, shorten } from './json-record.ts';
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
  let parts: Buffer[] = [];
  let length = 0;
  let number = 0;
  const endLine = (last: Buffer): void => {
    number += 1;
    const line = parts.length > 0 ? Buffer.concat([...parts, last]) : last;
    parts = [];
    length = 0;
    if (isBlank(line)) return;
    outbox.add(readLine(line, { source, file: file.shown, line: number, record: outbox.rows + 1 }));
  };
  for await (const chunk of readText(file, hash)) {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
      endLine(chunk.subarray(start, end));
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
  endLine(Buffer.alloc(0));
  yield* outbox.take(true);
  return { rows: outbox.rows, notices: [], more: false };
}

function readLine(line: Buffer, place: Place): ReadItem {
  const text = line.toString('utf8');
  const parsed = parseRecord(text, shapeOf(line));
  if ('value' in parsed) return { kind: 'row', place, raw: parsed.value, issues: [] };
  if ('issue' in parsed) return { kind: 'unreadable', place, ...parsed };
  const message = `the line is no JSON, from column ${parsed.at + 1} on: ${shorten(parsed.syntax)}`;
  return { kind: 'unreadable', place, issue: readError('no_json', message) };
}

function isBlank(line: Buffer): boolean {
  return line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
