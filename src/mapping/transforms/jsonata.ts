import { setImmediate } from 'node:timers/promises';
import type * as jsonataModule from 'jsonata';
import { messageOf } from '../../errors.ts';
import { isObject, NumberText, readNumber, type JsonObject, type JsonValue } from '../../json.ts';
import { ValueError, type Result, shown } from '../result.ts';
import { patternError } from '../pattern.ts';
import { text } from '../schema-parts.ts';
import type { Deferred, RowContext } from '../row-context.ts';
import { LimitedExpression } from './jsonata-limits.ts';
import { transform } from './transform.ts';

let library: typeof jsonataModule.default | undefined;

export const jsonata = transform<string>({
  name: 'jsonata',
  doc: 'Evaluates a JSONata expression on the value, for cases that no other transform covers; `$record` is the whole record. Functions whose result varies (`$now`, `$random`, …) are not allowed: the same record must always produce the same event. An evaluation fails with `bad_expression` beyond 1,000,000 steps, 1,000 levels of nesting, 20,000 elements of a list, 16 MiB of a value, or 5 seconds.',
  words: (source) => `evaluates the expression ${shown(source)}`,
  usage: ['{ jsonata: EXPRESSION }'],
  examples: [
    {
      apply: "{ jsonata: \"$join(emails[type = 'work'].address, ' ')\" }",
      from: { emails: [{ type: 'work', address: 'a@b.test' }] },
      to: 'a@b.test',
    },
  ],
  argument: () => text,
  load: async () => (library ??= (await import('jsonata')).default),
  check: (source) => {
    const [message, suggestion] = expressionError(source!)?.split('\n') ?? [];
    if (message === undefined) return [];
    return [{ code: 'bad_expression', message, ...(suggestion !== undefined && { suggestion }) }];
  },
  shape: () => 'unknown',
  compile: (source, { columns }) => {
    // Not before the first value: the columns of a mapping are checked even if one of its expressions is invalid.
    let work: Evaluation | undefined;
    return (input, row) =>
      row.defer((work ??= new Evaluation(new LimitedExpression(library!, source!), columns)), input);
  },
});

const IMPURE = new Set(['now', 'millis', 'random', 'shuffle', 'eval']);

/** Why an expression is refused, with a hint after a line break. */
function expressionError(source: string): string | undefined {
  try {
    const nodes = nodesOf(library!(source).ast());
    const used = nodes.find(({ type, value }) => type === 'variable' && IMPURE.has(value as string));
    if (used) return `\`$${String(used.value)}\` is not allowed: the same record must always produce the same event`;
    const patterns = nodes.flatMap(({ type, value }) => (type === 'regex' ? [(value as RegExp).source] : []));
    return patterns.map(patternError).find((error) => error !== '');
  } catch (error) {
    return `invalid JSONata expression: ${(error as { message?: string }).message ?? messageOf(error)}`;
  }
}

interface ExpressionNode {
  readonly type?: unknown;
  readonly value?: unknown;
}

/** The nodes of a syntax tree. */
function nodesOf(tree: unknown): readonly ExpressionNode[] {
  if (Array.isArray(tree)) return tree.flatMap(nodesOf);
  if (typeof tree !== 'object' || tree === null) return [];
  return [tree, ...Object.values(tree).flatMap(nodesOf)];
}

class Evaluation implements Deferred {
  readonly #expression: LimitedExpression;
  readonly #columns: readonly string[];
  /** When other work of the process last had its turn, in milliseconds. */
  #yieldedAt = 0;

  constructor(expression: LimitedExpression, columns: readonly string[]) {
    this.#expression = expression;
    this.#columns = columns;
  }

  async evaluate(input: JsonValue | undefined, row: RowContext): Promise<Result> {
    await this.#yield();
    const cells = this.#columns.map((column, index) => [column, row.cells[index]]);
    const record = cells.length === 0 ? row.root : (Object.fromEntries(cells) as JsonObject);
    try {
      return toJson(await this.#expression.evaluate(plain(input), { record: plain(record) }));
    } catch (error) {
      const message = (error as { message?: string }).message ?? messageOf(error);
      return new ValueError('bad_expression', `the JSONata expression failed on ${shown(input)}: ${message}`);
    }
  }

  /** An evaluation is one run of microtasks: without a pause, no signal would arrive before the last record of a file. */
  async #yield(): Promise<void> {
    if (performance.now() - this.#yieldedAt < 50) return;
    await setImmediate();
    this.#yieldedAt = performance.now();
  }
}

/** JSONata has JavaScript numbers only, so integers that do not fit are passed as text. */
function plain(value: JsonValue | undefined): unknown {
  if (value instanceof NumberText) return /^-?\d{16,}$/.test(value.text) ? value.text : Number(value.text);
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(plain);
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]));
  return value;
}

function toJson(value: unknown): Result {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number')
    return Number.isFinite(value)
      ? readNumber(String(value))
      : new ValueError('bad_expression', 'the JSONata expression returned a number that is not finite');
  if (typeof value === 'function')
    return new ValueError('bad_expression', 'the JSONata expression returned a function');
  const copy = JSON.parse(JSON.stringify(value)) as JsonValue;
  return copy;
}
