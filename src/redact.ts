import { inspect } from 'node:util';
import { tryParseJson } from './json.ts';

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

/** A notation that writes characters with other ones: its pattern, and the character that a match means. */
interface Escapes {
  readonly pattern: RegExp;
  readonly decode: (escape: string) => string;
}

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  sol: '/',
  plus: '+',
};
const SHORT: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

const ESCAPES: readonly Escapes[] = [
  {
    // One character each; a byte that is no UTF-8 is one of Latin-1.
    pattern:
      /%[0-7][\da-f]|%[cd][\da-f]%[89ab][\da-f]|%e[\da-f](?:%[89ab][\da-f]){2}|%f[\da-f](?:%[89ab][\da-f]){3}|%[\da-f]{2}/gi,
    decode: (escape) => {
      try {
        return decodeURIComponent(escape);
      } catch {
        return Buffer.from(escape.replaceAll('%', ''), 'hex').toString('latin1');
      }
    },
  },
  {
    // JSON, and text that other programs accept as JSON.
    pattern: /\\(?:u[\da-f]{4}|x[\da-f]{2}|[^])/gi,
    decode: (escape) =>
      escape.length > 2 ? String.fromCharCode(parseInt(escape.slice(2), 16)) : (SHORT[escape[1]!] ?? escape[1]!),
  },
  {
    // HTML.
    pattern: /&(?:#x0*[\da-f]{1,5}|#0*\d{1,6}|[a-z]{2,4});?/gi,
    decode: (escape) => {
      const [, hex, decimal, name] = /^&(?:#x([\da-f]+)|#(\d+)|(\w+))/i.exec(escape)!;
      if (name !== undefined) return NAMED[name.toLowerCase()] ?? escape;
      return String.fromCodePoint(hex === undefined ? Number(decimal) : parseInt(hex, 16));
    },
  },
];

/** A secret may be encoded by a server, and the result once more by a firewall before it. */
const MAX_ENCODINGS = 2;
/** Fewer characters are no secret, and replacing them would garble the output. */
const MIN_LENGTH = 4;
/** Short secrets may be words: in another letter case they are more likely something else. */
const MIN_LENGTH_ANY_CASE = 8;
/** Fewer digits of Base64 occur by chance. */
const MIN_BASE64 = 8;
/** Also that for URLs. */
const BASE64 = /[\w+/-]{8,}={0,2}/g;

type Range = readonly [start: number, end: number];

/**
 * Replaces every known secret in a text: plain, in another letter case, or encoded up to twice, as a whole or in part: in percent
 * escapes, those of JSON or HTML, or Base64, where it may be part of something longer. Everything that is printed or logged passes
 * it. The text is decoded and searched, rather than the secret encoded: a secret that has escapes itself, or several thousand
 * characters, is text like any other.
 */
export class Redactor {
  readonly #hidden: { readonly text: string; readonly anyCase: boolean }[] = [];
  /** Characters of the shortest one, and its digits in Base64. */
  #shortest = Infinity;
  #minBase64 = Infinity;

  /** Ignores values of fewer than four characters. */
  add(...secrets: (Secret | undefined)[]): void {
    for (const secret of secrets) {
      const value = secret?.reveal() ?? '';
      // Where only a part is encoded, decoding also resolves the escapes of the secret itself.
      const decoded = ESCAPES.map((escapes) => decode(value, escapes));
      for (const text of new Set([value, value.replaceAll(' ', '+'), ...decoded])) {
        const anyCase = text.length >= MIN_LENGTH_ANY_CASE;
        if (text.length >= MIN_LENGTH) this.#hidden.push({ text: anyCase ? foldCase(text) : text, anyCase });
      }
    }
    this.#shortest = Math.min(...this.#hidden.map(({ text }) => text.length));
    this.#minBase64 = Math.max(MIN_BASE64, Math.floor((this.#shortest * 8) / 6));
  }

  redact(text: string): string {
    let clean = '';
    let rest = 0;
    for (const [start, end] of this.#find(text, MAX_ENCODINGS).sort(([one], [other]) => one - other)) {
      if (start >= rest) clean += `${text.slice(rest, start)}***`;
      rest = Math.max(rest, end);
    }
    return clean + text.slice(rest);
  }

  /** A body as received. Of JSON each text is redacted as it will be parsed: its escapes are one encoding more. */
  redactBody(body: string): string {
    const clean = this.redact(body);
    if (clean === body && !body.includes('\\')) return body;
    let found = false;
    const redacted = (text: string): string => {
      const without = this.redact(text);
      found ||= without !== text;
      return without;
    };
    const json = JSON.stringify(tryParseJson(body), (_name, value: unknown) => {
      if (typeof value === 'string') return redacted(value);
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
      return Object.fromEntries(Object.entries(value).map(([name, member]) => [redacted(name), member as unknown]));
    });
    return found ? json : clean;
  }

  #find(text: string, encodings: number): Range[] {
    // No notation makes a secret shorter.
    if (text.length < this.#shortest) return [];
    const found = this.#findPlain(text);
    if (encodings === 0) return found;
    for (const escapes of ESCAPES) {
      const decoded = decode(text, escapes);
      const inside = decoded === text ? [] : this.#find(decoded, encodings - 1);
      if (inside.length > 0) for (const range of encodedRanges(text, escapes, inside)) found.push(range);
    }
    for (const { 0: digits, index } of text.matchAll(BASE64)) {
      if (digits.length < this.#minBase64) continue;
      // It may begin after other text, so that each group of four digits begins anywhere.
      const texts = [0, 1, 2, 3].map((from) => Buffer.from(digits.slice(from), 'base64').toString());
      if (texts.some((each) => this.#find(each, encodings - 1).length > 0)) found.push([index, index + digits.length]);
    }
    return found;
  }

  #findPlain(text: string): Range[] {
    const found: Range[] = [];
    const folded = foldCase(text);
    for (const { text: hidden, anyCase } of this.#hidden) {
      const searched = anyCase ? folded : text;
      for (let at = searched.indexOf(hidden); at >= 0; at = searched.indexOf(hidden, at + hidden.length)) {
        found.push([at, at + hidden.length]);
      }
    }
    return found;
  }
}

function decode(text: string, { pattern, decode: decodeOne }: Escapes): string {
  return text.replace(pattern, decodeOne);
}

/** The places in a text of these ranges of the decoded text, in order. */
function encodedRanges(text: string, { pattern, decode: decodeOne }: Escapes, ranges: readonly Range[]): Range[] {
  const starts: number[] = [];
  let rest = 0;
  for (const { 0: escape, index } of text.matchAll(pattern)) {
    for (let at = rest; at < index; at += 1) starts.push(at);
    for (let unit = decodeOne(escape).length; unit > 0; unit -= 1) starts.push(index);
    rest = index + escape.length;
  }
  for (let at = rest; at <= text.length; at += 1) starts.push(at);
  return ranges.map(([start, end]) => [starts[start]!, starts[end]!]);
}

/** In lower case, with every character at its place: İ alone has two in lower case, and is left as it is. */
function foldCase(text: string): string {
  return text
    .split('İ')
    .map((part) => part.toLowerCase())
    .join('İ');
}
