import type { Hash } from 'node:crypto';
import { UserError } from '../../errors.ts';
import type { InputFile } from '../files.ts';
import type { FileEnd, TreeFile, TreeRecord } from '../format.ts';
import { formatPath, parsePath, type JsonPathStep } from './path.ts';
import { PageSigns } from './pages.ts';
import { errorWithin, JsonError, parseRecord } from './record.ts';
import { ElementScanner } from './scanner.ts';
import { SettingError, type SourceSpec } from '../source.ts';
import { openText, readText, type TextFile } from '../text/text.ts';

/** Opens a JSON file that contains an array of records. Throws a `UserError` if it does not. */
export async function openJson(input: InputFile, spec: SourceSpec): Promise<TreeFile> {
  const path = parsePath(spec.records);
  const { file, encoding, notices } = await openText(input, spec);
  await findArray(file, path);
  const what = path.length > 0 ? `JSON array at \`${formatPath(path)}\`` : 'JSON array';
  return { kind: 'tree', file, traits: [what, encoding], notices, read: (hash) => readJson(file, path, hash) };
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

async function* readJson(
  file: TextFile,
  path: readonly JsonPathStep[],
  hash: Hash,
): AsyncGenerator<readonly TreeRecord[], FileEnd, undefined> {
  const signs = new PageSigns();
  const scanner = new ElementScanner(path, (name, value) => signs.take(name, value));
  try {
    for await (const chunk of readText(file, hash)) {
      yield scanner.scan(chunk).map((element): TreeRecord => {
        const { text, line, column } = element;
        const parsed = parseRecord(text, element);
        if ('syntax' in parsed) throw errorWithin(text, parsed.at, parsed.syntax, line, column);
        if ('issue' in parsed) return { line, issue: parsed.issue, raw: parsed.raw };
        // Of a record over several lines, the plan has a text of its own.
        return { line, raw: parsed.value, ...(/[\r\n]/.test(text) ? {} : { text }) };
      });
    }
    scanner.finish();
  } catch (error) {
    throw located(file, error);
  }
  return { more: signs.more, total: signs.total, others: scanner.arrays };
}

function located(file: TextFile, error: unknown): unknown {
  if (!(error instanceof JsonError)) return error;
  const { line, column, hint, arrays } = error;
  const message = `${file.shown}:${line}:${column}: ${error.message}`;
  if (arrays.length > 0) return new SettingError('records', message, { hint: hint!, choices: arrays, cause: error });
  return new UserError(message, { ...(hint === undefined ? {} : { hint }), cause: error });
}
