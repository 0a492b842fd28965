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

/** Replaces every known secret in a text, plain, URL-encoded or JSON-escaped. Everything that is printed or logged passes it. */
export class Redactor {
  readonly #needles = new Set<string>();

  /** Ignores values of fewer than four characters: they are not secrets, and replacing them would garble the output. */
  add(...secrets: (Secret | undefined)[]): void {
    for (const secret of secrets) {
      const value = secret?.reveal();
      if (value === undefined || value.length < 4) continue;
      for (const form of [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)])
        this.#needles.add(form);
    }
  }

  redact(text: string): string {
    let clean = text;
    for (const needle of this.#needles) clean = clean.replaceAll(needle, '***');
    return clean;
  }
}
