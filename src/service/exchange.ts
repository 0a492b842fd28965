import type { Dispatcher } from 'undici';
import type { Cut } from './reply.ts';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** A mark of the byte order is no part of the text. */
const UTF_8 = new TextDecoder();

/**
 * One request and its answer, put together as undici hands it over: a `request()` of undici's makes a stream of each body,
 * and wants a signal for what may be cut off.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  /** Rejects with what undici says, or with an error without meaning after `end`. */
  readonly answer: Promise<RawAnswer>;
  /** Why it was ended, if it was. */
  cut: Cut | undefined;
  #resolve!: (answer: RawAnswer) => void;
  #reject!: (error: Error) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: RawAnswer['headers'] = {};
  readonly #chunks: Buffer[] = [];

  constructor() {
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Gives it up, if it has not been answered yet; what has not gone out does not go out any more. */
  end(cut: Cut): void {
    this.cut ??= cut;
    const error = new Error(cut);
    this.#controller?.abort(error);
    this.#reject(error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.cut) controller.abort(new Error(this.cut));
  }

  /** Told of interim answers too: the last one counts. */
  onResponseStart(_controller: unknown, status: number, headers: RawAnswer['headers']): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [first, ...more] = this.#chunks;
    const bytes = more.length === 0 ? first : Buffer.concat(this.#chunks);
    this.#resolve({ status: this.#status, headers: this.#headers, body: UTF_8.decode(bytes) });
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#reject(error);
  }
}
