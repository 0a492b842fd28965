import { availableParallelism } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads';
import { messageOf } from '../../errors.ts';
import type { Mapping } from '../../mapping/mapping.ts';
import type { ReadItem, Unread } from '../../model.ts';
import type { Account } from '../../service/account.ts';
import { bytesOf, type Source } from '../../source/source.ts';
import type { Packed } from './packed.ts';
import { packRows, packSpec, type Beginning, type ThreadJob } from './tasks.ts';

/** Smaller inputs are read before a second thread has loaded its modules. */
export const WORTHWHILE_BYTES = 5 * 1024 * 1024;
/** Batches: enough for the thread never to run out of them while the main thread hands on what has come. */
const MOST_IN_FLIGHT = 6;
/** MB for objects that die young, as nearly all of the thread's do: more would make it larger, and no faster. */
const YOUNG = 12;
const WAIT_MS = 10;

interface Job {
  readonly mapping: Mapping;
  readonly sources: ReadonlyMap<string, Source>;
  readonly account: Account | undefined;
  /** Is told why a thread was lost. */
  readonly trouble: (message: string) => void;
}

/**
 * A second thread that maps rows, so that the survey of a large input takes little longer than reading it. It only
 * helps: whatever it does not take, or has not answered when it is lost, the main thread maps.
 */
export class MappingThread {
  /** One that was begun ahead. */
  static #begun: MappingThread | undefined;
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #signal = new Int32Array(new SharedArrayBuffer(4));
  #trouble: Job['trouble'] = () => undefined;
  #isLost = false;
  #inFlight = 0;
  /** Batches it was given. */
  taken = 0;

  /** Begins to load a thread's modules, for a `start` that may follow. */
  static begin(): void {
    MappingThread.#begun = MappingThread.#create();
  }

  /** Undefined where a thread would not pay. */
  static start(job: Job): MappingThread | undefined {
    const begun = MappingThread.#begun;
    MappingThread.#begun = undefined;
    const pays = bytesOf(job.sources) >= WORTHWHILE_BYTES && job.mapping.isPlain;
    if (!pays) {
      void begun?.close();
      return undefined;
    }
    const thread = begun ?? MappingThread.#create(job.trouble);
    if (thread) thread.#give(job);
    return thread;
  }

  /** Undefined where there is one core, or Node was told to allow no threads. */
  static #create(trouble?: Job['trouble']): MappingThread | undefined {
    if (availableParallelism() < 2) return undefined;
    try {
      return new MappingThread();
    } catch (error) {
      trouble?.(messageOf(error));
      return undefined;
    }
  }

  private constructor() {
    const { port1, port2 } = new MessageChannel();
    const workerData: Beginning = { port: port2, signal: this.#signal };
    this.#port = port1;
    this.#worker = new Worker(new URL('./program.js', import.meta.url), {
      workerData,
      transferList: [port2],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG },
    });
    this.#worker.on('error', (error) => this.#trouble(messageOf(error)));
    this.#worker.on('exit', () => (this.#isLost = true));
    this.#worker.unref();
  }

  #give({ mapping, sources, account, trouble }: Job): void {
    this.#trouble = trouble;
    const job: ThreadJob = {
      spec: packSpec(mapping.spec),
      references: mapping.references,
      sources: [...sources.values()].map(({ name, kind, columns, duplicateColumns }) => ({
        name,
        kind,
        columns,
        duplicateColumns,
      })),
      account,
    };
    this.#port.postMessage(job);
  }

  /** Whether it has loaded what it needs. */
  get isReady(): boolean {
    return Atomics.load(this.#signal, 0) > 0;
  }

  /** No answer will come any more. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Whether the thread maps these items; if not, the caller does. Answers come in the order in which items were taken. */
  takes(source: Source, items: readonly (ReadItem | Unread)[]): boolean {
    if (!this.isReady || this.#isLost || this.#inFlight === MOST_IN_FLIGHT) return false;
    this.#port.postMessage(packRows(source.name, items));
    this.#inFlight += 1;
    this.taken += 1;
    return true;
  }

  /** The next answer: outlines as `unpackOutline` reads them; undefined while there is none. */
  answer(): Packed | undefined {
    const received = receiveMessageOnPort(this.#port) as { readonly message: Packed } | undefined;
    if (received) this.#inFlight -= 1;
    return received?.message;
  }

  /** Waits for the next answer; undefined where none will come. */
  async nextAnswer(): Promise<Packed | undefined> {
    for (;;) {
      const seen = Atomics.load(this.#signal, 0);
      const answer = this.answer();
      if (answer || this.#isLost) return answer;
      Atomics.wait(this.#signal, 0, seen, WAIT_MS);
      await setImmediate();
    }
  }

  async close(): Promise<void> {
    if (this.#isLost) return;
    await this.#worker.terminate();
  }
}
