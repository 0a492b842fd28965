/** Answers from the command line, and from the user where there is a terminal. */
import { UserError } from '../../../errors.ts';
import { didYouMean } from '../../../problem.ts';
import type { Ask, Question, QuestionChoice } from '../../../report/print/ask.ts';

/** Of a list in a message. */
const MOST_NAMES = 40;

/** What a choice means; `text`: what was typed, if it is. */
export interface AnswerChoice<T> extends QuestionChoice {
  readonly then: (text: string) => T;
}

interface Asked<T> extends Question {
  readonly choices: readonly AnswerChoice<T>[];
}

/** Thrown where the user wants the question before: its answer is forgotten, the others are known when all is asked again. */
export class Back extends Error {}

export class Answers {
  readonly #given: ReadonlyMap<string, string>;
  readonly #ask: Ask | undefined;
  /** The names of all questions, with the answers of the user. */
  readonly #asked = new Map<string, string | undefined>();
  /** The names of those that the user was asked, in their order. */
  #order: string[] = [];

  /** `given`: by the names of questions. `ask`: undefined if there is nobody to ask. */
  constructor(given: ReadonlyMap<string, string>, ask: Ask | undefined) {
    this.#given = given;
    this.#ask = ask;
  }

  /**
   * Undefined if nobody answers. What was answered is not asked again. Throws a `UserError` if an answer of the command line is none, and
   * `Back` if the user wants the question before.
   */
  async to<T>(question: Asked<T>): Promise<T | undefined> {
    const { name, choices } = question;
    const given = this.#given.get(name);
    const known = given ?? this.#asked.get(name);
    if (!this.#asked.has(name)) this.#asked.set(name, undefined);
    const typed = choices.find(({ mistake }) => mistake);
    const why = known === undefined ? undefined : typed?.mistake?.(known);
    const isSame = (each: AnswerChoice<T>): boolean =>
      !each.mistake && each.value.toLowerCase() === known?.toLowerCase();
    const choice = choices.find(isSame) ?? (why === undefined ? typed : undefined);
    if (known !== undefined && choice) return choice.then(known);
    if (given === undefined) {
      const answer = await this.#ask?.({ ...question, hasBefore: this.#order.length > 0 });
      if (answer === 'back') {
        this.#asked.delete(this.#order.pop()!);
        throw new Back();
      }
      if (!answer) return undefined;
      this.#order.push(name);
      const { then, value } = choices[answer.choice]!;
      this.#asked.set(name, answer.text ?? value);
      return then(answer.text ?? '');
    }
    const able = choices.filter(({ mistake }) => !mistake).map(({ value }) => `\`${value}\``);
    throw new UserError(`\`--answer ${name}=${given}\`: ${why ?? 'this is not a possible answer'}`, {
      hint: `possible answers: ${able.join(', ')}`,
    });
  }

  /** Throws a `UserError` if an answer belongs to no question. `more`: the names of those that may still be asked. */
  check(more: readonly string[] = []): void {
    const names = [...this.#asked.keys()];
    const shown = names.slice(0, MOST_NAMES).map((each) => `\`${each}\``);
    for (const name of this.#given.keys()) {
      if (this.#asked.has(name) || more.includes(name)) continue;
      throw new UserError(`\`--answer ${name}=…\`: there is no such question`, {
        hint:
          didYouMean(name, names) ?? `the questions are ${shown.join(', ')}${names.length > MOST_NAMES ? ', …' : ''}`,
      });
    }
  }
}
