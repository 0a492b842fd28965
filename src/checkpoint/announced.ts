import type { QuickLine } from './quick.ts';

/** A power of two; more than are ever in flight together. */
const SLOTS = 256;
const SLOT_SHIFT = 32 - Math.log2(SLOTS);

/**
 * The `sent` lines of one piece whose answers may still come. One that is answered before another line about its record
 * needs not be told to the ledger: its answer says all that it does, and nearly every line is such a one.
 */
export class Announced {
  /** By what their lines say of their records: where the line begins + 1 (0 is free), and where its id does. */
  readonly #places = new Int32Array(SLOTS);
  readonly #ids = new Int32Array(SLOTS);
  /** Is given the place of a line that must be told. */
  readonly #tell: (place: number) => void;

  constructor(tell: (place: number) => void) {
    this.#tell = tell;
  }

  sent(line: QuickLine): void {
    const slot = slotOf(line);
    this.#tellOf(slot);
    this.#places[slot] = line.start + 1;
    this.#ids[slot] = line.idAt.start;
  }

  /** Before the answer itself is told. */
  settled(line: QuickLine): void {
    const slot = slotOf(line);
    if (this.#places[slot] === 0) return;
    if (line.isAboutSame(this.#ids[slot]!)) this.#places[slot] = 0;
    else this.#tellOf(slot);
  }

  /** Before a line of another kind, and at the end of the piece. */
  tellAll(): void {
    for (let slot = 0; slot < SLOTS; slot += 1) this.#tellOf(slot);
  }

  #tellOf(slot: number): void {
    const place = this.#places[slot]! - 1;
    if (place < 0) return;
    this.#places[slot] = 0;
    this.#tell(place);
  }
}

/** Any number will do that is the same for all lines about one record, and another for most others. */
function slotOf({ view, idAt, externalIdAt }: QuickLine): number {
  const at = externalIdAt.isNull ? idAt.start : externalIdAt.end - 4;
  return Math.imul(view.getInt32(at, true), 0x9e3779b1) >>> SLOT_SHIFT;
}
