import { once } from 'node:events';
import { oneLine, visible } from '../words/visible.ts';
import { wrapped } from './layout.ts';
import { createInterface } from 'node:readline/promises';

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
 * Asks with a list to choose from, on stderr; Backspace goes back, and after Ctrl-C nothing is asked. Undefined if there is no terminal
 * to answer on.
 */
export function chooser(): Ask | undefined {
  if (!process.stdin.isTTY || !process.stderr.isTTY || process.env.TERM === 'dumb') return undefined;
  let isOver = false;
  const ask: Ask = async (question) => {
    if (isOver) return undefined;
    const { text, choices, proposal, hasBefore } = question;
    const { isCancel, select, text: type } = await import('@clack/prompts');
    const output = process.stderr;
    const back = new AbortController();
    const onKey = (_text: string, key: { name?: string } | undefined): void => {
      if (hasBefore && key?.name === 'backspace') back.abort();
    };
    process.stdin.on('keypress', onKey);
    const choice = await select<number>({
      message: visible(hasBefore ? `${text} (Backspace: previous question)` : text),
      signal: back.signal,
      options: choices.map(({ label }, value) => ({ value, label: visible(oneLine(label)) })),
      initialValue: proposal,
      showInstructions: false,
      output,
    });
    process.stdin.off('keypress', onKey);
    if (back.signal.aborted) return 'back';
    isOver = isCancel(choice);
    if (isCancel(choice)) return undefined;
    const { mistake, value } = choices[choice]!;
    if (!mistake) return { choice };
    const validate = (given = ''): string | undefined => {
      const why = given.trim() === '' ? undefined : mistake(given.trim());
      return why && wrapped(visible(why), (output.columns || WIDTH) - ERROR.length).replaceAll('\n', `\n${ERROR}`);
    };
    const message = `Type it, such as ${visible(oneLine(value))} (Enter alone: back to the choices)`;
    const typed = await type({ message, validate, output });
    isOver = isCancel(typed);
    if (isCancel(typed)) return undefined;
    return typed?.trim() ? { choice, text: typed.trim() } : ask(question);
  };
  return ask;
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
