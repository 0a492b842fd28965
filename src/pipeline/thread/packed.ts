/**
 * What threads hand each other: many short texts end to end in one, and numbers that tell them apart. A message of one
 * text and one array costs a third of what it costs to copy the texts one by one.
 */
export interface Packed {
  readonly text: string;
  readonly numbers: Int32Array;
}

/** Puts a message together. */
export class Packer {
  #text = '';
  #numbers = new Int32Array(4096);
  #size = 0;

  /** Of the text so far. */
  get length(): number {
    return this.#text.length;
  }

  number(value: number): void {
    this.#reserve(1);
    this.#numbers[this.#size] = value;
    this.#size += 1;
  }

  string(value: string): void {
    this.#text += value;
    this.number(value.length);
  }

  /** As `string` for each of them, in a third of the time. */
  strings(values: readonly string[]): void {
    this.#reserve(values.length);
    const numbers = this.#numbers;
    const size = this.#size;
    let text = '';
    for (let index = 0; index < values.length; index += 1) {
      const value = values[index]!;
      text += value;
      numbers[size + index] = value.length;
    }
    this.#text += text;
    this.#size = size + values.length;
  }

  #reserve(more: number): void {
    if (this.#size + more <= this.#numbers.length) return;
    const larger = new Int32Array((this.#size + more) * 2);
    larger.set(this.#numbers);
    this.#numbers = larger;
  }

  /** The message; the next one begins empty. */
  take(): Packed {
    const packed = { text: this.#text, numbers: this.#numbers.slice(0, this.#size) };
    this.#text = '';
    this.#size = 0;
    return packed;
  }
}

/** Takes a message apart, in the order in which it was put together. */
export class Unpacker {
  readonly #packed: Packed;
  #at = 0;
  #start = 0;

  constructor(packed: Packed) {
    this.#packed = packed;
  }

  get isDone(): boolean {
    return this.#at === this.#packed.numbers.length;
  }

  number(): number {
    const value = this.#packed.numbers[this.#at]!;
    this.#at += 1;
    return value;
  }

  string(): string {
    const start = this.#start;
    this.#start = start + this.number();
    return this.#packed.text.slice(start, this.#start);
  }
}
