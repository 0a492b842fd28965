import type { Hash } from 'node:crypto';
import { UserError } from '../../errors.ts';
import type { ReadItem } from '../../model.ts';
import { parseRecord } from './record.ts';
import { shapeOf } from './shape.ts';
import { Items, MAX_RECORD, shorten, treeHead, type FileResult, type SourceHead } from '../reading.ts';
import type { SourceSpec } from '../source.ts';
import type { TextFile } from '../encoding.ts';
import { readText, sampleOf } from '../text.ts';
import { issueOf } from '../../vocabulary/words.ts';

/** Blank lines, and the Ctrl-Z with which old programs end a file. */
const BLANK = /^[ \t\r]*\x1a?[ \t\r]*$/;

/** Opens files with one JSON object per line. Throws a `UserError` if one is empty. */
export async function openLines(spec: SourceSpec, files: readonly TextFile[]): Promise<SourceHead> {
  for (const file of files) {
    const { text, whole } = await sampleOf(file);
    const start = text.toString('utf8').trimStart();
    if (whole && start === '') throw new UserError(`${file.shown} is empty`, { hint: 'export it again' });
    if (/^(?:\[|\{\s*\n)/.test(start)) {
      throw new UserError(`${file.shown} is not NDJSON: its first line is not a complete object`, {
        hint: 'if the whole file is one JSON value, set `format: json`',
      });
    }
  }
  return treeHead(spec.name, 'NDJSON', files, (file, hash) => readLines(spec.name, file, hash));
}

async function* readLines(
  source: string,
  file: TextFile,
  hash: Hash,
): AsyncGenerator<readonly ReadItem[], FileResult, undefined> {
  const items = new Items(source, file);
  /** The beginning of a line whose end has not been read yet. */
  let rest = '';
  let number = 0;
  const takeLine = (line: string): void => {
    number += 1;
    if (BLANK.test(line)) return;
    const parsed = parseRecord(line, shapeOf(line));
    if ('value' in parsed) items.row(number, { raw: parsed.value, text: line });
    else if ('issue' in parsed) items.unreadable(number, parsed.issue, parsed.raw);
    else items.unreadable(number, issueOf('no_json', parsed.at + 1, shorten(parsed.syntax)));
  };
  for await (const chunk of readText(file, hash)) {
    const lines = chunk.toString('utf8').split('\n');
    lines[0] = rest + lines[0]!;
    rest = lines.pop()!;
    for (const line of lines) takeLine(line);
    if (rest.length > MAX_RECORD) {
      throw new UserError(`${file.shown}:${number + 1}:1: this line is longer than 16 MiB`, {
        hint: 'NDJSON has one object per line; if the whole file is one array, set `format: json`',
      });
    }
    yield items.take();
  }
  takeLine(rest);
  yield items.take();
  return { rows: items.count, notices: [], more: false };
}
