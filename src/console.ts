import { Redactor } from './redact.ts';

export type Verbosity = 'quiet' | 'normal' | 'verbose';

/**
 * The only way to stdout and stderr, so that every line is redacted. stdout is for what programs read (`--json`, a schema,
 * an API response); everything for people goes to stderr.
 */
export class Console {
  readonly redactor: Redactor;
  readonly verbosity: Verbosity;
  readonly #out: NodeJS.WritableStream;
  readonly #err: NodeJS.WritableStream;
  /** Set while progress bars are shown: prints a line above them. */
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
    // A terminal or pipe that was closed must not end a run. What is written there is lost; everything is in the files.
    for (const stream of [this.#out, this.#err]) stream.on('error', () => undefined);
  }

  /** For programs, to stdout. */
  print(text: string): void {
    this.#out.write(`${this.redactor.redact(text)}\n`);
  }

  /** For people, unless `--quiet` is set. */
  say(text: string): void {
    if (this.verbosity !== 'quiet') this.#write(text);
  }

  /** For people, only if `--verbose` is set. */
  detail(text: string): void {
    if (this.verbosity === 'verbose') this.#write(text);
  }

  /** For people, always: errors and warnings, and how to fix them. */
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
