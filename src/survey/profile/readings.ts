/** Texts of a column that can be read in two ways: amounts whose separators may group or begin the decimals, and texts that mean no value. */
import { DecimalSum } from '../../decimal.ts';
import { shortened } from '../../report/words/visible.ts';

/** Amounts with one separator, before exactly three digits. */
interface EitherWay {
  readonly count: number;
  readonly example: string;
  /** Of all amounts of the column, as either reading has it. */
  readonly grouped: string;
  readonly decimal: string;
}

/** A sign or code, the number, and a sign or code. */
const AMOUNT = /^([^\d.,]*)(\d{1,15}|(?=\d)(?!0)\d{1,3}([.,])\d{3})[^\d.,]*$/u;

/** Amounts of which every separator stands before three digits: `1.200` is 1,200 or 1.2. */
export class NumberForms {
  #count = 0;
  #example = '';
  /** A separator stands elsewhere, or twice, which settles what it is; or both are there. */
  #isSettled = false;
  #mark = '';
  readonly #grouped = new DecimalSum();
  readonly #decimal = new DecimalSum();

  take(cell: string): void {
    if (this.#isSettled) return;
    const [, before = '', digits = '', mark] = AMOUNT.exec(cell.trim()) ?? [];
    if (digits === '') {
      if (/[.,]/.test(cell)) this.#isSettled = true;
      return;
    }
    const sign = /[-\u2212(]/.test(before) ? '-' : '';
    this.#grouped.add(sign + digits.replace(/[.,]/, ''));
    this.#decimal.add(sign + digits.replace(',', '.'));
    if (mark === undefined) return;
    if (this.#mark !== '' && this.#mark !== mark) this.#isSettled = true;
    this.#mark = mark;
    this.#count += 1;
    if (this.#example === '') this.#example = shortened(cell.trim(), 40);
  }

  eitherWay(): EitherWay | undefined {
    if (this.#isSettled || this.#count === 0) return undefined;
    const [grouped, decimal] = [String(this.#grouped), String(this.#decimal)];
    return { count: this.#count, example: this.#example, grouped, decimal };
  }
}

/** What programs write where there is no value. */
const EMPTY = /^(?:false|nan|none|nat|<na>|null|nil|undefined|n\/a|\(null\)|\(blank\)|\\n|-{1,3})$/i;
const LONGEST = 16;
/** The first characters of these and of `true`, in lower case: most cells have another one. */
const BEGINNINGS: ReadonlySet<number> = new Set([...'fnut<(-\\ '].map((first) => first.charCodeAt(0) | 32));
/** In custom fields, which may have any value: what only a program writes. */
const OF_PROGRAMS = /^(?:nan|nat|<na>|null|undefined|\(null\)|\\n)$/i;
/** Fields for people. */
const FOR_PEOPLE = /^(?:full_name|title|content|author_name)$/;
const CUSTOM = /^custom_(?:params|fields)\./;
/** Once is a name. */
const AGAIN = 2;

/** Texts that look empty, in a column that people read. */
export class EmptyTexts {
  readonly #isForPeople: boolean;
  readonly #found = new Map<string, { count: number; readonly file: string; readonly line: number }>();
  #hasTrue = false;
  #hasTexts = false;
  /** A truth value of JSON, in place of a text. */
  isFalse = false;

  private constructor(isForPeople: boolean) {
    this.#isForPeople = isForPeople;
  }

  /** Undefined for a column of no such field. */
  static for(fields: readonly string[]): EmptyTexts | undefined {
    const isForPeople = fields.some((field) => FOR_PEOPLE.test(field));
    return isForPeople || fields.some((field) => CUSTOM.test(field)) ? new EmptyTexts(isForPeople) : undefined;
  }

  take(cell: string, file: string, line: number): void {
    if (cell.length > LONGEST || !BEGINNINGS.has(cell.charCodeAt(0) | 32)) {
      this.#hasTexts = true;
      return;
    }
    const text = cell.trim();
    if (!EMPTY.test(text)) {
      if (/^true$/i.test(text)) this.#hasTrue = true;
      else this.#hasTexts = true;
      return;
    }
    const known = this.#found.get(text);
    if (known) known.count += 1;
    else this.#found.set(text, { count: 1, file, line });
  }

  /** The most frequent one. */
  found():
    { readonly count: number; readonly example: string; readonly file: string; readonly line: number } | undefined {
    const all = [...this.#found].filter(([text, { count }]) => this.#isSuspect(text, count));
    const [most] = all.sort((one, other) => other[1].count - one[1].count);
    return most && { ...most[1], example: most[0] };
  }

  #isSuspect(text: string, count: number): boolean {
    const isFalse = /^false$/i.test(text);
    if (count < AGAIN && !(isFalse && this.isFalse && this.#isForPeople)) return false;
    if (isFalse) return !this.#hasTrue && (this.#isForPeople || this.#hasTexts);
    return this.#isForPeople || OF_PROGRAMS.test(text);
  }
}
