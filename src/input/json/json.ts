import type { Hash } from 'node:crypto';
import { UserError } from '../../errors.ts';
import type { ReadItem } from '../../model.ts';
import { formatPath, parsePath, type JsonPathStep } from './path.ts';
import { errorWithin, JsonError, parseRecord } from './record.ts';
import { ElementScanner } from './scanner.ts';
import { Items, treeHead, type FileResult, type SourceHead } from '../reading.ts';
import { SettingError, type SourceSpec } from '../source.ts';
import type { TextFile } from '../encoding.ts';
import { readText } from '../text.ts';

/** How the APIs of common CRMs say that a response is one page and that there are more. */
const MORE_PAGES = new Map<string, (value: unknown) => boolean>([
  ['has_more', (value) => value === true],
  ['done', (value) => value === false],
  ['info.more_records', (value) => value === true],
  ['additional_data.pagination.more_items_in_collection', (value) => value === true],
  ['paging.next', (value) => value !== null && value !== false && value !== ''],
]);

/** Opens JSON files that contain an array of records. Throws a `UserError` if one does not. */
export async function openTree(spec: SourceSpec, files: readonly TextFile[]): Promise<SourceHead> {
  const path = parsePath(spec.records);
  for (const file of files) await findArray(file, path);
  const what = path.length > 0 ? `JSON array at \`${formatPath(path)}\`` : 'JSON array';
  return treeHead(spec.name, what, files, (file, hash) => readTree(spec.name, file, path, hash));
}

async function findArray(file: TextFile, path: readonly JsonPathStep[]): Promise<void> {
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
  path: readonly JsonPathStep[],
  hash: Hash,
): AsyncGenerator<readonly ReadItem[], FileResult, undefined> {
  const items = new Items(source, file);
  let more = false;
  const scanner = new ElementScanner(path, (name, value) => {
    if (MORE_PAGES.get(name)?.(value)) more = true;
  });
  try {
    for await (const chunk of readText(file, hash)) {
      for (const element of scanner.scan(chunk)) {
        const parsed = parseRecord(element.text, element);
        if ('syntax' in parsed) throw errorWithin(element.text, parsed.at, parsed.syntax, element.line, element.column);
        if ('issue' in parsed) items.unreadable(element.line, parsed.issue, parsed.raw);
        // Of a record over several lines, the plan has a text of its own.
        else
          items.row(element.line, {
            raw: parsed.value,
            ...(element.text.includes('\n') ? {} : { text: element.text }),
          });
      }
      yield items.take();
    }
    scanner.finish();
  } catch (error) {
    throw located(file, error);
  }
  return { rows: items.count, notices: [], more, arrays: scanner.arrays };
}

function located(file: TextFile, error: unknown): unknown {
  if (!(error instanceof JsonError)) return error;
  const { line, column, hint, arrays } = error;
  const message = `${file.shown}:${line}:${column}: ${error.message}`;
  if (arrays.length > 0) return new SettingError('records', message, { hint: hint!, choices: arrays, cause: error });
  return new UserError(message, { ...(hint === undefined ? {} : { hint }), cause: error });
}
