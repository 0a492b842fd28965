import { block, flow } from './value-text.ts';

/** One key of an entry or of its data. */
export interface EntryLine {
  readonly key: string;
  readonly value: unknown;
  readonly comment?: string | undefined;
  /** Of custom fields: the comments by their keys. */
  readonly comments?: ReadonlyMap<string, string>;
}

/** Longer values are written over several lines, unless they are commented out. */
const MAX_WIDTH = 110;

/** An item of `events`, with a comment per key. The custom fields of `data` are nested one level deeper. */
export function entryText(
  type: string,
  source: string,
  settings: readonly EntryLine[],
  data: readonly EntryLine[],
): string {
  const lines = [
    `  - type: ${type}`,
    `    source: ${flow(source)}`,
    ...settings.map((line) => lineText(line, 4)),
    '    data:',
  ];
  for (const line of data) {
    if (!/^custom_/.test(line.key)) lines.push(lineText(line, 6));
    else {
      const fields = Object.entries(line.value as Readonly<Record<string, unknown>>);
      if (fields.length > 0) lines.push(`      ${line.key}:`);
      for (const [key, value] of fields) lines.push(lineText({ key, value, comment: line.comments?.get(key) }, 8));
    }
  }
  return lines.join('\n');
}

function lineText({ key, value, comment }: EntryLine, indent: number): string {
  const remark = comment === undefined ? '' : ` # ${comment}`;
  const margin = ' '.repeat(indent);
  const text = flow(value);
  if (text.length <= MAX_WIDTH || key.startsWith('#')) return `${margin}${key}: ${text}${remark}`;
  const deeper = block(value)
    .split('\n')
    .map((line) => `${margin}  ${line}`);
  return [`${margin}${key}:${remark}`, ...deeper].join('\n');
}
