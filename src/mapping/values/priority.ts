/** `priority` of an entry: which records are sent first. */
import type { JsonValue } from '../../json.ts';
import { PRIORITIES } from '../../model.ts';
import type { Path } from '../document.ts';
import { isAlternatives, transformOf, type ValueSpec } from '../spec.ts';
import { valueText } from './result.ts';
import { asText } from './value.ts';
import { numberText } from '../../report/words/numbers.ts';
import { issueOf } from '../../report/words/words.ts';
import { Problem } from '../../problem.ts';

const BOUNDS = [PRIORITIES.lowest, PRIORITIES.highest].map(numberText);
const PRIORITY_RULE = `use a whole number between ${BOUNDS.join(' and ')}`;

/** A whole number, or a text that is one: `1`, `-5`, `2.0`. */
export function asPriority(value: JsonValue): number | Problem {
  const text = asText(value);
  if (text instanceof Problem) return text;
  const number = /^[+-]?\d+(?:\.0+)?$/.test(text) ? Number(text) : NaN;
  if (number >= PRIORITIES.lowest && number <= PRIORITIES.highest) return number;
  return issueOf('bad_priority', valueText(text)).with({ hint: PRIORITY_RULE });
}

/** The constants in a priority that are none: the number itself, `value`, `default`, and what a final `map` yields. */
export function* wrongPriorities(spec: ValueSpec | number, path: Path): Generator<{ path: Path; error: Problem }> {
  for (const { constant, at } of constantsOf(spec, path)) {
    const result = asPriority(constant);
    if (result instanceof Problem) yield { path: at, error: result };
  }
}

function* constantsOf(spec: ValueSpec | number, path: Path): Generator<{ constant: JsonValue; at: Path }> {
  // A text is a column, but no column is named `1.5` by intention.
  if (typeof spec === 'number' || (typeof spec === 'string' && spec !== '' && Number.isFinite(Number(spec)))) {
    yield { constant: spec, at: path };
  }
  if (typeof spec !== 'object') return;
  const { from, value, apply = [], default: otherwise } = spec;
  if (otherwise !== undefined) yield { constant: otherwise, at: [...path, 'default'] };
  if (apply.length === 0 && value !== undefined) yield { constant: value, at: [...path, 'value'] };
  if (apply.length === 0 && isAlternatives(from)) {
    for (const [index, each] of from.entries()) yield* constantsOf(each, [...path, 'from', index]);
  }
  const [last, argument] = apply.length === 0 ? [] : transformOf(apply.at(-1)!);
  if (last !== 'map') return;
  for (const [key, target] of Object.entries(argument as Readonly<Record<string, string | null>>)) {
    if (target !== null && target !== '=') {
      yield { constant: target, at: [...path, 'apply', apply.length - 1, 'map', key] };
    }
  }
}
