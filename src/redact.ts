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

/** Fewer characters are no secret, and replacing them would garble the output. */
const MIN_LENGTH = 4;
/** Fewer digits of Base64 occur by chance. */
const MIN_BASE64 = 8;

/**
 * Replaces every known secret in a text: as it is, as JSON writes it, in percent escapes, or in Base64, where it may be part of something
 * longer. Everything that is printed or logged passes it, and every answer of the service.
 */
export class Redactor {
  /** The longest first, since one may be part of another. */
  #hidden: readonly string[] = [];

  /** Ignores values of fewer than four characters. */
  add(...secrets: (Secret | undefined)[]): void {
    const values = secrets.map((secret) => secret?.reveal() ?? '').filter(({ length }) => length >= MIN_LENGTH);
    const forms = new Set([...this.#hidden, ...values.flatMap(formsOf)]);
    this.#hidden = [...forms].sort((one, other) => other.length - one.length);
  }

  redact(text: string): string {
    return this.#hidden.reduce((clean, hidden) => clean.replaceAll(hidden, '***'), text);
  }
}

function formsOf(value: string): string[] {
  const percent = encodeURIComponent(value);
  const percentLower = percent.replace(/%../g, (escape) => escape.toLowerCase());
  const plain = [value, JSON.stringify(value).slice(1, -1), percent, percentLower, ...base64Of(value)];
  // Some servers escape slashes in JSON.
  return plain.flatMap((form) => [form, form.replaceAll('/', '\\/')]);
}

/** In Base64, also for URLs, after 0, 1 or 2 bytes of a group: without the digits that depend on what is beside it. */
function base64Of(value: string): string[] {
  const bytes = Buffer.from(value);
  return [0, 1, 2].flatMap((before) => {
    const all = Buffer.concat([Buffer.alloc(before), bytes]);
    const [from, to] = [before, all.length].map((count) => (count * 8) / 6) as [number, number];
    return (['base64', 'base64url'] as const)
      .map((form) => all.toString(form).slice(Math.ceil(from), Math.floor(to)))
      .filter(({ length }) => length >= MIN_BASE64);
  });
}
