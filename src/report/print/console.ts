import type { Writable } from 'node:stream';
import { styleText } from 'node:util';
import stringWidth from 'string-width';
import { codeOf } from '../../errors.ts';
import { wrapped } from './layout.ts';
import { Redactor } from '../../redact.ts';
import { visible, visibleJson } from '../words/visible.ts';

export type Verbosity = 'quiet' | 'normal';

/** How a text is shown where there are colours. A `command` is never broken, so that it can be copied. */
type Tone = 'done' | 'partly' | 'failed' | 'command';

/** A part of a line that is laid out already. */
export interface Span {
  readonly text: string;
  readonly style?: Tone | 'heading' | 'dim' | undefined;
}
export type ScreenLine = readonly Span[];
type ScreenLines = readonly ScreenLine[];

const STYLES = {
  done: 'green',
  partly: 'yellow',
  failed: 'red',
  command: 'bold',
  heading: 'bold',
  dim: 'dim',
} as const;

type Style = (typeof STYLES)[keyof typeof STYLES];

const ENDS = ['drain', 'error', 'close'] as const;

/** At the beginning of a line, or after the place of a problem. */
const LABEL = /^(\S+:\d+:\d+ )?(error|stopped|warning):/gm;

/**
 * The only way to stdout and stderr, so that every line is redacted and no text from outside controls a terminal. stdout is for programs
 * (`--json`, a schema, an API response) and for results that people keep. Progress, questions and warnings go to stderr. On a terminal,
 * texts for people are broken into lines that fit. Colours are those of `util.styleText`: none in a pipe, on a terminal without
 * them, or with NO_COLOR; always with FORCE_COLOR.
 */
