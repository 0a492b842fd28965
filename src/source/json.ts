import type { Hash } from 'node:crypto';
import { UserError } from '../errors.ts';
import type { Place, ReadItem } from '../model.ts';
import { faultWithin, JsonFault } from './json-fault.ts';
import { formatPath, parsePath, type Step } from './json-path.ts';
import { parseRecord } from './json-record.ts';
import { ElementScanner, type Element } from './json-scanner.ts';
import { Outbox, type FileEnd, type SourceHead } from './reading.ts';
import type { SourceSpec } from './source.ts';
import { readText, type TextFile } from './text.ts';

/** How the APIs of the known CRMs say that an answer is one page and another follows. */
const MORE_PAGES = new Map<string, (value: unknown) => boolean>([
  ['has_more', (value) => value === true],
  ['done', (value) => value === false],
  ['info.more_records', (value) => value === true],
  ['additional_data.pagination.more_items_in_collection', (value) => value === true],
  ['paging.next', (value) => value !== null && value !== false && value !== ''],
]);

/** Opens JSON files that hold an array of records. Throws a `UserError` where one does not. */
export async function openTree(spec: SourceSpec, files: readonly TextFile[]): Promise<SourceHead> {
  const path = parsePath(spec.records);
  for (const file of files) await findArray(file, path);
  const encodings = [...new Set(files.map(({ encoding }) => encoding.name))].join(' and ');
  const where = path.length > 0 ? `array at \`${formatPath(path)}\`` : 'array';
  return {
    name: spec.name,
    kind: 'tree',
    columns: [],
    duplicateColumns: new Set(),
    description: `${files.length > 1 ? `${files.length} files, ` : ''}JSON ${where}, ${encodings}`,
    parts: files.map((file) => ({ file, read: (hash) => readTree(spec.name, file, path, hash) })),
    notices: [],
  };
}

async function findArray(file: TextFile, path: readonly Step[]): Promise<void> {
  const scanner = new ElementScanner(path, () => undefined);
  try {
    for await (const chunk of readText(file)) {
      scanner.scan(chunk);
      if (scanner.found) return;
    }
    scanner.finish();
  } catch (error) {
    throw located(file, error);
  }
}

async function* readTree(
  source: string,
  file: TextFile,
  path: readonly Step[],
  hash: Hash,
): AsyncGenerator<readonly ReadItem[], FileEnd, undefined> {
  const outbox = new Outbox();
  let more = false;
  const scanner = new ElementScanner(path, (name, value) => {
    if (MORE_PAGES.get(name)?.(value)) more = true;
  });
  try {
    for await (const chunk of readText(file, hash)) {
      for (const element of scanner.scan(chunk)) {
        const place = { source, file: file.shown, line: element.line, record: outbox.rows + 1 };
        outbox.add(read(element, file, place));
      }
      yield* outbox.take();
    }
    scanner.finish();
  } catch (error) {
    throw located(file, error);
  }
  return { rows: outbox.rows, notices: [], more };
}

function read(element: Element, file: TextFile, place: Place): ReadItem {
  const parsed = parseRecord(element.text, element);
  if ('value' in parsed) return { kind: 'row', place, raw: parsed.value, issues: [] };
  if ('issue' in parsed) return { kind: 'unreadable', place, ...parsed };
  throw located(file, faultWithin(element.text, parsed.at, parsed.syntax, element.line, element.column));
}

function located(file: TextFile, error: unknown): unknown {
  if (!(error instanceof JsonFault)) return error;
  return new UserError(`${file.shown}:${error.line}:${error.column}: ${error.message}`, {
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    cause: error,
  });
}
