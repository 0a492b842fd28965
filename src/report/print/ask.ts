import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { createInterface } from 'node:readline/promises';
import { oneLine, visible } from '../words/visible.ts';
import { wrapped } from './layout.ts';

export interface QuestionChoice {
  readonly label: string;
  /** How the answer is written on the command line; of a choice that is typed, an example. */
  readonly value: string;
  /** Of a choice that is typed: why a text is no answer; undefined if it is one. */
  readonly mistake?: (text: string) => string | undefined;
}

export interface Question {
  /** Its name on the command line. */
  readonly name: string;
  /** Several lines; the last one asks. */
  readonly text: string;
  readonly choices: readonly QuestionChoice[];
  /** The place of the choice that Enter takes. */
  readonly proposal: number;
  /** A question was answered before it. */
  readonly hasBefore?: boolean;
}

/** The place of the choice, and what was typed. */
export interface QuestionAnswer {
  readonly choice: number;
  readonly text?: string;
}

/** Returns undefined if nobody answers, and `back` if the question before it is to be asked again. */
export type Ask = (question: Question) => Promise<QuestionAnswer | 'back' | undefined>;

const WIDTH = 80;
/** What a further line begins with, below `└  `. */
const ERROR = '   ';

/**
 * Asks with a list to choose from, on stderr; Backspace goes back, and after Ctrl-C or Ctrl-D nothing is asked. Undefined if there is no
 * terminal to answer on. `close` gives the terminal back.
 */
export function chooser(): { readonly ask: Ask; readonly close: () => void } | undefined {
  if (!process.stdin.isTTY || !process.stderr.isTTY || process.env.TERM === 'dumb') return undefined;
  // Some terminals say that they have none.
  if (!process.stderr.columns) process.stderr.columns = WIDTH;
  const keyboard = new Keyboard();
  const output = process.stderr;
  const ask: Ask = async (question) => {
    if (keyboard.isOver) return undefined;
    const { text, choices, proposal, hasBefore } = question;
    const { isCancel, select, text: type } = await import('@clack/prompts');
    const back = new AbortController();
    const input = keyboard.listen((key) => hasBefore && BACKSPACES.includes(key) && back.abort());
    const choice = await select<number>({
      message: visible(hasBefore ? `${text} (Backspace: previous question)` : text),
      signal: back.signal,
      options: choices.map(({ label }, value) => ({ value, label: visible(oneLine(label)) })),
      initialValue: proposal,
      showInstructions: false,
      ...{ input, output },
    });
    keyboard.rest();
    if (back.signal.aborted) return 'back';
    if (isCancel(choice)) return keyboard.end();
    const { mistake, value } = choices[choice]!;
    if (!mistake) return { choice };
    const validate = (given = ''): string | undefined => {
      const why = given.trim() === '' ? undefined : mistake(given.trim());
      return why && wrapped(visible(why), output.columns - ERROR.length).replaceAll('\n', `\n${ERROR}`);
    };
    const message = `Type it, such as ${visible(oneLine(value))} (Enter alone: back to the choices)`;
    const typed = await type({ message, validate, input: keyboard.listen(), output });
    keyboard.rest();
    if (isCancel(typed)) return keyboard.end();
    return typed?.trim() ? { choice, text: typed.trim() } : ask(question);
  };
  return { ask, close: keyboard.close };
}

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const BACKSPACES = '\u007f\b';

/** A key as terminals write it: an arrow is several characters. */
const KEY = /\u001b(?:\[[\d;]*[A-Za-z~]|O.)|./gsu;

/** Reads the keys from the first question to the last: those that are pressed while nothing is asked are neither shown nor lost. */
class Keyboard {
  /** Ctrl-C was pressed at a question: what is decided is written, and another one does not prevent that. */
  isOver = false;
  #waiting: string[] = [];
  #input: PassThrough | undefined;
  #onKey: ((key: string) => unknown) | undefined;

  constructor() {
    process.stdin.setRawMode(true);
    process.once('exit', this.close);
    process.stdin.setEncoding('utf8').on('data', this.#take).resume();
  }

  readonly #take = (data: string | Buffer): void => {
    // A terminal that was not raw yet has made a line feed of Enter.
    const keys: string[] = String(data).replaceAll(CTRL_D, CTRL_C).replaceAll('\n', '\r').match(KEY) ?? [];
    if (!this.#input && keys.includes(CTRL_C)) {
      if (process.listenerCount('SIGINT') > 0 || !this.isOver) process.kill(process.pid, 'SIGINT');
    } else if (this.#waiting.push(...keys) === keys.length) this.#pass();
  };

  /** One key at a time: it may end the question, and the next key is for the next one. */
  readonly #pass = (): void => {
    const [key] = this.#waiting;
    if (!this.#input || key === undefined) return;
    this.#waiting.shift();
    this.#onKey?.(key);
    this.#input.write(key);
    setImmediate(this.#pass);
  };

  listen(onKey?: (key: string) => unknown): PassThrough {
    this.#input = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true, setRawMode: () => undefined });
    this.#onKey = onKey;
    setImmediate(this.#pass);
    return this.#input;
  }

  rest(): void {
    this.#input?.destroy();
    this.#input = undefined;
  }

  end(): undefined {
    this.isOver = true;
  }

  readonly close = (): void => {
    process.off('exit', this.close);
    process.stdin.off('data', this.#take).pause();
    process.stdin.setRawMode(false);
  };
}

/**
 * Asks a question that is answered with yes or no; undefined if there is no terminal to answer it. The answer is no if the terminal is
 * closed, or `signal` is aborted before there is one.
 */
export function confirmer(): ((question: string, signal?: AbortSignal) => Promise<boolean>) | undefined {
  if (!process.stdin.isTTY) return undefined;
  return async (question, signal) => {
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    // While it is read character by character, the terminal makes no signal of Ctrl-C.
    terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    try {
      const unanswered = once(terminal, 'close').then(() => '');
      const text = wrapped(`${question} [y/N]`, process.stderr.columns || WIDTH);
      const answer = terminal.question(`${text} `, { signal }).catch(() => '');
      return /^y(es)?$/i.test((await Promise.race([answer, unanswered])).trim());
    } finally {
      terminal.close();
    }
  };
}
