/** Writes the lines of a draft as YAML, each with its comment. Whatever stands in an export's names stays within its line. */
import { Document, visit, type ToStringOptions } from 'yaml';
import type { Column, Table } from '../columns.ts';
import type { EventType } from '../../../model.ts';
import type { ConditionSpec } from '../../../mapping/spec.ts';

/** One key of an entry or of its data. */
export interface Line {
  readonly key: string;
  readonly value: unknown;
  readonly comment?: string | undefined;
  /** Commented out: what is not decided. */
  readonly off?: boolean | undefined;
  /** Of a `when`, why it skips records, and how many, where that is known before the trial. */
  readonly skips?: readonly SkipCount[];
}

export interface SkipCount {
  /** Without a number before it: `those without a text`. */
  readonly why: string;
  /** Those that no reason before it skips. */
  readonly count?: number | undefined;
}

/** An item of `events`. */
export interface Entry {
  readonly table: Table;
  readonly type: EventType;
  readonly source: string;
  /** Comments about the whole entry. */
  readonly above: readonly string[];
  readonly settings: readonly Line[];
  readonly data: readonly Line[];
  /** One level deeper. */
  readonly custom: readonly Line[];
  /** Why the program refuses it, or why it is only a proposal: then it is commented out. */
  readonly refused?: string;
  readonly isProposal?: true;
}

const PARTS = ['settings', 'data', 'custom'] as const;

/** The lines of an entry, by a name that no other has. */
export function linesOf(entry: Entry): Map<string, Line> {
  return new Map(PARTS.flatMap((part) => entry[part].map((line) => [`${part}.${line.key}`, line] as const)));
}

/** An entry with other lines. `place`: the name of a line. */
export function withLines(entry: Entry, change: (line: Line, place: string) => Line): Entry {
  const parts = PARTS.map((part) => [part, entry[part].map((line) => change(line, `${part}.${line.key}`))]);
  return { ...entry, ...(Object.fromEntries(parts) as Pick<Entry, (typeof PARTS)[number]>) };
}

/** Longer values are written over several lines, unless they are commented out. */
const MAX_WIDTH = 110;
/** Of a comment that quotes the export. */
const MAX_COMMENT = 600;

export function lineText({ key, value, comment, off }: Line, indent: number): string {
  const remark = comment === undefined ? '' : ` ${remarkText(comment)}`;
  const margin = ' '.repeat(indent) + (off ? '# ' : '');
  const text = flow(value);
  const name = flow(key);
  if (text.length <= MAX_WIDTH || off) return `${margin}${name}: ${text}${remark}`;
  const deeper = toYaml(value, {})
    .split('\n')
    .map((line) => `${margin}  ${line}`);
  return [`${margin}${name}:${remark}`, ...deeper].join('\n');
}

export function isOpen({ comment }: Line): boolean {
  return /^(?:set this|check)\b/.test(comment ?? '');
}

/** Without its mark. */
export function plainComment({ comment }: Pick<Line, 'comment'>): string {
  return (comment ?? '').replace(/^(?:set this|check)(?:: )?/, '');
}

/** A comment on one line. */
export function remarkText(comment: string): string {
  const plain = comment.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ');
  return `# ${plain.length > MAX_COMMENT ? `${plain.slice(0, MAX_COMMENT)}…` : plain}`;
}

/** A value of the mapping on one line, quoted where YAML needs it. */
export function flow(value: unknown): string {
  // Not within quotes.
  const padded = /'(?:[^']|'')*'|"(?:[^"\\]|\\.)*"|\[ | \]/g;
  return toYaml(value, { collectionStyle: 'flow' }).replace(padded, (text) =>
    /^["']/.test(text) ? text : text.trim(),
  );
}

/** Quotes texts with line breaks on one line, because block scalars are not allowed in flow collections. */
function toYaml(value: unknown, options: ToStringOptions): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === 'string' && /[\p{Cc}\p{Zl}\p{Zp}]/u.test(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  const oneLine = { lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER };
  return document.toString({ ...oneLine, singleQuote: true, ...options }).trimEnd();
}

/** A column or path that a value reads: of its own record, or of the one that a lookup finds in `source`. */
export interface Read {
  readonly path: string;
  readonly source: string | undefined;
}

/** What a value of the mapping or a condition reads. */
export function* readsOf(value: unknown, source?: string): Generator<Read> {
  if (typeof value === 'string') yield { path: value, source };
  else if (Array.isArray(value)) for (const each of value as readonly unknown[]) yield* readsOf(each, source);
  else if (typeof value === 'object' && value !== null) {
    const { from, list, all, template, lookup } = value as ConditionSpec;
    const inTemplate = [...(template ?? '').matchAll(/\{([^{}]+)\}/g)].map(([, path]) => path);
    yield* readsOf([from, list, all, inTemplate, lookup?.with], source);
    if (lookup) yield* readsOf([lookup.match, lookup.take], lookup.source);
  }
}

/**
 * A value with other columns or paths of its own record. `change`: what a path becomes, a constant also in a template; undefined if
 * it is left out, and with it what reads nothing else. `lookup`: what becomes of a lookup, whose own value is changed already.
 */
export function withPaths(
  value: unknown,
  change: (path: string) => unknown,
  lookup: (spec: Record<string, unknown>) => unknown = (spec) => spec,
): unknown {
  const inside = (each: unknown): unknown => withPaths(each, change, lookup);
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) {
    const kept = value.map(inside).filter((each) => each !== undefined);
    return kept.length > 0 || value.length === 0 ? kept : undefined;
  }
  if (typeof value !== 'object' || value === null) return value;
  const own: Record<string, unknown> = { ...value };
  for (const key of ['from', 'list', 'all', 'any', 'not', 'with'].filter((each) => each in own)) {
    own[key] = inside(own[key]);
    if (own[key] === undefined) return undefined;
  }
  if (typeof own['template'] === 'string')
    own['template'] = own['template'].replace(/\{([^{}]+)\}/g, (_, path: string) => {
      const found = change(path);
      return typeof found === 'string' ? `{${found}}` : String((found as { value: string } | undefined)?.value ?? '');
    });
  if (!('lookup' in own)) return own;
  own['lookup'] = inside(own['lookup']);
  return own['lookup'] === undefined ? undefined : lookup(own);
}

/** Whether a value reads a column of its own record. */
export function reads(value: unknown, { name }: Column): boolean {
  return [...readsOf(value)].some(({ path, source }) => source === undefined && path === name);
}
