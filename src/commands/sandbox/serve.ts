/** The routes, and the handler of those that are in the table of `routes.ts`. */
import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { z } from 'zod';
import { HEADERS, INGEST_CODES, LIMITS, PATHS } from '../../contract.ts';
import type { Fields } from '../../service/list-page.ts';
import { timestamp, type ApiCall, type HonoEnv, type SandboxContext } from './context.ts';
import { ingest } from './ingest.ts';
import { GIVEN, OWNER_FIELDS, REFERENCES, RULES, type Resource } from './kinds.ts';
import { canonical, Refusal, respond, type Success } from './reply.ts';
import { ROUTES, type ListRoute, type PublishedRoute } from './routes.ts';
import type { AnyRecord } from './store.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** A message or a sent document goes on to its next state after this time. */
const STATE_MS = 5000;

/** All routes of the service. The gateway has already checked the API key and the rate limit. */
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
    app.on(method, route.legacy ? [path, `/external${path}`] : [path], (c) =>
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
function serve(route: PublishedRoute, call: ApiCall, request: Request, id: string | undefined): Success {
  const { context } = call;
  const kind =
    'list' in route ? route.list : 'read' in route ? route.read : 'send' in route ? route.send : route.create;
  const named = route.under ?? kind;
  if (id !== undefined && !find(context, named, id)) {
    throw find(context.other, named, id)
      ? new Refusal(403, 'FORBIDDEN', `${named} belongs to another account`)
      : new Refusal(404, 'NOT_FOUND', `${named} not found`);
  }
  /** `{ dealId: … }` for what belongs to a deal. */
  const parent = id === undefined || !route.under ? {} : { [`${route.under.toLowerCase()}Id`]: id };
  if ('list' in route) return listOf(context, route, parent, new URL(request.url).searchParams);
  if ('read' in route) return { status: 200, body: shown(context, kind, find(context, kind, id!)!) };
  return once(call, request, (body) =>
    'send' in route
      ? send(context, kind, find(context, kind, id!)!)
      : saved(context, kind, create(context, kind, body, parent), route.status ?? 201),
  );
}

function find(context: SandboxContext, kind: string, id: string): Resource | undefined {
  return context.store.get(kind, id) ?? GIVEN[kind]?.(context).find((record) => record.id === id);
}

/** A record as the service shows it: neither external ids nor what is kept for the sandbox itself. */
function shown(context: SandboxContext, kind: string, record: Resource): Fields {
  const { externalId: _external, revision, occurredAt: _occurred, states, ...fields } = record;
  const { hides = [], shows } = RULES[kind] ?? {};
  const owner = context.account.users[0]?.id ?? null;
  const whole: Fields = {
    ...fields,
    ...(states === undefined ? {} : { status: stateOf(context, record) }),
    ...(revision === undefined ? {} : { createdBy: owner }),
    ...(revision === undefined || kind === 'Lead' || kind === 'Comment' ? {} : { ownerId: fields.ownerId ?? owner }),
  };
  return Object.fromEntries(
    Object.entries(whole).filter(([name]) => (shows ? shows.includes(name) : !hides.includes(name))),
  );
}

function stateOf(context: SandboxContext, record: Resource): string {
  const states = record.states as string[];
  const steps = Math.floor((context.now() - Date.parse(record.updatedAt as string)) / STATE_MS);
  return states[Math.min(steps, states.length - 1)]!;
}

/** Section 4.3: `page` and `pageSize`, or `limit` and `cursor`. Values out of range are refused, as is the other way to page. */
function listOf(context: SandboxContext, route: ListRoute, parent: Fields, query: URLSearchParams): Success {
  const { list: kind, shape, filters = [], byCursor = false } = route;
  if (byCursor && (query.has('page') || query.has('pageSize'))) throw invalid('use limit and cursor');
  const page = positive(query, 'page', 1);
  const pageSize = positive(query, byCursor ? 'limit' : 'pageSize', 20, LIMITS.pageSize);
  const conditions = filters.filter((name) => query.has(name));
  const all = [...(GIVEN[kind]?.(context) ?? []), ...context.store.all(kind)].filter(
    (record: Resource) =>
      Object.entries(parent).every(([name, id]) => record[name] === id) &&
      conditions.every((name) => matches(context, record, name, query.get(name)!)),
  );
  let from = (page - 1) * pageSize;
  if (byCursor && query.has('cursor')) {
    from = all.findIndex(({ id }) => id === query.get('cursor')) + 1;
    if (from === 0) throw invalid('cursor is not one that a list has returned');
  }
  const chosen = all.slice(from, from + pageSize);
  const items = chosen.map((record) => shown(context, kind, record));
  if (!shape) return { status: 200, body: items };
  const nextCursor = from + pageSize < all.length ? chosen.at(-1)!.id : null;
  const about: Fields = { total: all.length, page, pageSize, nextCursor };
  const [key, ...others] = shape;
  return { status: 200, body: { [key]: items, ...Object.fromEntries(others.map((name) => [name, about[name]])) } };
}

const SEARCHED = ['fullName', 'email', 'phoneNumber', 'title', 'name'];

function matches(context: SandboxContext, record: Resource, name: string, wanted: string): boolean {
  const contains = (value: unknown): boolean =>
    typeof value === 'string' && value.toLowerCase().includes(wanted.toLowerCase());
  if (name === 'search') return SEARCHED.some((field) => contains(record[field]));
  if (name === 'path') return contains(record.path);
  return (name === 'status' && record.states ? stateOf(context, record) : record[name]) === wanted;
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
  const asked = `${canonical(new URL(request.url).pathname)} ${JSON.stringify(body.value)}`;
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

function create(context: SandboxContext, kind: string, value: unknown, parent: Fields): Resource {
  const { body = z.looseObject({}), make = (fields: Fields) => fields } = RULES[kind] ?? {};
  const parsed = body.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    throw invalid(`${issue.path.join('.') || 'body'}: ${issue.message}`);
  }
  const given = Object.entries({ ...parsed.data, ...parent }).filter(([name]) => !OWNER_FIELDS.includes(name));
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

/** Sends a document: its template says what becomes of it. */
function send(context: SandboxContext, kind: string, document: Resource): Success {
  const { onceSent: states } = find(context, 'Template', document.templateId as string)!;
  const revision = (document.revision as number) + 1;
  return saved(context, kind, { ...document, states, revision, updatedAt: timestamp(context) }, 200);
}

/** Native writes always start automations: there is no header to suppress them. A session is no record. */
function saved(context: SandboxContext, kind: string, record: Resource, status: Success['status']): Success {
  if (kind !== 'Session') {
    context.store.write({ kind, record: record as AnyRecord });
    context.triggersFired += 1;
  }
  return { status, body: shown(context, kind, record), record: { entity: kind, id: record.id } };
}

function invalid(message: string): Refusal {
  return new Refusal(400, 'BAD_REQUEST', message);
}
