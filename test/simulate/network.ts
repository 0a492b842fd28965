/** What lies between the program and the service: delays, and the faults of one run. */
import { after, setWallClock, sleepMachine } from './time.ts';
import { answer, type Answer, type Service } from './service.ts';
import type { Dispatcher } from 'undici';
import type { Exchange } from '../../src/service/exchange.ts';

/** What happens to a request to the webhook. `after`: the service has processed it all the same. */
export const FAULT_KINDS = [
  'lost',
  'answer lost',
  '503',
  '503 after',
  'silence',
  'silence after',
  'late',
  'page',
  'page after',
  'cut answer',
  'twice',
  '429',
  '429 without Retry-After',
  'refused 422',
  'refused 401',
  'refused 403',
  'firewall 403',
  'redirect',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

export interface Fault {
  readonly kind: FaultKind;
  /** The requests that it happens to: by their number in the run, or of those about one external id. */
  readonly from: number;
  readonly times: number;
  readonly about?: string | undefined;
}

/** A fault of GET requests: the survey tries each five times. */
export interface ReadFault {
  readonly kind: 'lost' | '503' | '429' | 'page';
  readonly from: number;
  readonly times: number;
}

/** From the nth request of a run on, nothing is answered for a while. */
export interface Outage {
  readonly from: number;
  readonly lastsMs: number;
  readonly how: 'refused' | '503' | 'silence';
}

/** At the nth request of a run. */
export interface ClockChange {
  readonly from: number;
  readonly kind: 'wall clock' | 'sleep' | 'sleep, monotonic clock stands';
  readonly ms: number;
}

export interface Weather {
  readonly faults: readonly Fault[];
  readonly readFaults: readonly ReadFault[];
  readonly outage: Outage | undefined;
  readonly clock: ClockChange | undefined;
}

export const NO_FAULTS: Weather = { faults: [], readFaults: [], outage: undefined, clock: undefined };

export interface RequestOptions {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export class Network {
  readonly #service: Service;
  readonly #weather: Weather;
  readonly #random: () => number;
  /** Called when a request arrives and when it has been processed: the program may be killed there. */
  readonly #point: () => void;
  readonly #about = new Map<string, number>();
  #events = 0;
  #reads = 0;
  #downUntil = -Infinity;
  #isClockChanged = false;
  #isDead = false;
  #isOver = false;
  /** Records with an event on its way, and until when no request may be sent (Retry-After). */
  readonly #inFlight = new Set<string>();
  readonly #onTheWire = new Set<RequestOptions>();
  #heldUntil = -Infinity;

  constructor(service: Service, weather: Weather, random: () => number, point: () => void) {
    this.#service = service;
    this.#weather = weather;
    this.#random = random;
    this.#point = point;
  }

  /** The program was killed: of what is on the wire some arrives, and nothing after that. */
  cut(): void {
    this.#isDead = true;
    for (const options of this.#onTheWire) if (this.#random() < 0.5) this.#handle(options);
  }

  /** The run has ended: what is still under way never arrives. */
  end(): void {
    this.#isOver = true;
  }

  /** As undici's `dispatch` calls the handler of a request. */
  dispatch(options: RequestOptions, handler: Exchange): void {
    const done = this.#watch(options);
    let hasEnded = false;
    const end = (how: () => void): void => {
      if (hasEnded) return;
      hasEnded = true;
      done();
      how();
    };
    const fail = (error: Error): void => end(() => handler.onResponseError(controller, error));
    const controller = { abort: fail } as Dispatcher.DispatchController;
    handler.onRequestStart(controller);
    this.#exchange(options).then(({ status, headers, body }) => {
      end(() => {
        if (status === 429) this.#heldUntil = performance.now() + Number(headers['retry-after'] ?? 0) * 1000;
        handler.onResponseStart(controller, status, headers);
        handler.onResponseData(controller, Buffer.from(body));
        handler.onResponseEnd();
      });
    }, fail);
  }

  /** What a client must not do, whatever is answered; returns what is to be called when the request has ended. */
  #watch({ method, path, body }: RequestOptions): () => void {
    const { violations } = this.#service;
    if (path !== '/health' && performance.now() < this.#heldUntil)
      violations.push('a request did not wait for Retry-After');
    if (method !== 'POST') return () => undefined;
    const { type, data } = JSON.parse(body!) as { type: string; data: { external_id?: string } };
    if (data.external_id === undefined) return () => undefined;
    const record = `${type.split('/')[0]} ${data.external_id}`;
    if (this.#inFlight.has(record)) violations.push(`two events about ${record} are in flight together`);
    this.#inFlight.add(record);
    return () => this.#inFlight.delete(record);
  }

  async #exchange(options: RequestOptions): Promise<Answer> {
    const { method, path } = options;
    const isEvent = method === 'POST';
    if (isEvent) this.#events += 1;
    else if (path !== '/health') this.#reads += 1;
    this.#changeClock();
    const kind = isEvent ? this.#faultOf(options) : path === '/health' ? undefined : this.#readFault();
    const outage = this.#outage();
    if (!outage) this.#onTheWire.add(options);
    await after(this.#delay());
    this.#onTheWire.delete(options);
    if (this.#isDead) throw failed('ECONNREFUSED');
    if (outage) return failing(outage.how);
    this.#point();
    return this.#deliver(kind, options);
  }

  async #deliver(kind: FaultKind | undefined, options: RequestOptions): Promise<Answer> {
    const instead = kind && INSTEAD[kind];
    // The service refuses nothing that it has processed.
    const isKnown =
      kind === 'refused 422' && this.#service.hasProcessed((JSON.parse(options.body!) as { id: string }).id);
    if (instead && !isKnown) return instead();
    if (kind === 'late') return this.#arriveLate(options);
    let reply = this.#handle(options);
    if (kind === 'twice') {
      // The program does not know that it has sent one more.
      this.#service.mayExceed = true;
      reply = this.#handle(options);
    }
    this.#point();
    await after(this.#delay());
    if (this.#isDead) throw failed('UND_ERR_SOCKET');
    const afterwards = reply.status === 200 && kind && AFTERWARDS[kind];
    return afterwards ? afterwards(reply) : reply;
  }

  /** The program has given it up and perhaps sent it again when it arrives. */
  #arriveLate(options: RequestOptions): Promise<never> {
    this.#service.mayExceed = true;
    void after(LATE_MS).then(() => {
      if (!this.#isDead && !this.#isOver) this.#handle(options);
    });
    return never();
  }

  #handle({ method, path, headers, body }: RequestOptions): Answer {
    return this.#service.handle(method, path, headers, body ?? undefined);
  }

  #delay(): number {
    return 10 + Math.floor(this.#random() ** 3 * 900);
  }

  #faultOf({ body }: RequestOptions): FaultKind | undefined {
    const { data } = JSON.parse(body!) as { data: { external_id?: string } };
    const about = data.external_id ?? '';
    const nth = (this.#about.get(about) ?? 0) + 1;
    this.#about.set(about, nth);
    return this.#weather.faults.find((fault) => {
      if (fault.about !== undefined && fault.about !== about) return false;
      const number = fault.about === undefined ? this.#events : nth;
      return number >= fault.from && number < fault.from + fault.times;
    })?.kind;
  }

  #readFault(): FaultKind | undefined {
    return this.#weather.readFaults.find(({ from, times }) => this.#reads >= from && this.#reads < from + times)?.kind;
  }

  #outage(): Outage | undefined {
    const { outage } = this.#weather;
    if (!outage || this.#events < outage.from) return undefined;
    if (this.#downUntil === -Infinity) this.#downUntil = performance.now() + outage.lastsMs;
    return performance.now() < this.#downUntil ? outage : undefined;
  }

  #changeClock(): void {
    const { clock } = this.#weather;
    if (this.#isClockChanged || clock?.from !== this.#events + this.#reads) return;
    this.#isClockChanged = true;
    if (clock.kind === 'wall clock') setWallClock(clock.ms);
    else sleepMachine(clock.ms, clock.kind !== 'sleep');
  }
}

const RETRY_AFTER_S = 20;
/** Later than `--timeout`. */
const LATE_MS = 45_000;

/** The service does not see the request. */
const INSTEAD: Partial<Record<FaultKind, () => Answer | Promise<Answer>>> = {
  lost: () => Promise.reject(failed('UND_ERR_SOCKET')),
  '503': unavailable,
  silence: never,
  page,
  '429': () => tooMany({ 'retry-after': String(RETRY_AFTER_S) }),
  '429 without Retry-After': () => tooMany({}),
  'refused 422': () => refusal(422, 'unresolved_reference', 'the stage is not known'),
  'refused 401': () => answer(401, { error: 'invalid API key' }),
  'refused 403': () => refusal(403, 'webhook_auth_failed', 'wrong token'),
  'firewall 403': () => ({ status: 403, headers: { 'content-type': 'text/html' }, body: '<html>blocked</html>' }),
  redirect: () => ({ status: 302, headers: { location: 'https://elsewhere.test/' }, body: '' }),
};

/** The service has processed it. */
const AFTERWARDS: Partial<Record<FaultKind, (reply: Answer) => Answer | Promise<Answer>>> = {
  'answer lost': () => Promise.reject(failed('UND_ERR_SOCKET')),
  '503 after': unavailable,
  'silence after': never,
  'page after': page,
  'cut answer': (reply) => ({ ...reply, body: reply.body.slice(0, reply.body.length / 2) }),
};

function failing(how: Outage['how']): Promise<Answer> {
  if (how === 'silence') return never();
  if (how === '503') return Promise.resolve(unavailable());
  return Promise.reject(failed('ECONNREFUSED'));
}

function failed(code: string): Error {
  return Object.assign(new Error(code), { code });
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}

function unavailable(): Answer {
  return { status: 503, headers: { 'content-type': 'text/plain' }, body: 'maintenance' };
}

function page(): Answer {
  return { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>please log in</html>' };
}

function tooMany(headers: Record<string, string>): Answer {
  return answer(429, { success: false, error: { code: 'RATE_LIMITED', message: 'too many' } }, headers);
}

function refusal(status: number, code: string, message: string): Answer {
  return answer(status, { success: false, error: { code, message } });
}
