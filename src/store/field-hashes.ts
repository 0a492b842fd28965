import { hash, randomBytes } from 'node:crypto';
import { CUSTOM_FIELDS, fieldNamed } from '../kinds/index.ts';
import { canonicalJson, isObject, NumberText, type JsonObject, type JsonValue } from '../json.ts';

/** Every field of an event's data except `external_id`; custom fields as `custom_params.origin`. */
export function* fieldsOf(data: JsonObject): Generator<[name: string, value: JsonValue]> {
  for (const [name, value] of Object.entries(data)) {
    if (value === undefined || name === 'external_id') continue;
    if (CUSTOM_FIELDS.includes(name) && isObject(value)) {
      for (const [key, inner] of Object.entries(value)) if (inner !== undefined) yield [`${name}.${key}`, inner];
    } else {
      yield [name, value];
    }
  }
}

/** A hash per field, by the names of `fieldsOf`: enough to detect a changed value without storing it. */
type FieldHashes = Readonly<Record<string, string>>;

const KEY_BYTES = 32;
/** Hexadecimal digits of half a hash. */
const DIGITS = 12;

/**
 * Hashes the fields of events for the checkpoint. A phone number could be found by trying all of them, so a random key
 * of the migration is part of each hash. It never leaves the state directory, and `purge` deletes it: after that, the
 * hashes in the checkpoint say nothing.
 */
export class FieldHasher {
  /** Tells keys apart; part of each run in the checkpoint. */
  readonly keyId: string;
  readonly key: string;

  constructor(key: string) {
    this.key = key;
    this.keyId = hash('sha256', `id ${key}`, 'hex').slice(0, DIGITS);
  }

  /** With a new key. */
  static random(): FieldHasher {
    return new FieldHasher(randomBytes(KEY_BYTES).toString('hex'));
  }

  hashesOf(data: JsonObject): FieldHashes {
    const hashes: Record<string, string> = {};
    for (const [name, value] of fieldsOf(data)) hashes[name] = this.hashOf(name, value);
    return hashes;
  }

  /**
   * The hash of a value (`Hash` in core/known): 12 hexadecimal digits of the value exactly, and 12 of the form that `normalForm`
   * gives it. Cut off after 48 bits each, so nothing can be appended to a hashed value: a key in front is as good as an HMAC.
   */
  hashOf(name: string, value: JsonValue): string {
    return this.#digits(`= ${canonicalJson(value)}`) + this.normalHashOf(name, value);
  }

  /** The second half of `hashOf`: equal for all forms in which the service may show a value. */
  normalHashOf(name: string, value: JsonValue): string {
    return this.#digits(normalForm(name, value));
  }

  #digits(text: string): string {
    return hash('sha256', `${this.key} ${text}`, 'hex').slice(0, DIGITS);
  }
}

/**
 * The value of a field in one form for all forms in which the service may show it: e-mail addresses in another letter
 * case, phone numbers with spaces, amounts in whole cents, text in another Unicode form or with other spaces.
 */
export function normalForm(name: string, value: JsonValue): string {
  if (typeof value !== 'string' && typeof value !== 'number' && !(value instanceof NumberText)) {
    return canonicalJson(value);
  }
  const text = value instanceof NumberText ? value.text : String(value);
  switch (fieldNamed(name)?.form) {
    case 'phone':
      return text.replace(/\D/g, '');
    case 'number':
      return Number.isFinite(Number(text)) ? Number(text).toFixed(2) : text;
    case 'folded':
    case 'id':
      return spaced(text).toLowerCase();
    case 'exact':
      return text;
    case 'text':
    case undefined:
      return spaced(text);
  }
}

function spaced(text: string): string {
  return text.normalize('NFC').replace(/\s+/gu, ' ').trim();
}
