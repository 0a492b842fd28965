import type { ShaWords } from './identity.ts';

/** Growing columns of numbers: an index of a million events as objects would take ten times the memory. */
class Column<A extends Uint8Array | Uint32Array | Float64Array> {
  #values: A;
  readonly #make: (length: number) => A;

  constructor(make: (length: number) => A) {
    this.#make = make;
    this.#values = make(1024);
  }

  /** 0 where nothing was set. */
  get(index: number): number {
    return this.#values[index] ?? 0;
  }

  set(index: number, value: number): void {
    if (index >= this.#values.length) {
      const larger = this.#make(Math.max(index + 1, Math.ceil(this.#values.length * 1.5)));
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[index] = value;
  }
}

export class ByteColumn extends Column<Uint8Array> {
  constructor() {
    super((length) => new Uint8Array(length));
  }
}

export class Uint32Column extends Column<Uint32Array> {
  constructor() {
    super((length) => new Uint32Array(length));
  }
}

export class Float64Column extends Column<Float64Array> {
  constructor() {
    super((length) => new Float64Array(length));
  }
}

/** 64 bits of a content hash per number. */
export class ShaColumn {
  readonly #words = new Uint32Column();

  get(index: number): ShaWords {
    return [this.#words.get(index * 2), this.#words.get(index * 2 + 1)];
  }

  set(index: number, [first, second]: ShaWords): void {
    this.#words.set(index * 2, first);
    this.#words.set(index * 2 + 1, second);
  }

  equals(index: number, [first, second]: ShaWords): boolean {
    return this.#words.get(index * 2) === first && this.#words.get(index * 2 + 1) === second;
  }
}
