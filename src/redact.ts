import { inspect } from 'node:util';

/** A secret that prints, serialises and inspects as `***`; only `reveal()` returns the value. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '***';
  }

  toJSON(): string {
    return '***';
  }

  [inspect.custom](): string {
    return '***';
  }
}

/**
 * Replaces every known secret in a text: plain, in another letter case, percent-encoded, JSON-escaped, or in Base64, alone
 * or as part of something longer. Everything that is printed or logged passes it.
 */
export class Redactor {
  readonly #patterns: RegExp[] = [];

  /** Ignores values of fewer than four characters: they are not secrets, and replacing them would garble the output. */
  add(...secrets: (Secret | undefined)[]): void {
    for (const secret of secrets) {
      const value = secret?.reveal();
      if (value === undefined || value.length < 4) continue;
      const forms = [...value].map(anyForm).join('');
      // Short secrets may be words: in another letter case they are more likely something else.
      this.#patterns.push(new RegExp(forms, value.length < 8 ? 'gu' : 'giu'));
      for (const form of base64Forms(value)) this.#patterns.push(new RegExp(form, 'gu'));
    }
  }

  redact(text: string): string {
    let clean = text;
    for (const pattern of this.#patterns) clean = clean.replace(pattern, '***');
    return clean;
  }
}

/** A pattern for one character, plain, percent-encoded or escaped as in JSON. */
function anyForm(character: string): string {
  const percent = [...Buffer.from(character)].map((byte) => `%${hex(byte, 2)}`).join('');
  const escaped = Array.from({ length: character.length }, (_, at) => `\\\\u${hex(character.charCodeAt(at), 4)}`);
  const short = JSON.stringify(character).slice(1, -1);
  return `(?:${[...new Set([character, short])].map(literal).join('|')}|${percent}|${escaped.join('')})`;
}

/** Hexadecimal digits in either letter case. */
function hex(code: number, digits: number): string {
  const text = code.toString(16).padStart(digits, '0');
  return text.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

/** Fewer digits than this occur by chance. */
const MIN_BASE64 = 8;

/**
 * The Base64 digits that depend on the value alone, for each of the three ways in which it can lie in a longer text, such
 * as `user:secret`.
 */
function base64Forms(value: string): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(value)]);
    const digits = bytes.toString('base64').slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6));
    if (digits.length < MIN_BASE64) return [];
    return [digits.replace(/[+/]/g, (digit) => (digit === '+' ? '[+-]' : '[/_]'))];
  });
}
