import { EVENT_TYPES, type Effect, type EventType } from '../model.ts';
import type { SentLine, SettledLine } from './lines.ts';

/** Stands in a form for one of the characters that a value may have there. */
const ANY = '\0';

/** What `ANY` stands for: digits, small letters, and what else differs from them in no bit that is looked at. */
const VARIABLE = /[0-?`-\x7f]/g;

/** Texts that stand for themselves in JSON, a byte each. */
const PLAIN = /^[ !#-[\]-\x7f]*$/;

/**
 * A stretch of a line as this program writes it, with room for values of certain lengths. `T`: what it says beside them.
 * No text that it fits has anything escaped, or a quote where a value is.
 */
export class Form<T> {
  readonly length: number;
  readonly says: T;
  readonly shape: string;
  /** Four bytes each; the last may overlap the one before. */
  readonly #words: Int32Array;
  /** All bits of what is always the same; of values those that tell that it is one of `VARIABLE`. */
  readonly #fixed: Int32Array;

  /** `shape`: four bytes or more. */
  constructor(shape: string, says: T) {
    this.shape = shape;
    this.says = says;
    const bytes = Buffer.from(shape);
    const fixed = bytes.map((byte) => (byte === 0 ? 0xa0 : 0xff));
    this.length = bytes.length;
    this.#words = wordsOf(bytes.map((byte) => (byte === 0 ? 0x20 : byte)));
    this.#fixed = wordsOf(fixed);
  }

  fits(view: DataView, at: number): boolean {
    const end = at + this.length;
    if (end > view.byteLength) return false;
    const last = this.#words.length - 1;
    for (let nth = 0, place = at; nth < last; nth += 1, place += 4) {
      if (!this.#fitsWord(view.getInt32(place, true), nth)) return false;
    }
    return this.#fitsWord(view.getInt32(end - 4, true), last);
  }

  #fitsWord(word: number, nth: number): boolean {
    const mask = this.#fixed[nth]!;
    // Of a value's byte either bit 4 (digits) or bit 6 (letters) is set: the shift brings the one to the other's place.
    return (((word ^ this.#words[nth]!) & mask) | (~(word | (word << 2)) & ~mask & 0x40404040)) === 0;
  }
}

function wordsOf(bytes: Uint8Array): Int32Array {
  const words = new Int32Array(Math.ceil(bytes.length / 4));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let nth = 0; nth < words.length; nth += 1) {
    words[nth] = view.getInt32(Math.min(nth * 4, bytes.length - 4), true);
  }
  return words;
}

/** More are not made by any mapping; then it begins anew. */
const MOST = 500;

/** The forms of one stretch that lines had so far. */
class Forms<T> {
  #forms: Form<T>[] = [];
  #at = 0;

  /** The one that fits, looked for from `ahead` after the one that did last: they come in much the same order. */
  find(view: DataView, at: number, ahead: number): Form<T> | undefined {
    const forms = this.#forms;
    const count = forms.length;
    let nth = this.#at + ahead;
    for (let tried = 0; tried < count; tried += 1, nth += 1) {
      if (nth >= count) nth = 0;
      const form = forms[nth]!;
      if (!form.fits(view, at)) continue;
      this.#at = nth;
      return form;
    }
    return undefined;
  }

  add(shape: string, says: T): void {
    if (this.#forms.some((known) => known.shape === shape)) return;
    if (this.#forms.length === MOST) this.#forms = [];
    this.#forms.push(new Form(shape, says));
  }
}

/** Where a value stands in its stretch. */
export interface Place {
  readonly start: number;
  readonly length: number;
}

/** Up to the external id. */
export interface Head {
  readonly kind: SentLine['kind'] | undefined;
  readonly type: EventType;
  readonly id: Place;
}

/** From the external id to the end of a `sent` line. */
export interface SentEnd {
  readonly sha: Place;
}

/** From the external id to the first field of a settled line. */
export interface Settlement {
  readonly status: SettledLine['status'];
  readonly outcome: Effect | null;
  readonly code: string | null;
  readonly entityId: Place | undefined;
  readonly sha: Place;
}

/** From after the fields to the end. */
export interface SettledEnd {
  readonly at: Place;
}

const EFFECTS: readonly unknown[] = ['created', 'updated', 'none', null] satisfies (Effect | null)[];

/**
 * The forms that lines had so far: those that one mapping made are alike but for ids, hashes and times. A line that JSON.parse
 * read is handed in, so that those like it are known.
 */
export class LineForms {
  readonly heads = new Forms<Head>();
  readonly sentEnds = new Forms<SentEnd>();
  readonly settlements = new Forms<Settlement>();
  readonly fields = new Forms<undefined>();
  readonly settledEnds = new Forms<SettledEnd>();

  learn(line: SentLine | SettledLine): void {
    const { id, type, content_sha: sha } = line;
    if (!isPlain(id) || !isPlain(sha) || !EVENT_TYPES.includes(type)) return;
    const open = line.kind === 'sent' ? '{"kind":"sent","id":"' : '{"id":"';
    const head = { kind: line.kind, type, id: { start: open.length, length: id.length } };
    this.heads.add(`${open}${room(id)}","type":"${type}","external_id":`, head);
    if (line.kind === undefined) return this.#learnSettled(line);
    const before = ',"content_sha":"';
    this.sentEnds.add(`${before}${room(sha)}"}\n`, { sha: { start: before.length, length: sha.length } });
  }

  #learnSettled({ status, outcome, entity_id, code, content_sha, fields, at }: SettledLine): void {
    const isRight =
      EFFECTS.includes(outcome) && [entity_id, code].every((text) => text === null || isPlain(text)) && isPlain(at);
    if (!isRight) return;
    const toEntity = `,"status":"${status}","outcome":${JSON.stringify(outcome)},"entity_id":`;
    const entity = entity_id === null ? 'null' : `"${room(entity_id)}"`;
    const toSha = `${toEntity}${entity},"code":${JSON.stringify(code)},"content_sha":"`;
    this.settlements.add(`${toSha}${room(content_sha)}","fields":{`, {
      status,
      outcome,
      code,
      entityId: entity_id === null ? undefined : { start: toEntity.length + 1, length: entity_id.length },
      sha: { start: toSha.length, length: content_sha.length },
    });
    for (const [name, value] of Object.entries(fields ?? {})) {
      if (isPlain(value)) this.fields.add(`${JSON.stringify(name)}:"${room(value)}"`, undefined);
    }
    const before = '},"at":"';
    this.settledEnds.add(`${before}${room(at)}"}\n`, { at: { start: before.length, length: at.length } });
  }
}

function isPlain(text: unknown): text is string {
  return typeof text === 'string' && PLAIN.test(text);
}

/** A plain text without what may be other in the next line. */
function room(text: string): string {
  return text.replace(VARIABLE, ANY);
}
