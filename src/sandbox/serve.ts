/** The routes of the service: the webhook, and those that `run`, `verify` and `explain` read. */
import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { z } from 'zod';
import { INGEST_CODES, LIMITS, PATHS } from '../contract.ts';
import { KINDS, type Kind } from '../kinds/index.ts';
import type { Fields } from '../service/list-page.ts';
import { timestamp, type ApiCall, type HonoEnv, type SandboxContext } from './context.ts';
import { EMPTY, ingest, phoneNumber } from './ingest.ts';
import { Refusal, respond, type Success } from './reply.ts';

/** A record of the account, or a pipeline or user. */
interface Resource {
  readonly id: string;
  readonly [field: string]: unknown;
}

interface ListRoute {
  readonly list: string;
  /** Keys of the answer: the items, then facts about the page. A bare array if absent: shapes differ (section 9). */
  readonly shape?: readonly [items: string, ...('total' | 'page' | 'pageSize')[]];
  /** A query parameter that must be equal to the field of its name. */
  readonly filter?: string;
}

type SandboxRoute = ListRoute | { readonly read: string };

const PAGE = ['total', 'page', 'pageSize'] as const;

const SHAPES: Readonly<Record<string, ListRoute['shape']>> = {
  [PATHS.leads]: ['leads', ...PAGE],
  [PATHS.comments]: ['items', 'total'],
};

/**
 * By method and path (service interface, section 4.3); `:id` stands for the id of a record. The routes of deals and comments are
 * published by their path alone, so their methods are a guess: see README.md.
 */
const ROUTES: Readonly<Record<string, SandboxRoute>> = {
  ...Object.fromEntries(KINDS.flatMap(routesOf)),
  [PATHS.pipelines]: { list: 'Pipeline', filter: 'type' },
  [PATHS.platformUsers]: { list: 'User', shape: ['users', ...PAGE] },
};

function routesOf({ route, acknowledgedAs: list }: Kind): [path: string, route: SandboxRoute][] {
  if (route === undefined) return [];
  const shape = SHAPES[route];
  return [
    [route, { list, ...(shape && { shape }) }],
    [`${route}/:id`, { read: list }],
  ];
}

/** All routes. The gateway has already checked the API key and the rate limit. */
export function sandboxApp(context: SandboxContext): Hono<HonoEnv> {
  const app = new Hono<HonoEnv>();
  const startedAt = context.now();

  app.get(PATHS.health, (c) => c.json({ status: 'ok', uptime: Math.round((context.now() - startedAt) / 1000) }));
  app.get(PATHS.version, (c) => c.json({ version: 'sandbox' }));
  // Where the hint of an unexpected answer sends people.
  const reference = [PATHS.health, PATHS.version, ...Object.keys(ROUTES)].map((path) => `GET ${path}`);
  app.get(PATHS.reference, (c) =>
    c.text(['Routes of the sandbox', `POST ${PATHS.ingest}/TOKEN`, ...reference].join('\n')),
  );
  app.on('POST', [PATHS.ingest, `${PATHS.ingest}/`, `${PATHS.ingest}/:token`], (c) =>
    respond(c.req.path, ingest(c.env.call, c.req.param('token'))),
  );
  for (const [path, route] of Object.entries(ROUTES)) {
    app.get(path, (c) => respond(c.req.path, read(context, route, c.req.raw, c.req.param('id'))));
  }
  app.post(PATHS.leads, (c) => respond(c.req.path, createLead(c.env.call)));

  app.notFound((c) => {
    const message = `no route ${c.req.method} ${c.env.call.entry.path}`;
    return respond(c.req.path, new Refusal(404, 'NOT_FOUND', message));
  });
  app.onError((error, c) => {
    // Section 7 publishes the webhook's code for this; the codes of other routes are not published.
    const code = c.req.path.startsWith(PATHS.ingest) ? INGEST_CODES.internal : undefined;
    const refusal = error instanceof Refusal ? error : new Refusal(500, code, error.message);
    return respond(c.req.path, refusal);
  });
  return app;
}