export class Console {
  readonly redactor: Redactor;
  readonly verbosity: Verbosity;
  readonly #out: NodeJS.WritableStream;
  readonly #err: NodeJS.WritableStream;
  /** Set while progress bars are shown: prints a line above them. */
  overBars: ((line: string) => void) | undefined;
  /** What `redraw` shows. */
  #redrawn = '';
  #lost: Error | undefined;

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
    // A terminal or pipe that was closed must not end a run. Its output is lost, but everything is in the files.
    for (const stream of [this.#out, this.#err]) stream.on('error', () => undefined);
    this.#out.on('error', (error) => {
      this.#lost ??= error;
    });
  }

  /** For programs, to stdout: unchanged, unless it is a terminal. */
  print(text: string): void {
    const clean = this.redactor.redact(text);
    this.#out.write(`${isTerminal(this.#out) ? visible(clean) : clean}\n`);
  }

  /** For programs, a JSON text to stdout. Characters that a terminal would interpret are escaped, wherever it goes. */
  printJson(json: string): void {
    this.#out.write(`${visibleJson(this.redactor.redact(json))}\n`);
  }

  /**
   * Resolves when stdout has taken everything, with the reason if it has not: a full disk, say. A pipe whose reader has had enough is
   * none.
   */
  async flushed(): Promise<Error | undefined> {
    await new Promise<void>((resolve) => this.#out.write('', () => resolve()));
    return codeOf(this.#lost) === 'EPIPE' ? undefined : this.#lost;
  }

  /** Resolves when everything was written to stdout: false if nobody reads it any more. */
  async drained(): Promise<boolean> {
    const out = this.#out as Writable;
    if (out.writableNeedDrain && !out.destroyed) {
      await new Promise<void>((resolve) => {
        const done = (): void => {
          for (const event of ENDS) out.off(event, done);
          resolve();
        };
        for (const event of ENDS) out.on(event, done);
      });
    }
    return !out.destroyed && !out.errored;
  }

  /** To stdout. On a terminal it replaces the output of the last call. */
  redraw(lines: ScreenLines): void {
    const isFirst = this.#redrawn === '';
    const columns = columnsOf(this.#out);
    const shown = this.#painted(lines, this.#out);
    const back = isFirst ? '' : canRedraw(this.#out) ? upAndClear(rowsOf(this.#redrawn, columns)) : '\n';
    this.#out.write(`${back}${shown}\n`);
    this.#redrawn = shown;
  }

  /** For people, to keep: to stdout, unless `--quiet` is set. */
  show(what: string | ScreenLines, tone?: Tone): void {
    if (this.verbosity !== 'quiet') this.#out.write(`${this.#shown(what, tone, this.#out)}\n`);
  }

  /** For people, while something is under way: to stderr, unless `--quiet` is set. */
  say(what: string | ScreenLines, tone?: Tone): void {
    if (this.verbosity !== 'quiet') this.complain(what, tone);
  }

  /** For people, always: errors and warnings, and how to fix them. */
  complain(what: string | ScreenLines, tone?: Tone): void {
    const shown = this.#shown(what, tone, this.#err);
    if (this.overBars) this.overBars(shown);
    else this.#err.write(`${shown}\n`);
  }

  /** Of stderr. */
  get columns(): number {
    return columnsOf(this.#err);
  }

  /** Of stdout. */
  get shownColumns(): number {
    return columnsOf(this.#out);
  }

  /** The terminal for bars; undefined if stderr is none, or one whose cursor cannot be moved. */
  get barTerminal(): NodeJS.WriteStream | undefined {
    return canRedraw(this.#err) ? (this.#err as NodeJS.WriteStream) : undefined;
  }

  /** In this colour, where stderr has colours. */
  paint(style: Style, text: string): string {
    return painted(style, text, this.#err);
  }

  #painted(lines: ScreenLines, stream: NodeJS.WritableStream): string {
    const spanText = ({ text, style }: Span): string => {
      const clean = this.#clean(text);
      if (style === undefined) return clean;
      const shown = painted(STYLES[style], clean, stream);
      return isMood(style) ? painted('bold', shown, stream) : shown;
    };
    return lines.map((line) => line.map(spanText).join('')).join('\n');
  }

  #shown(what: string | ScreenLines, tone: Tone | undefined, stream: NodeJS.WritableStream): string {
    if (typeof what !== 'string') return this.#painted(what, stream);
    const clean = this.#clean(what);
    const shown = tone !== 'command' && isTerminal(stream) ? wrapped(clean, columnsOf(stream)) : clean;
    if (tone !== undefined) return painted(STYLES[tone], shown, stream);
    return shown.replace(LABEL, (_, place: string | undefined, label: string) => {
      return `${place ?? ''}${painted(label === 'warning' ? 'yellow' : 'red', `${label}:`, stream)}`;
    });
  }

  #clean(text: string): string {
    return visible(this.redactor.redact(text));
  }
}

function isMood(style: Tone | 'heading' | 'dim'): boolean {
  return style === 'done' || style === 'partly' || style === 'failed';
}

/** In this colour, where the stream has colours. */
function painted(style: Style, text: string, stream: NodeJS.WritableStream): string {
  return styleText(style, text, { stream, validateStream: true });
}

function isTerminal(stream: NodeJS.WritableStream): boolean {
  return (stream as NodeJS.WriteStream).isTTY === true;
}

/** Whether its cursor can be moved. */
function canRedraw(stream: NodeJS.WritableStream): boolean {
  return isTerminal(stream) && process.env.TERM !== 'dumb';
}

function columnsOf(stream: NodeJS.WritableStream): number {
  // Some terminals (of an editor, of a job over ssh) say 0.
  return (stream as NodeJS.WriteStream).columns || 80;
}

/** The rows of a text on a terminal, which wraps long lines, also after it was resized. */
export function rowsOf(text: string, columns: number): number {
  return text.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(stringWidth(line) / columns)), 0);
}

/** Moves the cursor up to the beginning of a row, and clears what is below. */
export function upAndClear(rows: number): string {
  return `${rows > 0 ? `\u001b[${rows}A` : ''}\r\u001b[J`;
}
