import type { ShaWords } from './identity.ts';

/** Entries of a block: growing adds blocks, so that nothing is copied and little is allocated ahead. */
const BLOCK_BITS = 14;
const BLOCK = 1 << BLOCK_BITS;

/** A growing column of numbers: an index of a million events as objects would take ten times the memory. */
class Column<A extends Uint8Array | Uint16Array | Uint32Array | Float64Array> {
  readonly #blocks: A[] = [];
  readonly #Block: new (length: number) => A;

  constructor(Block: new (length: number) => A) {
    this.#Block = Block;
  }

  /** 0 where nothing was set. */
  get(index: number): number {
    const block = this.#blocks[index >>> BLOCK_BITS];
    return block === undefined ? 0 : block[index & (BLOCK - 1)]!;
  }

  set(index: number, value: number): void {
    while (index >>> BLOCK_BITS >= this.#blocks.length) this.#blocks.push(new this.#Block(BLOCK));
    this.#blocks[index >>> BLOCK_BITS]![index & (BLOCK - 1)] = value;
  }
}

export class ByteColumn extends Column<Uint8Array> {
  constructor() {
    super(Uint8Array);
  }
}

export class Uint16Column extends Column<Uint16Array> {
  constructor() {
    super(Uint16Array);
  }
}

export class Uint32Column extends Column<Uint32Array> {
  constructor() {
    super(Uint32Array);
  }
}

export class Float64Column extends Column<Float64Array> {
  constructor() {
    super(Float64Array);
  }
}

/** 64 bits of a content hash per number. */
export class ShaColumn {
  readonly #first = new Uint32Column();
  readonly #second = new Uint32Column();

  get(index: number): ShaWords {
    return [this.#first.get(index), this.#second.get(index)];
  }

  set(index: number, [first, second]: ShaWords): void {
    this.#first.set(index, first);
    this.#second.set(index, second);
  }

  equals(index: number, [first, second]: ShaWords): boolean {
    return this.#first.get(index) === first && this.#second.get(index) === second;
  }
}
