import type { LookupSpec } from '../mapping/spec.ts';
import { block, flow } from './value-text.ts';

/** One key of an entry or of its data. */
export interface EntryLine {
  readonly key: string;
  /** Commented out: an example of what somebody may set. */
  readonly off?: true;
  readonly value: unknown;
  readonly comment?: string | undefined;
  /** Of custom fields: the comments by their keys. */
  readonly comments?: ReadonlyMap<string, string>;
}

/** Longer values are written over several lines, unless they are commented out. */
const MAX_WIDTH = 110;

/** Names in the old CRM that may differ in the target account, with their counts in the sample. */
export type CrmNames = readonly [kind: 'pipelines' | 'stages' | 'owners', counts: Iterable<readonly [string, number]>];

/** An item of `events` as YAML. */
export interface EntryText {
  readonly text: string;
  /** The sources that it reads: its own, and those of its lookups. */
  readonly reads: ReadonlySet<string>;
  readonly names: readonly CrmNames[];
}

/**
 * An item of `events`, with a comment per key. The custom fields of `data` are nested one level deeper. `above`: comments
 * about the whole entry.
 */
export function entryText(
  type: string,
  source: string,
  settings: readonly EntryLine[],
  data: readonly EntryLine[],
  { above = [], names = [] }: { readonly above?: readonly string[]; readonly names?: readonly CrmNames[] } = {},
): EntryText {
  const lines = [
    ...above.map((comment) => `  # ${comment}`),
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
  const lookups = lookupsIn([...settings, ...data]);
  return { text: lines.join('\n'), reads: new Set([source, ...lookups.map((lookup) => lookup.source)]), names };
}

/** The lookups in a value of the mapping, at any depth. */
export function lookupsIn(value: unknown): LookupSpec[] {
  if (typeof value !== 'object' || value === null) return [];
  const { lookup } = value as { lookup?: LookupSpec };
  return [...(lookup ? [lookup] : []), ...Object.values(value).flatMap((each: unknown) => lookupsIn(each))];
}

function lineText({ key, value, comment, off }: EntryLine, indent: number): string {
  const remark = comment === undefined ? '' : ` # ${comment}`;
  const margin = ' '.repeat(indent) + (off ? '# ' : '');
  const text = flow(value);
  if (text.length <= MAX_WIDTH || off) return `${margin}${key}: ${text}${remark}`;
  const deeper = block(value)
    .split('\n')
    .map((line) => `${margin}  ${line}`);
  return [`${margin}${key}:${remark}`, ...deeper].join('\n');
}
