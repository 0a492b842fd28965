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

/** A text to be replaced, character by character: each is a list of the texts that can stand for it. */
interface Hidden {
  readonly characters: readonly (readonly Form[])[];
  /** What the first character can begin with, in a text in lower case. */
  readonly starts: RegExp;
}

/** In lower case if the letter case does not matter. */
interface Form {
  readonly text: string;
  readonly anyCase: boolean;
}

/**
 * Replaces every known secret in a text: plain, in another letter case, percent-encoded, JSON-escaped, or in Base64, alone
 * or as part of something longer. Everything that is printed or logged passes it. Secrets are compared as text: as a pattern,
 * one of several thousand characters could not be compiled, and the error would show it.
 */
export class Redactor {
  readonly #hidden: Hidden[] = [];

  /** Ignores values of fewer than four characters: they are not secrets, and replacing them would garble the output. */
  add(...secrets: (Secret | undefined)[]): void {
    for (const secret of secrets) {
      const value = secret?.reveal();
      if (value === undefined || value.length < 4) continue;
      // Short secrets may be words: in another letter case they are more likely something else.
      this.#hide([...value].map((character) => formsOf(character, value.length >= 8)));
      for (const digits of base64Forms(value)) this.#hide([...digits].map(base64Digit));
    }
  }

  redact(text: string): string {
    let [clean, folded] = [text, foldCase(text)];
    for (const hidden of this.#hidden) {
      const found = without(clean, folded, hidden);
      if (found !== clean) [clean, folded] = [found, foldCase(found)];
    }
    return clean;
  }

  #hide(characters: readonly (readonly Form[])[]): void {
    const codes = characters[0]!.map(({ text }) => `\\u${hex(foldCase(text).charCodeAt(0), 4)}`);
    this.#hidden.push({ characters, starts: new RegExp(`[${codes.join('')}]`, 'g') });
  }
}

function without(text: string, folded: string, { characters, starts }: Hidden): string {
  const endAt = (from: number): number | undefined => {
    let end = from;
    for (const forms of characters) {
      const found = forms.find((form) => (form.anyCase ? folded : text).startsWith(form.text, end));
      if (!found) return undefined;
      end += found.text.length;
    }
    return end;
  };
  let clean = '';
  let rest = 0;
  starts.lastIndex = 0;
  while (starts.test(folded)) {
    const start = starts.lastIndex - 1;
    const end = endAt(start);
    if (end === undefined) continue;
    clean += `${text.slice(rest, start)}***`;
    rest = end;
    starts.lastIndex = end;
  }
  return clean + text.slice(rest);
}

/** In lower case, with every character at its place: a few have more than one in lower case, and are left as they are. */
function foldCase(text: string): string {
  const folded = text.toLowerCase();
  if (folded.length === text.length) return folded;
  return [...text].map((each) => (each.toLowerCase().length === each.length ? each.toLowerCase() : each)).join('');
}

/** One character plain, percent-encoded or escaped as in JSON. */
function formsOf(character: string, anyCase: boolean): Form[] {
  const percent = [...Buffer.from(character)].map((byte) => `%${hex(byte, 2)}`).join('');
  const escaped = Array.from({ length: character.length }, (_, at) => `\\u${hex(character.charCodeAt(at), 4)}`);
  const plain = [...new Set([character, JSON.stringify(character).slice(1, -1)])];
  return [
    ...plain.map((text) => ({ text: anyCase ? foldCase(text) : text, anyCase })),
    ...[percent, escaped.join('')].map((text) => ({ text, anyCase: true })),
  ];
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}

/** Base64 for URLs has other signs for two of the digits. */
function base64Digit(digit: string): Form[] {
  const texts = digit === '+' ? ['+', '-'] : digit === '/' ? ['/', '_'] : [digit];
  return texts.map((text) => ({ text, anyCase: false }));
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
    return digits.length < MIN_BASE64 ? [] : [digits];
  });
}
