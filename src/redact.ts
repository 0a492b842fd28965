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
  /** What the first character can begin with. */
  readonly starts: ReadonlySet<string>;
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
    return this.#hidden.reduce(without, text);
  }

  #hide(characters: readonly (readonly Form[])[]): void {
    this.#hidden.push({ characters, starts: new Set(characters[0]!.map(({ text }) => text[0]!)) });
  }
}

function without(text: string, { characters, starts }: Hidden): string {
  const folded = foldCase(text);
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
  for (const start of positions(starts, text, folded)) {
    const end = start < rest ? undefined : endAt(start);
    if (end === undefined) continue;
    clean += `${text.slice(rest, start)}***`;
    rest = end;
  }
  return clean + text.slice(rest);
}

/** In lower case, with every character at its place: a few have more than one in lower case, and are left as they are. */
function foldCase(text: string): string {
  const folded = text.toLowerCase();
  if (folded.length === text.length) return folded;
  return [...text].map((each) => (each.toLowerCase().length === each.length ? each.toLowerCase() : each)).join('');
}

/** Where one of these characters stands in one of the texts, in order. */
function positions(characters: ReadonlySet<string>, ...texts: readonly string[]): readonly number[] {
  const found = new Set<number>();
  for (const text of texts) {
    for (const character of characters) {
      for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) found.add(at);
    }
  }
  return [...found].sort((a, b) => a - b);
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
