import type { Dispatcher } from 'undici';
import { decodeBody } from './content-encoding.ts';
import type { Cut } from './reply.ts';

/** Far larger than any list page; the limit of a body as received and decompressed. */
export const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Decompressed. */
  readonly body: string;
}

/** Removes a byte order mark. */
const UTF_8 = new TextDecoder();

/**
 * One request and its answer, collected from undici's dispatch callbacks. undici's own `request()` would create a
 * stream per body and need an abort signal per request.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  /** Rejects with undici's error or an `UndecodableBody`. After `end`, `cut` holds the reason instead. */
  readonly answer: Promise<RawAnswer>;
  /** Why `end` was called, if it was. */
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

  /** Aborts the request unless it has been answered. A request that is not on the wire yet is not sent. */
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

  /** Also called for interim (1xx) responses: the last call counts. */
  onResponseStart(_controller: unknown, status: number, headers: RawAnswer['headers']): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    try {
      const encodings = [this.#headers['content-encoding'] ?? []].flat().join(',');
      const body = UTF_8.decode(decodeBody(Buffer.concat(this.#chunks), encodings, MAX_RESPONSE_BYTES));
      this.#resolve({ status: this.#status, headers: this.#headers, body });
    } catch (error) {
      this.#reject(error as Error);
    }
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#reject(error);
  }
}
