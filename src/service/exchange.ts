import type { Dispatcher } from 'undici';
import type { Cut } from './reply.ts';

/** By name in lower case. */
export type ReceivedHeaders = Readonly<Record<string, string | string[] | undefined>>;

interface Received {
  readonly status: number;
  readonly headers: ReceivedHeaders;
  /** The last chunk is whole, so this may be more than `most` bytes. */
  readonly body: Buffer;
}

/**
 * One request and its answer, for undici's `dispatch`: `request` makes a stream and listens to a signal for each answer, which
 * takes as much time as everything else about it.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  /** Rejects with the error of the connection. */
  readonly received: Promise<Received>;
  /** Why it was ended by `end`. */
  cut: Cut | undefined;
  readonly #most: (status: number) => number;
  #controller: Dispatcher.DispatchController | undefined;
  #resolve!: (received: Received) => void;
  #reject!: (error: Error) => void;
  #head: Omit<Received, 'body'> | undefined;
  #chunks: Buffer[] = [];
  #bytes = 0;

  /** `most`: once the body of an answer with this status has more bytes, the exchange ends. */
  constructor(most: (status: number) => number) {
    this.#most = most;
    this.received = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Without an answer, if there is none yet: as soon as there is a connection. */
  end(cut: Cut): void {
    this.cut ??= cut;
    this.#controller?.abort(new Error(cut));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.cut) controller.abort(new Error(this.cut));
  }

  onResponseStart(_controller: unknown, status: number, headers: ReceivedHeaders): void {
    // Others announce the answer.
    if (status >= 200) this.#head = { status, headers };
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes <= this.#most(this.#head!.status)) return;
    this.onResponseEnd();
    controller.abort(new Error('more than is read'));
  }

  onResponseEnd(): void {
    this.#resolve({ ...this.#head!, body: Buffer.concat(this.#chunks) });
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#reject(error);
  }
}
