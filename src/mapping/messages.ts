/** Converts schema issues to problems that say what is wrong, where, and how to fix it. */
import type { z } from 'zod';
import { didYouMean, mistake, quoted, type Problem } from '../problem.ts';
import { isKeyed, type MappingDocument, type Path, WrittenScalar } from './document.ts';
import { DATA_KEYS, ENTRY_KEYS, issuesAsLikelyType } from './schema.ts';
import { EXPECTED } from './schema-parts.ts';

type SchemaIssue = z.core.$ZodIssue;

export function problemsOf(issues: readonly SchemaIssue[], document: MappingDocument): Problem[] {
  const found = placed(issues, []);
  const hidden = found.flatMap(({ issue, path }) => hiddenByType(issue, path, document));
  return [...found, ...hidden].flatMap(({ issue, path }) => problemOf(issue, path, document));
}

/** The other mistakes of an entry whose event type is unknown: those that it would have as the type that fits it best. */
function hiddenByType(issue: SchemaIssue, path: Path, document: MappingDocument): Placed[] {
  if (issue.code !== 'invalid_union' || path.at(-1) !== 'type') return [];
  const entry = valueAt(document.data, path.slice(0, -1));
  return isKeyed(entry) ? placed(issuesAsLikelyType(entry), path.slice(0, -1)) : [];
}

interface Placed {
  readonly issue: SchemaIssue;
  readonly path: Path;
}

/** The issues with full paths. Of a union, only the issues of the branch that was most likely meant. */
function placed(issues: readonly SchemaIssue[], base: Path): Placed[] {
  // A missing key may be there under a misspelt name: one error, not two.
  const misspelt = new Set(
    issues.filter((issue) => issue.code === 'unrecognized_keys').map((issue) => issue.path.join()),
  );
  const separate = issues.filter(
    (issue) => issue.code !== 'custom' || isMismatch(issue) || !misspelt.has(issue.path.join()),
  );
  return separate.flatMap((issue) => {
    const path = [...base, ...(issue.path as Path)];
    const branch = issue.code === 'invalid_union' ? likelyBranch(issue) : undefined;
    return branch ? placed(branch, path) : [{ issue, path }];
  });
}

/**
 * The branch whose issues are all nested deeper; else none, if the union has its own message; else the branch of the
 * right type.
 */
function likelyBranch(issue: Extract<SchemaIssue, { code: 'invalid_union' }>): readonly SchemaIssue[] | undefined {
  const inside = issue.errors.filter((branch) => branch.every((found) => found.path.length > 0));
  if (inside.length > 0) return inside.reduce((best, branch) => (depth(branch) > depth(best) ? branch : best));
  if (issue.message !== 'Invalid input') return undefined;
  return (
    issue.errors.find((branch) => !branch.some((found) => found.path.length === 0 && isMismatch(found))) ??
    issue.errors[0]
  );
}

function depth(branch: readonly SchemaIssue[]): number {
  return Math.max(...branch.map((issue) => issue.path.length));
}

function isMismatch(issue: SchemaIssue): boolean {
  if (issue.code === 'custom') return issue.params?.[EXPECTED] !== undefined;
  return issue.code === 'invalid_type' || issue.code === 'invalid_value';
}

function problemOf(issue: SchemaIssue, path: Path, document: MappingDocument): Problem[] {
  const found = valueAt(document.data, path);
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => unknownKey(key, issue.message.split('\n'), path, document));
  if (found === undefined && path.length > 0)
    return [mistake('missing_key', `missing \`${String(path.at(-1))}\``, document.locate(path.slice(0, -1), 'key'))];
  const at = document.locate(path, issue.code === 'invalid_key' ? 'key' : 'value');
  const [message, ...advice] = isMismatch(issue) ? mismatch(issue, found) : messageAndHint(issue).split('\n');
  return [mistake('bad_value', message!, at, advice.join(' ') || undefined)];
}

function messageAndHint(issue: SchemaIssue): string {
  if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? issue.message;
  if (issue.code === 'too_small') return 'the list is empty\nadd an item or remove the key';
  return issue.message;
}

/** The message, and a hint if there is one. */
function mismatch(issue: SchemaIssue, found: unknown): readonly string[] {
  if (issue.code === 'invalid_value') {
    const words = issue.values.map(String);
    const text = found instanceof WrittenScalar ? found.text : found;
    const near = typeof text === 'string' && text.length > 1 ? didYouMean(text, words) : undefined;
    return [`${described(found)} must be one of ${quoted(words)}`, near ?? ''];
  }
  const type = issue.code === 'invalid_type' ? TYPES[issue.expected] : undefined;
  const expected = issue.code === 'custom' ? String(issue.params?.[EXPECTED]) : type;
  const hint =
    found === null ? `add a value or remove the key; ${QUOTE}` : isKeyed(found) && expected === 'text' ? QUOTE : '';
  return [`expected ${expected ?? 'something else'}, found ${described(found)}`, hint];
}

const QUOTE = 'text that begins with #, { or [ must be quoted';

const TYPES: Partial<Record<string, string>> = {
  object: 'a map of keys and values',
  record: 'a map of keys and values',
  array: 'a list',
};

function described(found: unknown): string {
  if (found === null) return 'nothing';
  if (typeof found === 'string') return `\`${found}\``;
  if (found instanceof WrittenScalar) return `\`${found.text}\``;
  return Array.isArray(found) ? 'a list' : 'a map';
}

function unknownKey(key: string, known: readonly string[], path: Path, document: MappingDocument): Problem {
  const holder = valueAt(document.data, path) as Record<string, unknown>;
  const at = document.locate([...path, key], 'key');
  const keys = path.length === 2 ? ENTRY_KEYS : path.length === 3 && path[2] === 'data' ? DATA_KEYS : undefined;
  const types = path[0] === 'events' ? keys?.get(key) : undefined;
  if (types) {
    const what =
      path.length === 2 ? `\`${key}\` does not apply to this event type` : `this event type has no field \`${key}\``;
    return mistake('unknown_key', what, at, `available for ${quoted(types)}`);
  }
  const quote = holder[key] === null ? QUOTE : undefined;
  const hint = didYouMean(key, known) ?? quote ?? `available keys: ${quoted(known)}`;
  return mistake('unknown_key', `unknown key \`${key}\``, at, hint);
}

function valueAt(data: unknown, path: Path): unknown {
  let current = data;
  for (const step of path) {
    if (typeof current !== 'object' || current === null || current instanceof WrittenScalar) return undefined;
    if (!Object.hasOwn(current, step)) return undefined;
    current = (current as Record<string | number, unknown>)[step];
  }
  return current;
}
