import type jsonata from 'jsonata';
import type { Expression, JsonataOptions } from 'jsonata';
import { RE2JS } from 're2js';
import { compilePattern } from '../pattern.ts';
import { numberText } from '../../numbers.ts';

/** What the evaluation of an expression may use, for one value: far more than any mapping needs. */
const MOST = {
  steps: 1_000_000,
  /** Levels of nested function calls and operators. */
  depth: 1000,
  /** Only a safeguard: whether an expression fits the other limits does not depend on the machine. */
  milliseconds: 5000,
  /** Elements of a list that the expression makes. */
  elements: 20_000,
  /** Characters and members of a value, those of its members included. */
  size: 16 * 1024 * 1024,
};

/** Called by JSONata with each result within an evaluation. */
const EVALUATE_EXIT = Symbol.for('jsonata.__evaluate_exit');

/** A JSONata expression that cannot hang the run or exhaust its memory: beyond a limit, its evaluation throws. */
export class LimitedExpression {
  readonly #expression: Expression;
  #steps = 0;
  #sizes = new WeakMap<object, number>();

  constructor(library: typeof jsonata, source: string) {
    const { depth, milliseconds, elements } = MOST;
    this.#expression = library(source, {
      stack: depth,
      timeout: milliseconds,
      sequence: elements,
      RegexEngine: regexEngine(() => this.#step()),
    });
    this.#expression.assign(EVALUATE_EXIT as unknown as string, ({ type }: { type: string }, ...rest: unknown[]) =>
      this.#take(type, rest[2]),
    );
    this.#expression.registerFunction('pad', pad, '<s-ns?:s>');
  }

  /** The result; throws an error or an object of JSONata with a message. One evaluation at a time. */
  async evaluate(input: unknown, bindings: Record<string, unknown>): Promise<unknown> {
    this.#steps = 0;
    this.#sizes = new WeakMap();
    return this.#expression.evaluate(input, bindings);
  }

  #step(): void {
    this.#steps += 1;
    if (this.#steps > MOST.steps) throw new Error(`it takes more than ${numberText(MOST.steps)} steps`);
  }

  #take(type: string, result: unknown): void {
    this.#step();
    // A function is not data: what it refers to has no size.
    if (type === 'lambda') this.#sizes.set(result as object, 0);
    else if (this.#sizeOf(result) > MOST.size) throw tooLarge();
  }

  /** Members that a value contains more than once are counted each time, as they would be in JSON. */
  #sizeOf(value: unknown): number {
    if (typeof value === 'string') return value.length + 1;
    if (typeof value !== 'object' || value === null) return 1;
    const known = this.#sizes.get(value);
    if (known !== undefined) return known;
    this.#sizes.set(value, 1);
    let size = 1;
    for (const member of Object.values(value)) size += this.#sizeOf(member);
    this.#sizes.set(value, size);
    return size;
  }
}

function tooLarge(): Error {
  return new Error(`a value in it is larger than ${MOST.size / 1024 / 1024} MiB`);
}

/** `$pad` of JSONata, which would make a text of any width. */
function pad(text: string | undefined, width: number, filler = ' '): string | undefined {
  if (text === undefined) return undefined;
  const missing = Math.trunc(Math.abs(width)) - [...text].length;
  if (missing > MOST.size) throw tooLarge();
  const chars = filler === '' ? [' '] : [...filler];
  const padding = Array.from({ length: Math.max(0, missing) }, (_, index) => chars[index % chars.length]).join('');
  return width > 0 ? text + padding : padding + text;
}

function compileRegex(regex: RegExp): RE2JS {
  const flags = (regex.ignoreCase ? RE2JS.CASE_INSENSITIVE : 0) | (regex.multiline ? RE2JS.MULTILINE : 0);
  return compilePattern(regex.source, flags);
}

/** What JSONata uses in place of `RegExp`: the linear engine, with the part of its interface that JSONata needs. */
function regexEngine(step: () => void): NonNullable<JsonataOptions['RegexEngine']> {
  const compiled = new WeakMap<RegExp, RE2JS>();
  class LinearRegex {
    lastIndex = 0;
    readonly #regex: RE2JS;

    constructor(source: RegExp) {
      this.#regex = compiled.get(source) ?? compileRegex(source);
      compiled.set(source, this.#regex);
    }

    exec(text: string): { readonly [group: number]: string | undefined; readonly index: number } | null {
      step();
      const matcher = this.#regex.matcher(text);
      if (!matcher.find(this.lastIndex)) return null;
      this.lastIndex = matcher.end();
      const groups = Array.from({ length: matcher.groupCount() + 1 }, (_, group) => matcher.group(group) ?? undefined);
      return Object.assign(groups, { index: matcher.start() });
    }
  }
  return LinearRegex as unknown as RegExpConstructor;
}
