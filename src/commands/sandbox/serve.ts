/** The routes of the service: the webhook, and those that `run`, `verify` and `api` use or people look at after a rehearsal. */
import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { z } from 'zod';
import { HEADERS, INGEST_CODES, LIMITS, PATHS } from '../../contract.ts';
import type { Fields } from '../../service/list-page.ts';
import { timestamp, type ApiCall, type HonoEnv, type SandboxContext } from './context.ts';
import { ingest } from './ingest.ts';
import { GIVEN, OWNER_FIELDS, REFERENCES, RULES, type Resource } from './kinds.ts';
import { Refusal, respond, type Success } from './reply.ts';
import type { AnyRecord } from './store.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

interface ListRoute {
  readonly list: string;
  /** Keys of the answer: the items, then facts about the page. A bare array if absent: shapes differ (section 9). */
  readonly shape?: readonly [items: string, ...('total' | 'page' | 'pageSize')[]];
  /** Query parameters: `search` and `path` are looked for in texts, others must be equal to the field of their name. */
  readonly filters?: readonly string[];
}

type SandboxRoute = ListRoute | { readonly read: string } | { readonly create: string };

const PAGE = ['total', 'page', 'pageSize'] as const;

/**
 * By method and path (service interface, sections 4.1 and 4.3); `:id` stands for the id of a record. Of groups that are published by their
 * path alone, the methods are a guess: see README.md.
 */
export const ROUTES: Readonly<Record<string, SandboxRoute>> = {
  'GET /leads': { list: 'Lead', shape: ['leads', ...PAGE], filters: ['search', 'companyId'] },
  'GET /leads/:id': { read: 'Lead' },
  'POST /leads': { create: 'Lead' },
  'GET /companies': { list: 'Company', shape: ['companies', 'total'], filters: ['search', 'status'] },
  'GET /companies/:id': { read: 'Company' },
  'POST /companies': { create: 'Company' },
  'GET /comments': { list: 'Comment', shape: ['items', 'total'], filters: ['leadId', 'dealId', 'companyId'] },
  'GET /comments/:id': { read: 'Comment' },
  'GET /deals': { list: 'Deal', filters: ['search', 'status', 'pipelineId', 'stageId'] },
  'GET /deals/:id': { read: 'Deal' },
  'POST /deals': { create: 'Deal' },
  'GET /tags': { list: 'Tag' },
  'GET /pipelines': { list: 'Pipeline', filters: ['type'] },
  'GET /platform-users': { list: 'User', shape: ['users', ...PAGE] },
  'GET /api-logs': { list: 'ApiLog', shape: ['logs', 'total'], filters: ['method', 'statusGroup', 'path'] },
};

/** All routes. The gateway has already checked the API key and the rate limit. */
export function sandboxApp(context: SandboxContext): Hono<HonoEnv> {
  const app = new Hono<HonoEnv>();
  const startedAt = context.now();

  app.get(PATHS.health, (c) => c.json({ status: 'ok', uptime: Math.round((context.now() - startedAt) / 1000) }));
  app.get(PATHS.version, (c) => c.json({ version: 'sandbox' }));
  app.get(PATHS.reference, (c) => c.html(`<title>Routes of the sandbox</title><pre>${referenceText()}</pre>`));
  app.on('POST', [PATHS.ingest, `${PATHS.ingest}/`, `${PATHS.ingest}/:token`], (c) =>
    respond(c.req.path, c.env.call.entry, ingest(c.env.call, c.req.param('token'))),
  );
  for (const [published, route] of Object.entries(ROUTES)) {
    const [method = '', path = ''] = published.split(' ');
    app.on(method, path, (c) =>
      respond(c.req.path, c.env.call.entry, serve(route, c.env.call, c.req.raw, c.req.param('id'))),
    );
  }

  app.notFound((c) => {
    const { entry } = c.env.call;
    return respond(c.req.path, entry, new Refusal(404, 'NOT_FOUND', `no route ${c.req.method} ${entry.path}`));
  });
  app.onError((error, c) => {
    // Section 7 publishes the webhook's code for this; the codes of other routes are not published.
    const code = c.req.path.startsWith(PATHS.ingest) ? INGEST_CODES.internal : undefined;
    const refusal = error instanceof Refusal ? error : new Refusal(500, code, error.message);
    return respond(c.req.path, c.env.call.entry, refusal);
  });
  return app;
}

/** Lists the routes of the table, one a line. */
function referenceText(): string {
  const published = [
    `GET ${PATHS.health}`,
    `GET ${PATHS.version}`,
    `POST ${PATHS.ingest}/TOKEN`,
    ...Object.keys(ROUTES),
  ];
  return published.map((route) => route.replace(':id', '{id}')).join('\n');
}

/** `id`: the one in the path. Throws a `Refusal`. */
function serve(route: SandboxRoute, call: ApiCall, request: Request, id: string | undefined): Success {
  const { context } = call;
  if ('list' in route) return listOf(context, route, new URL(request.url).searchParams);
  if ('create' in route)
    return once(call, request, (body) => saved(context, route.create, create(context, route.create, body)));
  const { read: kind } = route;
  const record = find(context, kind, id!);
  if (record) return { status: 200, body: shown(context, kind, record) };
  throw find(context.other, kind, id!)
    ? new Refusal(403, 'FORBIDDEN', `${kind} belongs to another account`)
    : new Refusal(404, 'NOT_FOUND', `${kind} not found`);
}

