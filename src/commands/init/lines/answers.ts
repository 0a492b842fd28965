/** Answers from the command line, and from the user where there is a terminal. */
import { UserError } from '../../../errors.ts';
import { didYouMean } from '../../../problem.ts';
import type { QuestionAnswer, Ask, Question } from '../../../terminal/ask.ts';

/** Of a list in a message. */
const MOST_NAMES = 40;

export class Answers {
  readonly #given: ReadonlyMap<string, string>;
  readonly #ask: Ask | undefined;
  readonly #names = new Set<string>();

  /** `given`: by the names of questions. `ask`: undefined if there is nobody to ask. */
  constructor(given: ReadonlyMap<string, string>, ask: Ask | undefined) {
    this.#given = given;
    this.#ask = ask;
  }

  /** Whether no question can get an answer. */
  get isEmpty(): boolean {
    return this.#given.size === 0 && this.#ask === undefined;
  }

  /** Undefined if nobody answers. Throws a `UserError` if an answer of the command line is none. */
  async to(question: Question): Promise<QuestionAnswer | undefined> {
    const { name, choices } = question;
    this.#names.add(name);
    const given = this.#given.get(name);
    if (given === undefined) return this.#ask?.(question);
    const choice = choices.findIndex(({ value, mistake }) => !mistake && value.toLowerCase() === given.toLowerCase());
    if (choice >= 0) return { choice };
    const typed = choices.findIndex(({ mistake }) => mistake);
    const why = choices[typed]?.mistake?.(given);
    if (typed >= 0 && why === undefined) return { choice: typed, text: given };
    const able = choices.filter(({ mistake }) => !mistake).map(({ value }) => `\`${value}\``);
    throw new UserError(`\`--answer ${name}=${given}\`: ${why ?? 'this is no answer'}`, {
      hint: `possible answers: ${able.join(', ')}`,
    });
  }

  /** Throws a `UserError` if an answer belongs to no question. */
  check(): void {
    const names = [...this.#names];
    for (const name of this.#given.keys()) {
      if (this.#names.has(name)) continue;
      const known = names.slice(0, MOST_NAMES).map((each) => `\`${each}\``);
      throw new UserError(`\`--answer ${name}=…\`: there is no such question`, {
        hint:
          didYouMean(name, names) ?? `the questions are ${known.join(', ')}${names.length > MOST_NAMES ? ', …' : ''}`,
      });
    }
  }
}
