import { oneLine, visible } from './visible.ts';
import { createInterface } from 'node:readline/promises';

export interface Question {
  /** Several lines; the last one asks. */
  readonly text: string;
  readonly choices: readonly string[];
  /** The index of the choice that Enter selects. */
  readonly proposal: number;
}

/** Returns the place of the choice; undefined if the user wants no more questions (Ctrl-C). */
export type Ask = (question: Question) => Promise<number | undefined>;

/** Asks with a list to choose from, on stderr; undefined if there is no terminal to answer on. */
export function chooser(): Ask | undefined {
  if (!process.stdin.isTTY || !process.stderr.isTTY || process.env.TERM === 'dumb') return undefined;
  return async ({ text, choices, proposal }) => {
    const { isCancel, select } = await import('@clack/prompts');
    const answer = await select<number>({
      message: visible(text),
      options: choices.map((label, value) => ({ value, label: visible(oneLine(label)) })),
      initialValue: proposal,
      showInstructions: false,
      output: process.stderr,
    });
    return isCancel(answer) ? undefined : answer;
  };
}

/** Asks a question that is answered with yes or no; undefined if there is no terminal to answer it. */
export function confirmer(): ((question: string) => Promise<boolean>) | undefined {
  if (!process.stdin.isTTY) return undefined;
  return async (question) => {
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    try {
      return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
    } finally {
      terminal.close();
    }
  };
}
