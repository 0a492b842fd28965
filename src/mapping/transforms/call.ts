import { basename } from 'node:path';
import { isObject, NumberInText, NumberText, type JsonObject, type JsonValue } from '../../json.ts';
import { didYouMean, Problem, quoted } from '../../problem.ts';
import { thrownText, type FunctionModule } from '../functions.ts';
import { uniqueNames } from '../values/path.ts';
import { valueText, type Result, type RowContext } from '../values/result.ts';
import { name } from '../schema-parts.ts';
import { transform } from './transform.ts';
import { issueOf } from '../../report/words/words.ts';

type Callable = (value: unknown, record: unknown) => unknown;

export const call = transform<string>({
  name: 'call',
  doc: 'Calls a function of the module in `functions` with the value and the record. Fails with `function_failed` if it throws, or returns something that is not a value.',
  words: (called) => `is the result of the function ${valueText(called)}`,
  usage: ['{ call: FUNCTION }'],
  examples: [
    {
      apply: '{ call: primaryAddress }',
      from: [{ value: 'a@home.test' }, { value: 'a@work.test', primary: true }],
      to: 'a@work.test',
    },
  ],
  argument: () => name,
  check: (called, _defaults, functions) => problemsOf(called!, functions),
  shape: () => 'unknown',
  compile: (called, { columns, functions, at }) => {
    const recordOf = recordReader(columns);
    return (input, row) => {
      try {
        return valueOf((functions!.exports[called!] as Callable)(plain(input), recordOf(row)));
      } catch (error) {
        const [why, place] =
          error instanceof NoValue
            ? [`it returned ${error.message}`, functions!.file]
            : [thrownText(error), functions!.placeOf(error)];
        const places = `${place}, called at ${basename(at.file)}:${at.line}:${at.column}`;
        return issueOf('function_failed', valueText(called), valueText(input), why, places);
      }
    };
  },
});

function problemsOf(called: string, functions: FunctionModule | undefined): readonly Problem[] {
  const unknown = (message: string, hint: string) => [new Problem({ code: 'unknown_function', message, hint })];
  const bad = (message: string, hint: string) => [new Problem({ code: 'bad_function', message, hint })];
  const name = valueText(called);
  if (!functions)
    return unknown(
      `the mapping has no \`functions\` to call ${name} of`,
      'set `functions: functions.mjs` at the top level, the module that exports it',
    );
  const { exports, file } = functions;
  const known = Object.keys(exports).filter((key) => typeof exports[key] === 'function');
  const available = known.length === 0 ? `${file} exports no function` : `it exports ${quoted(known)}`;
  if (!Object.hasOwn(exports, called))
    return unknown(`${file} does not export ${name}`, didYouMean(called, known) ?? available);
  const given = exports[called];
  if (typeof given !== 'function') return bad(`${name} of ${file} is not a function`, 'export it as `export function`');
  return given.constructor.name === 'AsyncFunction'
    ? bad(`${name} of ${file} is asynchronous`, 'return the value itself, not a promise')
    : [];
}

class NoValue extends Error {}

/** What a function returned as a value; throws `NoValue`. */
function valueOf(returned: unknown): Result {
  if (typeof (returned as { then?: unknown } | null | undefined)?.then === 'function') {
    // The result is not awaited; a later failure must not end the process.
    Promise.resolve(returned).catch(() => undefined);
    throw new NoValue('a promise');
  }
  return returned === null || returned === '' ? undefined : jsonOf(returned);
}

function jsonOf(value: unknown): JsonValue | undefined {
  if (value === null || value === undefined || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new NoValue(`${value}, which is not a number`);
    if (Number.isInteger(value) && !Number.isSafeInteger(value))
      throw new NoValue(`${value}, of which the last digits may be lost (return it as text)`);
    return value;
  }
  if (Array.isArray(value)) return value.map((element) => jsonOf(element) ?? null);
  if (typeof value !== 'object') throw new NoValue(`a ${typeof value}`);
  const prototype = Object.getPrototypeOf(value) as { constructor?: { name?: string } } | null;
  if (prototype !== null && prototype !== Object.prototype)
    throw new NoValue(`an object of the class ${valueText(prototype.constructor?.name)}`);
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => {
      const json = jsonOf(member);
      return json === undefined ? [] : [[key, json] as const];
    }),
  );
}

/** The record as in the file: an object with a member per column, or the whole record of a tree, also within `each`. */
function recordReader(columns: readonly string[]): (row: RowContext) => unknown {
  const names = uniqueNames(columns);
  const cellsOf = ({ cells }: RowContext): JsonObject =>
    Object.freeze(Object.fromEntries(names.map((column, index) => [column, cells[index] ?? ''])));
  /** Of the record for which a function was called last: most records have several. */
  let last: { of: unknown; record: unknown } | undefined;
  return (row) => {
    const of = columns.length === 0 ? row.root : row.cells;
    if (!last || last.of !== of) last = { of, record: columns.length === 0 ? plain(row.root) : cellsOf(row) };
    return last.record;
  };
}

/** As functions see a value, frozen. Numbers that JavaScript cannot represent in all digits are text. */
function plain(value: JsonValue | undefined): unknown {
  if (value instanceof NumberInText) return value.text;
  if (value instanceof NumberText) {
    const number = Number(value.text);
    return value.text.replace(/\D/g, '').length > 15 || !Number.isFinite(number) ? value.text : number;
  }
  if (Array.isArray(value)) return Object.freeze((value as readonly JsonValue[]).map(plain));
  if (!isObject(value)) return value;
  return Object.freeze(Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)])));
}
