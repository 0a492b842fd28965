/** The faults that the sandbox can inject, as data: what a rule says, and what it does to a request. */
import type { ServerResponse } from 'node:http';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { z } from 'zod';
import { EVENT_TYPES } from '../model.ts';
import { INGEST_CODES, PATHS } from '../service/contract.ts';
import { enveloped } from './reply.ts';

const count = z.int().min(1);
const milliseconds = z.number().min(0);
const range = z.strictObject({ from: count.default(1), to: count.optional() });
const time = z.strictObject({ from: milliseconds.default(0), to: milliseconds.optional() });
const path = z.string().startsWith('/').default(PATHS.ingest);
const event = z.strictObject({ type: z.enum(EVENT_TYPES).optional(), external_id: z.string().optional() });

/** When a rule applies: all conditions must hold. The descriptions are documentation. */
export const CONDITIONS = z.strictObject({
  path: path.describe(`Requests whose path starts with this; \`/\` is all. \`${PATHS.ingest}\` by default`),
  event: event.optional().describe('Events with this `type`, this `external_id`, or both'),
  processed: z.boolean().optional().describe('Events that were processed before, or were not (`true`, `false`)'),
  delivery: range.optional().describe('The n-th delivery of an event: `{ "from": 1, "to": 1 }` is the first'),
  requests: range.optional().describe('The n-th request among those that match the conditions above'),
  elapsed_ms: time.optional().describe('Requests at this time: `{ "from": 0, "to": 60000 }` is the first minute'),
  probability: z.number().min(0).max(1).optional().describe('This share of them, as the `seed` of the plan decides'),
  times: count.optional().describe('At most this many of them'),
});

/** What faults do beside answering a request. */
export interface FaultTarget {
  rotateToken(): void;
  rotateKey(): void;
  /** Another client with the same key sends requests, at once or a number per second for a while. */
  takeWindow(requests: number, perSecondForMs: number | undefined): void;
  /** No listener, or this status for every request. */
  outage(lastsMs: number, status: number | undefined): void;
}

/** What rules can say beside `when`. */
interface Settings {
  readonly kind: string;
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly retry_after_s?: number | undefined;
  readonly location?: string;
  readonly body?: unknown;
  readonly requests?: number;
  readonly per_second_for_ms?: number | undefined;
  readonly lasts_ms?: number;
}

/** A request that a fault ends. `reply`: the answer of the service, if it committed the request. */
interface Hit {
  readonly out: ServerResponse;
  readonly reply: Response | undefined;
  readonly target: FaultTarget;
}

interface Fault {
  readonly doc: string;
  readonly options: Readonly<Record<string, z.ZodType>>;
  /** Before the key is checked; the request goes on. */
  readonly effect?: (rule: Settings, target: FaultTarget) => void;
  /** Ends the request, with this answer instead of that of the service. */
  readonly answer?: (rule: Settings, hit: Hit) => Response | Promise<Response>;
  /** Whether the service commits the request first. By default the rule says so in `committed`, if it can. */
  readonly commits?: true;
}

const committed = z.boolean().default(false);
const status = z.int().min(400).max(599);
const code = z.string().optional();

