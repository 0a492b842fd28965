import { Redactor } from './redact.ts';
import { visible, visibleJson } from './visible.ts';

export type Verbosity = 'quiet' | 'normal' | 'verbose';

/**
 * The only way to stdout and stderr, so that every line is redacted and no text from outside controls a terminal. stdout is
 * for what programs read (`--json`, a schema, an API response); everything for people goes to stderr.
 */
export class Console {
  readonly redactor: Redactor;
  readonly verbosity: Verbosity;
  readonly #out: NodeJS.WritableStream;
  readonly #err: NodeJS.WritableStream;
  /** Set while progress bars are shown: prints a line above them. */
  overBars: ((line: string) => void) | undefined;
  /** Rows on the screen that `redraw` shows. */
  #redrawn = 0;

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

  /** For programs, to stdout: unchanged, unless it is a terminal. */
  print(text: string): void {
    const clean = this.redactor.redact(text);
    this.#out.write(`${this.#isTerminal(this.#out) ? visible(clean) : clean}\n`);
  }

  /** For programs, a JSON text to stdout. Characters that a terminal would interpret are escaped, wherever it goes. */
  printJson(json: string): void {
    this.#out.write(`${visibleJson(this.redactor.redact(json))}\n`);
  }

  /** To stdout, over what the last call showed if it is a terminal, below it otherwise. */
  redraw(text: string): void {
    const isFirst = this.#redrawn === 0;
    const shown = visible(this.redactor.redact(text));
    if (this.#isTerminal(this.#out)) {
      const back = isFirst ? '' : `\u001b[${this.#redrawn}A\r\u001b[J`;
      this.#out.write(`${back}${shown}\n`);
    } else this.print(isFirst ? text : `\n${text}`);
    this.#redrawn = rows(shown, (this.#out as NodeJS.WriteStream).columns ?? 80);
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
    return this.#isTerminal(this.#err);
  }

  get columns(): number {
    return (this.#err as NodeJS.WriteStream).columns ?? 80;
  }

  #write(text: string): void {
    const clean = visible(this.redactor.redact(text));
    if (this.overBars) this.overBars(clean);
    else this.#err.write(`${clean}\n`);
  }
  #isTerminal(stream: NodeJS.WritableStream): boolean {
    return (stream as NodeJS.WriteStream).isTTY === true;
  }
}

function rows(text: string, columns: number): number {
  return text.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / columns)), 0);
}
