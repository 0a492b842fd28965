import { readNumber, type JsonObject, type JsonScalar, type JsonValue } from '../json.ts';

/** Longer records, and those with more values, are not worth knowing the form of. */
const MOST_TEXT = 64 * 1024;
const MOST_VALUES = 500;
const MOST_FORMS = 8;
/** A record of no form costs four of them, one that is known brings one. */
const MOST_LUCK = 200;

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
const PLAIN_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const CLOSE_LIST = 0x5d;
const CLOSE_OBJECT = 0x7d;

type Container = Record<string | number, JsonValue>;

/** An object or list within which a form is learned. */
interface Open {
  readonly number: number;
  /** Undefined for a list. */
  readonly keys: Set<string> | undefined;
  /** Of the value that comes next; undefined before the key. */
  key: string | undefined;
  elements: number;
}

/** What reading a record does next. */
interface Step {
  /** Of the container that it fills. */
  readonly into: number;
  readonly key: string | number;
  /** What stands between the value before and this one. */
  readonly before: string;
  /** Instead of reading a value, it begins a container: the number it gets. */
  readonly begins: number | undefined;
  readonly isList: boolean;
}

/**
 * Records of JSON by the forms of those before them: an export writes the same keys in the same order, with the same
 * spaces between them, so that only the values are new. It may only accept, and takes half as long as JSON.parse: values are
 * texts, plain numbers, true, false and null. The tests hold it against `parseRecord`.
 */
export class RecordForms {
  readonly #forms: Form[] = [];
  /** Falls with every record that is of no form. Where too many are, looking for one would cost more than it saves. */
  #luck = MOST_LUCK;

  read(text: string): JsonObject | undefined {
    if (this.#luck < 0) return undefined;
    const forms = this.#forms;
    for (let nth = 0; nth < forms.length; nth += 1) {
      const form = forms[nth]!;
      const record = form.read(text);
      if (!record) continue;
      if (nth > 0) {
        forms.copyWithin(1, 0, nth);
        forms[0] = form;
      }
      if (this.#luck < MOST_LUCK) this.#luck += 1;
      return record;
    }
    this.#luck -= 4;
    return undefined;
  }

  /** `text`: a record that was read, and found to be sound. */
  learn(text: string): void {
    if (this.#luck < 0 || text.length > MOST_TEXT) return;
    const form = Form.of(text);
    if (!form || this.#forms.some(({ shape }) => shape === form.shape)) return;
    this.#forms.unshift(form);
    this.#forms.length = Math.min(this.#forms.length, MOST_FORMS);
  }
}

class Form {
  /** All that is always the same. */
  readonly shape: string;
  readonly #steps: readonly Step[];
  readonly #after: string;
  readonly #containers: Container[] = [];

  private constructor(steps: readonly Step[], after: string) {
    this.#steps = steps;
    this.#after = after;
    this.shape = [...steps.map(({ before }) => before), after].join('\0');
  }

  /** Undefined where an object has a key twice, or `__proto__`, which cannot be set like others; and for many values. */
  static of(text: string): Form | undefined {
    const steps: Step[] = [];
    const open: Open[] = [];
    let containers = 0;
    let end = 0;
    for (const { 0: token, index } of text.matchAll(TOKEN)) {
      if (token === ',' || token === ':') continue;
      if (token === '}' || token === ']') {
        open.pop();
        continue;
      }
      const outer = open.at(-1);
      if (outer?.keys && outer.key === undefined) {
        outer.key = JSON.parse(token) as string;
        if (outer.keys.has(outer.key) || outer.key === '__proto__') return undefined;
        outer.keys.add(outer.key);
        continue;
      }
      const begins = token === '{' || token === '[';
      if (outer) {
        const key = outer.key ?? outer.elements;
        if (begins) steps.push({ into: outer.number, key, begins: containers, isList: token === '[', before: '' });
        else {
          steps.push({ into: outer.number, key, begins: undefined, isList: false, before: text.slice(end, index) });
          end = index + token.length;
        }
        outer.elements += 1;
        outer.key = undefined;
      }
      if (begins) {
        open.push({ number: containers, keys: token === '{' ? new Set() : undefined, key: undefined, elements: 0 });
        containers += 1;
      }
      if (steps.length > MOST_VALUES) return undefined;
    }
    return new Form(steps, text.slice(end));
  }

  read(text: string): JsonObject | undefined {
    const containers = this.#containers;
    const record: Container = {};
    containers[0] = record;
    let at = 0;
    const steps = this.#steps;
    for (let nth = 0; nth < steps.length; nth += 1) {
      const { into, key, before, begins, isList } = steps[nth]!;
      const container = containers[into]!;
      if (begins !== undefined) {
        container[key] = containers[begins] = (isList ? [] : {}) as Container;
        continue;
      }
      if (!text.startsWith(before, at)) return undefined;
      at += before.length;
      if (at < text.length && text.charCodeAt(at) === QUOTE) {
        const end = endOfText(text, at + 1);
        if (end === 0) return undefined;
        const value = end > 0 ? text.slice(at + 1, end) : unescaped(text.slice(at, 1 - end));
        if (value === undefined) return undefined;
        container[key] = value;
        at = Math.abs(end) + 1;
      } else {
        const end = endOfScalar(text, at);
        const scalar = scalarOf(text.slice(at, end));
        if (scalar === undefined) return undefined;
        container[key] = scalar;
        at = end;
      }
    }
    const isWhole = text.length - at === this.#after.length && text.endsWith(this.#after);
    return isWhole ? record : undefined;
  }
}

/** Where the text ends that begins at `from`: negative where something in it is escaped, 0 where it is no text. */
function endOfText(text: string, from: number): number {
  let isEscaped = false;
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return isEscaped ? -at : at;
    if (code < 0x20) return 0;
    if (code === BACKSLASH) {
      isEscaped = true;
      at += 1;
    }
  }
  return 0;
}

function unescaped(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return undefined;
  }
}

function endOfScalar(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === COMMA || code === CLOSE_OBJECT || code === CLOSE_LIST || code <= 0x20) break;
  }
  return at;
}

function scalarOf(token: string): JsonScalar | undefined {
  if (token === 'null') return null;
  if (token === 'true' || token === 'false') return token === 'true';
  return PLAIN_NUMBER.test(token) ? readNumber(token) : undefined;
}
