import { keyWordsIn, type KeyWords } from '../keys.ts';
import { entityOf, isUpdate } from '../model.ts';
import { LAST_DIGITS, recordKey, type Settled } from './ledger.ts';
import { IF_CHANGED } from './lines.ts';
import type { QuickLine } from './quick.ts';

const SHA_DIGITS = 32;
const UUID_LENGTH = 36;

/**
 * What the ledger keeps of a settled line, taken from its bytes: to make texts of them takes as long as to read the line.
 * Good until the next is taken.
 */
export class SettledWords implements Settled {
  record: KeyWords = [0, 0, 0, 0];
  isUpdate = false;
  isAcknowledged = false;
  /** With an id of the service. */
  isNamed = false;
  readonly sha: [number, number] = [0, 0];
  readonly id: [number, number] = [0, 0];
  readonly #short: [number, number, number, number] = [0, 0, 0, 0];

  /** False where it says more, or has an id or a hash that this program does not make. */
  take(line: QuickLine): boolean {
    const { view, idAt, externalIdAt, shaAt } = line;
    if (line.code === IF_CHANGED || shaAt.length !== SHA_DIGITS || idAt.length !== UUID_LENGTH) return false;
    const { start, end, isNull } = externalIdAt;
    const isShort =
      line.isAscii && !isNull && keyWordsIn(line.bytes, start, end, entityOf(line.type).charCodeAt(0), this.#short);
    this.record = isShort ? this.#short : recordKey(line.type, line.external_id, line.id);
    this.isUpdate = isUpdate(line.type);
    this.isAcknowledged = line.status === 'acknowledged';
    this.isNamed = this.isAcknowledged && line.entityIdAt.length > 0;
    this.sha[0] = hexWord(view, shaAt.start);
    this.sha[1] = hexWord(view, shaAt.start + 8);
    this.id[0] = hexWord(view, idAt.start);
    this.id[1] = hexWord(view, idAt.start + LAST_DIGITS);
    return true;
  }
}

/** Eight digits of lower-case hexadecimal as a number. */
function hexWord(view: DataView, at: number): number {
  return (fourDigits(view.getInt32(at, true)) << 16) | fourDigits(view.getInt32(at + 4, true));
}

/** Of four digits, the first in the lowest byte: all are turned into numbers at once. */
function fourDigits(word: number): number {
  // Letters, unlike digits, have bit 6, and are 9 less in the lower four bits than they stand for.
  const digits = (word & 0x0f0f0f0f) + ((word >>> 6) & 0x01010101) * 9;
  const pairs = (digits << 4) | (digits >>> 8);
  return ((pairs & 0xff) << 8) | ((pairs >>> 16) & 0xff);
}
