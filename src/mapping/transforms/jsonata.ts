import type * as jsonataModule from 'jsonata';
import type { Expression } from 'jsonata';
import { messageOf } from '../../errors.ts';
import { isObject, NumberText, readNumber, type JsonObject, type JsonValue } from '../../json.ts';
import { ValueError, type Result } from '../value-error.ts';
import { shown } from '../value-text.ts';
import { text } from '../schema-parts.ts';
import type { Deferred, RowContext } from '../row-context.ts';
import { transform } from './transform.ts';

let library: typeof jsonataModule.default | undefined;

async function load(): Promise<void> {
  library ??= (await import('jsonata')).default;
}

export const jsonata = transform<string>({
  name: 'jsonata',
  doc: 'Evaluates a JSONata expression on the value, for cases that no other transform covers; `$record` is the whole record. Functions whose result varies (`$now`, `$random`, …) are not allowed: the same record must always produce the same event.',
  usage: ['{ jsonata: EXPRESSION }'],
  examples: [
    {
      apply: "{ jsonata: \"$join(emails[type = 'work'].address, ' ')\" }",
      from: { emails: [{ type: 'work', address: 'a@b.test' }] },
      to: 'a@b.test',
    },
  ],
  argument: () => text,
  load,
  check: (source) => {
    const message = expressionError(source!);
    return message === undefined ? [] : [{ code: 'bad_expression', message }];
  },
  shape: () => 'unknown',
  compile: (source, { columns }) => {
    const work = new Evaluation(library!(source!), columns);
    return (input, row) => row.defer(work, input);
  },
});

const IMPURE = new Set(['now', 'millis', 'random', 'shuffle', 'eval']);

function expressionError(source: string): string | undefined {
  try {
    const used = variables(library!(source).ast()).find((variable) => IMPURE.has(variable));
    return used && `\`$${used}\` is not allowed: the same record must always produce the same event`;
  } catch (error) {
    return `invalid JSONata expression: ${(error as { message?: string }).message ?? messageOf(error)}`;
  }
}

function variables(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(variables);
  if (typeof node !== 'object' || node === null) return [];
  const { type, value } = node as { type?: unknown; value?: unknown };
  const own = type === 'variable' && typeof value === 'string' ? [value] : [];
  return [...own, ...Object.values(node).flatMap(variables)];
}

class Evaluation implements Deferred {
  readonly #expression: Expression;
  readonly #columns: readonly string[];

  constructor(expression: Expression, columns: readonly string[]) {
    this.#expression = expression;
    this.#columns = columns;
  }

  async evaluate(input: JsonValue | undefined, row: RowContext): Promise<Result> {
    const record = this.#columns.length === 0 ? row.root : cellsByColumn(this.#columns, row.cells);
    try {
      return toJson(await this.#expression.evaluate(plain(input), { record: plain(record) }));
    } catch (error) {
      const message = (error as { message?: string }).message ?? messageOf(error);
      return new ValueError('bad_expression', `the JSONata expression failed on ${shown(input)}: ${message}`);
    }
  }
}

function cellsByColumn(columns: readonly string[], cells: readonly string[]): JsonObject {
  return Object.fromEntries(columns.map((column, index) => [column, cells[index]]));
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