function find(context: SandboxContext, kind: string, id: string): Resource | undefined {
  return context.store.get(kind, id) ?? GIVEN[kind]?.(context).find((record) => record.id === id);
}

/** A record as the service shows it: neither external ids nor data of the sandbox itself. */
function shown(context: SandboxContext, kind: string, record: Resource): Fields {
  const { externalId: _external, revision, occurredAt: _occurred, ...fields } = record;
  const owner = context.account.users[0]?.id ?? null;
  const whole: Fields = {
    ...fields,
    ...(revision === undefined ? {} : { createdBy: owner }),
    ...(revision === undefined || kind === 'Lead' || kind === 'Comment' ? {} : { ownerId: fields.ownerId ?? owner }),
  };
  return Object.fromEntries(Object.entries(whole).filter(([name]) => !RULES[kind]?.hides.includes(name)));
}

/** Section 4.3: `page` and `pageSize`. Values out of range are refused. */
function listOf(
  context: SandboxContext,
  { list: kind, shape, filters = [] }: ListRoute,
  query: URLSearchParams,
): Success {
  const page = positive(query, 'page', 1);
  const pageSize = positive(query, 'pageSize', 20, LIMITS.pageSize);
  const conditions = filters.filter((name) => query.has(name));
  const all = [...(GIVEN[kind]?.(context) ?? []), ...context.store.all(kind)].filter((record: Resource) =>
    conditions.every((name) => matches(record, name, query.get(name)!)),
  );
  const from = (page - 1) * pageSize;
  const items = all.slice(from, from + pageSize).map((record) => shown(context, kind, record));
  if (!shape) return { status: 200, body: items };
  const about: Fields = { total: all.length, page, pageSize };
  const [key, ...others] = shape;
  return { status: 200, body: { [key]: items, ...Object.fromEntries(others.map((name) => [name, about[name]])) } };
}

const SEARCHED = ['fullName', 'email', 'phoneNumber', 'title', 'name'];

function matches(record: Resource, name: string, wanted: string): boolean {
  const contains = (value: unknown): boolean =>
    typeof value === 'string' && value.toLowerCase().includes(wanted.toLowerCase());
  if (name === 'search') return SEARCHED.some((field) => contains(record[field]));
  if (name === 'path') return contains(record.path);
  return record[name] === wanted;
}

function positive(query: URLSearchParams, name: string, normal: number, max = 1e9): number {
  const text = query.get(name) ?? String(normal);
  if (/^[1-9]\d*$/.test(text) && Number(text) <= max) return Number(text);
  throw invalid(`${name} must be a whole number from 1 to ${max}`);
}

/** Answers a POST, once per Idempotency-Key within 24 hours (section 8). Only success is stored. */
function once({ context, body }: ApiCall, request: Request, make: (body: unknown) => Success): Success {
  if (!body.ok) throw new Refusal(body.status, 'BAD_REQUEST', body.error);
  const key = request.headers.get(HEADERS.idempotencyKey);
  if (key === null) return make(body.value);
  if (key.length > LIMITS.idempotencyKeyLength) throw invalid('Idempotency-Key is longer than 255 characters');
  const asked = `${new URL(request.url).pathname} ${JSON.stringify(body.value)}`;
  const before = context.answered.get(key);
  if (before && context.now() - before.at < DAY_MS) {
    if (before.request === asked) return before.reply;
    const message = 'this Idempotency-Key was used before with a different body';
    throw new Refusal(422, 'IDEMPOTENCY_KEY_MISMATCH', message);
  }
  const at = context.now();
  const reply = make(body.value);
  context.answered.set(key, { request: asked, reply, at });
  return reply;
}

function create(context: SandboxContext, kind: string, value: unknown): Resource {
  const { body = z.looseObject({}), make = (fields: Fields) => fields } = RULES[kind] ?? {};
  const parsed = body.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    throw invalid(`${issue.path.join('.') || 'body'}: ${issue.message}`);
  }
  const given = Object.entries(parsed.data).filter(([name]) => !OWNER_FIELDS.includes(name));
  for (const [name, ids] of given) {
    const owner = REFERENCES[Array.isArray(ids) ? name.replace(/s$/, '') : name];
    const missing = owner === undefined ? [] : [ids].flat().filter((id) => !find(context, owner, String(id)));
    if (missing.length > 0)
      throw new Refusal(409, 'CONFLICT', `${name}: ${owner} ${String(missing[0])} does not exist`);
  }
  const fields = make(Object.fromEntries(given), context);
  if (typeof fields === 'string') throw new Refusal(409, 'CONFLICT', fields);
  const at = timestamp(context);
  const kept = { externalId: null, createdAt: at, updatedAt: at, revision: 1, occurredAt: null };
  return { ...fields, ...kept, id: randomUUID() };
}

/** Native writes always start automations: there is no header to suppress them. */
function saved(context: SandboxContext, kind: string, record: Resource): Success {
  context.store.write({ kind, record: record as AnyRecord });
  context.triggersFired += 1;
  return { status: 201, body: shown(context, kind, record), record: { entity: kind, id: record.id } };
}

function invalid(message: string): Refusal {
  return new Refusal(400, 'BAD_REQUEST', message);
}
