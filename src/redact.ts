import { inspect } from 'node:util';

/** A secret that prints, serialises and inspects as `***`; the value is reached only through `reveal()`. */
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

/** Replaces every known secret, plain or URL-encoded, wherever it stands in a text. The one door out uses it. */
export class Redactor {
  readonly #needles = new Set<string>();

  /** Values shorter than four characters are not secrets and would shred the output. */
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
