/** `"{First Name} {Last Name}"`: paths in braces, `{{` and `}}` for braces themselves. */
import { textWith, type JsonValue } from '../../json.ts';
import * as part from '../schema-parts.ts';
import { compileColumn, type ValueContext } from '../values/compile-context.ts';
import { ABSENT, textOf, valueText, withOriginal, type Evaluate, type Result } from '../values/result.ts';
import { issueOf } from '../../report/words/words.ts';
import { kind } from './kind.ts';
import { Problem } from '../../problem.ts';

type TemplatePart = { readonly literal: string } | { readonly path: string };

const PIECE = /\{\{|\}\}|\{([^{}]*)\}|[{}]|[^{}]+/g;

/** The parts in order. An unmatched brace is literal; `templateError` reports it. */
export function parseTemplate(template: string): readonly TemplatePart[] {
  const parts: TemplatePart[] = [];
  let literal = '';
  for (const [piece, path] of template.matchAll(PIECE)) {
    if (path === undefined) {
      literal += piece === '{{' ? '{' : piece === '}}' ? '}' : piece;
      continue;
    }
    if (literal !== '') parts.push({ literal });
    literal = '';
    parts.push({ path: path.trim() });
  }
  if (literal !== '') parts.push({ literal });
  return parts;
}

/** The error in a template, with a hint after a line break, or undefined. */
export function templateError(template: string): string | undefined {
  let paths = 0;
  for (const [piece, path] of template.matchAll(PIECE)) {
    if (piece === '{' || piece === '}')
      return `unmatched \`${piece}\` in the template\nuse \`${piece}${piece}\` for a literal brace`;
    if (path === undefined) continue;
    if (path.trim() === '') return 'empty `{}` in the template\nadd a column or path between the braces';
    paths += 1;
  }
  return paths > 0
    ? undefined
    : 'the template contains no column\nadd one in braces (`"{First Name}"`), or use `value` for a constant';
}

export const template = kind<string>({
  schema: () => part.checked(part.text, templateError),
  shape: () => 'scalar',
  words: (source) => ({ from: valueText(source), how: ['with the columns in braces replaced by their values'] }),
  read: readTemplate,
});

/**
 * A record's own id needs all parts, a parent's id all or none: a partial id could match another record. `ABSENT` if the export has none
 * of the columns, or not all of an id.
 */
function readTemplate(source: string, context: ValueContext): Evaluate {
  const { kind } = context;
  const pieces = parseTemplate(source);
  const isComposite = (kind === 'id' || kind === 'parent') && pieces.filter((piece) => 'path' in piece).length > 1;
  const inside = isComposite ? { ...context, decides: 'composite id' } : context;
  const parts = pieces.map((piece) =>
    'literal' in piece ? piece.literal : { path: piece.path, evaluate: compileColumn(piece.path, inside) },
  );
  const absent = parts.map((part) => typeof part !== 'string' && part.evaluate === ABSENT);
  if (absent.includes(true) && (isComposite || parts.every((part, at) => typeof part === 'string' || absent[at])))
    return ABSENT;
  return (row) => {
    let text = '';
    let found = 0;
    let missing: string | undefined;
    const values: JsonValue[] = [];
    for (const part of parts) {
      if (typeof part === 'string') {
        text += part;
        continue;
      }
      const result = part.evaluate(row);
      const piece = partText(result);
      if (piece instanceof Problem) return piece;
      if (piece === undefined) missing = part.path;
      else {
        text += piece;
        values.push(result as JsonValue);
        found += 1;
      }
    }
    if (missing !== undefined && (kind === 'id' || (kind === 'parent' && found > 0))) {
      return withOriginal(issueOf('missing_part', missing), text);
    }
    return found === 0 ? undefined : textWith(text, values);
  };
}

function partText(result: Result): string | undefined | Problem {
  if (result === undefined || result instanceof Problem) return result;
  const text = textOf(result);
  if (text !== undefined) return text;
  return withOriginal(issueOf('list_value', valueText(result)), result);
}