/** `id`: the one in the path. Throws a `Refusal`. */
function read(context: SandboxContext, route: SandboxRoute, request: Request, id: string | undefined): Success {
  if ('list' in route) return listOf(context, route, new URL(request.url).searchParams);
  const record = context.store.get(route.read, id!);
  if (record) return { status: 200, body: shown(context, route.read, record) };
  throw new Refusal(404, 'NOT_FOUND', `${route.read} not found`);
}

/** Pipelines and users, as the service shows them. Their first name is `fullName`, further ones in the other name fields. */
function given({ account }: SandboxContext, kind: string): readonly Resource[] {
  if (kind === 'Pipeline') {
    return account.pipelines.map((pipeline) => {
      return { ...pipeline, stages: pipeline.stages.map((stage, order) => ({ ...stage, order })) };
    });
  }
  if (kind !== 'User') return [];
  return account.users.map(({ names: [fullName, name, displayName], email = null, id }) => {
    return { id, fullName, name, displayName, email };
  });
}

/** Fields that the service does not show (section 2.2). */
const HIDDEN: Readonly<Partial<Record<string, readonly string[]>>> = {
  Lead: ['customParams'],
  Deal: ['title', 'customFields'],
};

/** A record as the service shows it: neither external ids nor data of the sandbox itself. */
function shown(context: SandboxContext, kind: string, record: Resource): Fields {
  const { externalId: _external, revision, occurredAt: _occurred, ...fields } = record;
  const owner = context.account.users[0]?.id ?? null;
  const whole: Fields = {
    ...fields,
    ...(revision === undefined ? {} : { createdBy: owner }),
    ...(revision === undefined || kind === 'Lead' || kind === 'Comment' ? {} : { ownerId: fields.ownerId ?? owner }),
  };
  return Object.fromEntries(Object.entries(whole).filter(([name]) => !HIDDEN[kind]?.includes(name)));
}

/** Section 4.3: `page` and `pageSize`. Values out of range are refused. */
function listOf(context: SandboxContext, { list: kind, shape, filter }: ListRoute, query: URLSearchParams): Success {
  const page = positive(query, 'page', 1);
  const pageSize = positive(query, 'pageSize', 20, LIMITS.pageSize);
  const wanted = filter === undefined ? null : query.get(filter);
  const all = [...given(context, kind), ...context.store.all(kind)].filter(
    (record: Resource) => wanted === null || record[filter!] === wanted,
  );
  const from = (page - 1) * pageSize;
  const items = all.slice(from, from + pageSize).map((record) => shown(context, kind, record));
  if (!shape) return { status: 200, body: items };
  const about: Fields = { total: all.length, page, pageSize };
  const [key, ...others] = shape;
  return { status: 200, body: { [key]: items, ...Object.fromEntries(others.map((name) => [name, about[name]])) } };
}

function positive(query: URLSearchParams, name: string, normal: number, max = 1e9): number {
  const text = query.get(name) ?? String(normal);
  if (/^[1-9]\d*$/.test(text) && Number(text) <= max) return Number(text);
  throw invalid(`${name} must be a whole number from 1 to ${max}`);
}

const text = z.string().optional();
/** What POST /leads accepts. Owner and author are those of the account, whatever the caller sends (section 5). */
const newLead = z.object({ fullName: text, email: text, phoneNumber });

/** Native writes always start automations: there is no header to suppress them. */
function createLead({ context, body }: ApiCall): Success {
  if (!body.ok) throw new Refusal(body.status, 'BAD_REQUEST', body.error);
  const parsed = newLead.safeParse(body.value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    throw invalid(`${issue.path.join('.') || 'body'}: ${issue.message}`);
  }
  const at = timestamp(context);
  const kept = { externalId: null, createdAt: at, updatedAt: at, revision: 1, occurredAt: null };
  const record = { ...EMPTY.Lead, ...parsed.data, ...kept, id: randomUUID() };
  context.store.write({ kind: 'Lead', record });
  context.triggersFired += 1;
  return { status: 201, body: shown(context, 'Lead', record) };
}

function invalid(message: string): Refusal {
  return new Refusal(400, 'BAD_REQUEST', message);
}
