/** The words of a code. */
export interface Words {
  /** A sentence without any value of a record. Only the further sentences of a code, under `code/variant`, lack it. */
  readonly what?: string;
  /** What is said of one case: part of a sentence, with its values. Without it, `what` says all. */
  readonly says?: (...given: never[]) => string;
  /** What is said of several values, after their number: `have no country code`. */
  readonly several?: string;
  /** How to fix it, as a sentence. */
  readonly fix?: string;
}

export type Codes = Readonly<Record<string, Words>>;

/** A sentence as part of another: without its capital letter and full stop. */
export function inSentence(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1).replace(/\.$/, '')}`;
}
