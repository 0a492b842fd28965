import type { Hash } from 'node:crypto';
import { UserError } from '../../errors.ts';
import type { InputFile } from '../files.ts';
import type { FileEnd, TreeFile, TreeRecord } from '../format.ts';
import { ONE_PER_LINE } from './path.ts';
import { parseRecord, shapeOf } from './record.ts';
import { MAX_RECORD, shorten } from '../reading.ts';
import type { SourceSpec } from '../source.ts';
import { openText, readText, sampleOf, type TextFile } from '../text/text.ts';
import { issueOf } from '../../report/words/words.ts';

/** Blank lines, and the Ctrl-Z with which old programs end a file. */
const BLANK = /^[ \t\r]*\x1a?[ \t\r]*$/;

/** Opens a file with one JSON object per line. Throws a `UserError` if it is empty. */
export async function openNdjson(input: InputFile, spec: SourceSpec): Promise<TreeFile> {
  const { file, encoding, notices } = await openText(input, spec);
  const { text, whole } = await sampleOf(file);
  const start = text.toString('utf8').trimStart();
  if (whole && start === '') throw new UserError(`${file.label} is empty`, { hint: 'export it again' });
  if (/^(?:\[|\{\s*\n)/.test(start)) {
    throw new UserError(`${file.label} is not NDJSON: its first line is not a complete object`, {
      hint: /^\s*\}\s*\{/m.test(start) ? ONE_PER_LINE : 'if the whole file is one JSON value, set `format: json`',
    });
  }
  return { kind: 'tree', file, traits: ['NDJSON', encoding], notices, read: (hash) => readLines(file, hash) };
}

async function* readLines(file: TextFile, hash: Hash): AsyncGenerator<readonly TreeRecord[], FileEnd, undefined> {
  /** The beginning of a line whose end has not been read yet. */
  let rest = '';
  let number = 0;
  const recordIn = (text: string): readonly TreeRecord[] => {
    const line = (number += 1);
    if (BLANK.test(text)) return [];
    const parsed = parseRecord(text, shapeOf(text));
    // Stored as one line, also where lines end with CR LF.
    const plain = text.trimEnd();
    if ('value' in parsed) return [{ line, raw: parsed.value, ...(plain.includes('\r') ? {} : { text: plain }) }];
    if ('issue' in parsed) return [{ line, issue: parsed.issue, raw: parsed.raw }];
    return [{ line, issue: issueOf('no_json', parsed.at + 1, shorten(parsed.syntax)) }];
  };
  for await (const chunk of readText(file, hash)) {
    const lines = chunk.toString('utf8').split('\n');
    lines[0] = rest + lines[0]!;
    rest = lines.pop()!;
    yield lines.flatMap(recordIn);
    if (rest.length > MAX_RECORD) {
      throw new UserError(`${file.label}:${number + 1}:1: this line is longer than 16 MiB`, {
        hint: 'NDJSON has one object per line; if the whole file is one array, set `format: json`',
      });
    }
  }
  yield recordIn(rest);
  return {};
}
