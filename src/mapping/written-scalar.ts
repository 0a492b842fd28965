import type { NumberText } from '../json.ts';

/** A scalar that YAML does not take for text (`00123`, `5.10`, `True`), with the text it was written as. */
export class WrittenScalar {
  readonly text: string;
  readonly value: number | NumberText | boolean;

  constructor(text: string, value: number | NumberText | boolean) {
    this.text = text;
    this.value = value;
  }
}
