import type { NumberText } from '../json.ts';

/** A scalar that YAML does not read as text (`5.10`, `True`), with the text as written. */
export class WrittenScalar {
  readonly text: string;
  readonly value: number | NumberText | boolean;

  constructor(text: string, value: number | NumberText | boolean) {
    this.text = text;
    this.value = value;
  }
}
