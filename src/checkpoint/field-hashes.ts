import { hash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, messageOf, UserError } from '../errors.ts';
import { canonicalJson, isObject, NumberText, type JsonObject, type JsonValue } from '../json.ts';
import { DRY_RUN, writeWhole, type StateDir } from '../state-dir.ts';

/** Fields whose first-level keys are treated as separate fields. */
export const CUSTOM_FIELDS: readonly string[] = ['custom_params', 'custom_fields'];

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

/** A short hash per field, by the names of `fieldsOf`: enough to detect a changed value without storing it. */
export type FieldHashes = Readonly<Record<string, string>>;

export const FIELD_KEY_FILE = 'field-hashes.key';

const KEY_BYTES = 32;
/** Hexadecimal digits of a hash, and of one that a version without keys wrote. */
const DIGITS = 12;
const UNKEYED_DIGITS = 8;

/**
 * Hashes the fields of events for the checkpoint. A phone number could be found by trying all of them, so a random key
 * of the migration is part of each hash. It never leaves the state directory, and `purge` deletes it: after that, the
 * hashes in the checkpoint say nothing.
 */
export class FieldHasher {
  /** Tells keys apart; part of each `run` line of the checkpoint. */
  readonly keyId: string;
  readonly #key: string;

  private constructor(key: string) {
    this.#key = key;
    this.keyId = hash('sha256', `id ${key}`, 'hex').slice(0, DIGITS);
  }

  /**
   * With the key of a state directory, or of its last dry run; a new one if there is none. If the state directory has none, it
   * is stored in `store`.
   */
  static async open(state: StateDir, { store }: { store: StateDir | undefined }): Promise<FieldHasher> {
    const path = state.file(FIELD_KEY_FILE);
    const stored = await storedKey(path);
    if (stored !== undefined) return new FieldHasher(stored);
    const ofDryRun = await storedKey(join(state.file(DRY_RUN), FIELD_KEY_FILE));
    const hasher = ofDryRun === undefined ? FieldHasher.random() : new FieldHasher(ofDryRun);
    if (store) await writeWhole(store.file(FIELD_KEY_FILE), `${hasher.#key}\n`);
    return hasher;
  }

  /** With a new key, which is not stored. */
  static random(): FieldHasher {
    return new FieldHasher(randomBytes(KEY_BYTES).toString('hex'));
  }

  hashesOf(data: JsonObject): FieldHashes {
    const hashes: Record<string, string> = {};
    for (const [name, value] of fieldsOf(data)) hashes[name] = this.hashOf(name, value);
    return hashes;
  }

  /** Whether a hash is over the normal form of the value; that of an older version is over the exact value. */
  isKeyed(stored: string): boolean {
    return stored.length !== UNKEYED_DIGITS;
  }

  /** Whether a hash from the checkpoint is that of this value, in any of the forms that `normalForm` treats as equal. */
  matches(stored: string | undefined, name: string, value: JsonValue): boolean {
    return stored === (stored?.length === UNKEYED_DIGITS ? unkeyed(value) : this.hashOf(name, value));
  }

  /**
   * The hash of a value in the form that `normalForm` gives it: 12 hexadecimal digits. Cut off after 48 bits, so nothing can be
   * appended to a hashed value: a key in front is as good as an HMAC.
   */
  hashOf(name: string, value: JsonValue): string {
    return hash('sha256', `${this.#key} ${normalForm(name, value)}`, 'hex').slice(0, DIGITS);
  }
}

async function storedKey(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return '';
    throw new UserError(`cannot read ${path}: ${messageOf(error)}`, { hint: 'check the permissions', cause: error });
  });
  return text.trim() === '' ? undefined : text.trim();
}

function unkeyed(value: JsonValue): string {
  return hash('sha256', canonicalJson(value), 'hex').slice(0, UNKEYED_DIGITS);
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
  switch (name) {
    case 'phone_number':
      return text.replace(/\D/g, '');
    case 'amount':
      return Number.isFinite(Number(text)) ? Number(text).toFixed(2) : text;
    case 'email':
    case 'currency':
    case 'stage_id':
    case 'owner_id':
      return spaced(text).toLowerCase();
    case 'lead_external_id':
      return text;
    default:
      return spaced(text);
  }
}

function spaced(text: string): string {
  return text.normalize('NFC').replace(/\s+/gu, ' ').trim();
}