export const FAULTS = {
  latency: {
    doc: 'Delays the request, partly before it counts in the window, partly after its commit',
    options: { min_ms: milliseconds, max_ms: milliseconds },
  },
  drop_before: { doc: 'Closes the connection; nothing is committed', options: {}, answer: closed },
  drop_after: {
    doc: 'Commits, then closes the connection without an answer',
    options: {},
    commits: true,
    answer: closed,
  },
  reset: { doc: 'Closes the connection with a TCP reset', options: { committed }, answer: reset },
  hang: { doc: 'Never answers', options: { committed }, answer: () => RESPONSE_ALREADY_SENT },
  status: {
    doc: 'Answers with this status; nothing is committed',
    options: { status, retry_after_s: z.int().min(0).optional(), code },
    answer: refused,
  },
  status_after: {
    doc: 'Commits, then answers with this status',
    options: { status, code },
    commits: true,
    answer: refused,
  },
  html: { doc: 'Answers 200 with the web page of a proxy', options: { committed }, answer: webPage },
  cut_body: { doc: 'Commits, then sends half of the answer', options: {}, commits: true, answer: half },
  redirect: {
    doc: 'Answers 302',
    options: { location: z.string().default('https://login.example.test/') },
    answer: ({ location = '' }) => new Response(null, { status: 302, headers: { location } }),
  },
  bad_ack: {
    doc: 'Commits, then answers 200 with JSON that is no acknowledgement',
    options: { body: z.unknown().optional() },
    commits: true,
    answer: ({ body = { ok: true } }) => Response.json(body),
  },
  rotate_token: {
    doc: 'Replaces the ingestion token; the old one is refused from this request on',
    options: {},
    effect: (_, target) => target.rotateToken(),
  },
  rotate_key: { doc: 'Replaces the API key likewise', options: {}, effect: (_, target) => target.rotateKey() },
  foreign: {
    doc: 'Another client with the same key sends requests: all at once, or this many per second for a while',
    options: { requests: count, per_second_for_ms: milliseconds.optional() },
    effect: ({ requests = 0, per_second_for_ms: forMs }, target) => target.takeWindow(requests, forMs),
  },
  outage: {
    doc: 'From now on all requests fail, `/health` too: nothing listens, or the answer is this status',
    options: { lasts_ms: milliseconds, status: status.optional() },
    answer: (rule, hit) => {
      hit.target.outage(rule.lasts_ms ?? 0, rule.status);
      if (rule.status === undefined) return closed(rule, hit);
      return new Response('the service is down', { status: rule.status });
    },
  },
} as const satisfies Readonly<Record<string, Fault>>;

function closed(_: Settings, { out }: Hit): Response {
  out.socket?.destroy();
  return RESPONSE_ALREADY_SENT;
}

function reset(_: Settings, { out }: Hit): Response {
  out.socket?.resetAndDestroy();
  return RESPONSE_ALREADY_SENT;
}

function refused({ status: shown = 500, code: said, retry_after_s: seconds }: Settings): Response {
  const named = said ?? (shown === 429 ? 'RATE_LIMITED' : INGEST_CODES.internal);
  const response = Response.json(enveloped(named, 'injected by the fault plan'), { status: shown });
  if (seconds !== undefined) response.headers.set('retry-after', String(seconds));
  return response;
}

function webPage(): Response {
  const page = '<!doctype html><title>Sign in</title><p>The network needs you to sign in.</p>';
  return new Response(page, { headers: { 'content-type': 'text/html; charset=utf-8' } });
}

async function half(_: Settings, { out, reply }: Hit): Promise<Response> {
  const text = (await reply?.text()) ?? '';
  out.writeHead(reply?.status ?? 200, { 'content-type': 'application/json', 'content-length': text.length });
  out.write(text.slice(0, text.length / 2), () => out.socket?.destroy());
  return RESPONSE_ALREADY_SENT;
}

type Kinds = typeof FAULTS;
type Rule<Kind extends string, Options extends z.ZodRawShape> = z.ZodObject<
  { kind: z.ZodLiteral<Kind>; when: typeof when } & Options,
  z.core.$strict
>;
type AnyRule = { [Kind in keyof Kinds]: Rule<Kind, Kinds[Kind]['options']> }[keyof Kinds];

const when = CONDITIONS.prefault({});
const rules = Object.entries(FAULTS).map(([kind, { options }]) =>
  z.strictObject({ kind: z.literal(kind), ...options, when }),
) as unknown as [AnyRule, ...AnyRule[]];

export const FAULT_PLAN = z.strictObject({
  seed: z.int().default(1),
  rules: z.array(z.discriminatedUnion('kind', rules)),
});
export type FaultPlan = z.input<typeof FAULT_PLAN>;
export type FaultRule = z.output<typeof FAULT_PLAN>['rules'][number];

export function faultOf({ kind }: FaultRule): Fault {
  return FAULTS[kind];
}
