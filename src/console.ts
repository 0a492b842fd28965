import { Redactor } from './redact.ts';

export type Verbosity = 'quiet' | 'normal' | 'verbose';

/**
 * The one door to stdout and stderr: every line passes the redactor. stdout is for what a machine may read (`--json`,
 * a schema, an API answer); everything said to people goes to stderr.
 */
export class Console {
  readonly redactor: Redactor;
  readonly verbosity: Verbosity;
  readonly #out: NodeJS.WritableStream;
  readonly #err: NodeJS.WritableStream;
  /** Set while progress bars own the terminal: takes the line instead, so that it is printed above them. */
  overBars: ((line: string) => void) | undefined;

  constructor(
    options: {
      redactor?: Redactor;
      verbosity?: Verbosity;
      stdout?: NodeJS.WritableStream;
      stderr?: NodeJS.WritableStream;
    } = {},
  ) {
    this.redactor = options.redactor ?? new Redactor();
    this.verbosity = options.verbosity ?? 'normal';
    this.#out = options.stdout ?? process.stdout;
    this.#err = options.stderr ?? process.stderr;
  }

  /** For machines. */
  print(text: string): void {
    this.#out.write(`${this.redactor.redact(text)}\n`);
  }

  /** For people, unless they asked for quiet. */
  say(text: string): void {
    if (this.verbosity !== 'quiet') this.#write(text);
  }

  /** For people who asked for more. */
  detail(text: string): void {
    if (this.verbosity === 'verbose') this.#write(text);
  }

  /** For people, always: what went wrong and how to mend it. */
  complain(text: string): void {
    this.#write(text);
  }

  get isTerminal(): boolean {
    return (this.#err as NodeJS.WriteStream).isTTY === true;
  }

  get columns(): number {
    return (this.#err as NodeJS.WriteStream).columns ?? 80;
  }

  #write(text: string): void {
    const clean = this.redactor.redact(text);
    if (this.overBars) this.overBars(clean);
    else this.#err.write(`${clean}\n`);
  }
}
