import { randomBytes } from 'node:crypto';
import { Hono, type Context } from 'hono';
import { LIMITS } from '../service/contract.ts';
import type { User } from '../service/account.ts';
import type { CreateResponse, Creator } from './create.ts';
import { COLLECTION_EXAMPLES, TEMPLATES } from './examples.ts';
import { publicRecord, type PublicRecord } from './present.ts';
import type { RecordKind } from './store.ts';
import { enveloped, type HonoEnv, type SandboxContext } from './context.ts';

interface PageRequest {
  readonly page: number;
  readonly pageSize: number;
}

type ListShape = (items: unknown[], total: number, page: PageRequest) => object;

/** Collections of records and the shape of their lists. */
const COLLECTIONS: readonly { readonly path: string; readonly kind: RecordKind; readonly list: ListShape }[] = [
  { path: '/leads', kind: 'Lead', list: (leads, total, page) => ({ leads, total, ...page }) },
  { path: '/deals', kind: 'Deal', list: (deals) => deals },
  { path: '/comments', kind: 'Comment', list: (items, total) => ({ items, total }) },
  { path: '/companies', kind: 'Company', list: (companies, total) => ({ companies, total }) },
  { path: '/activities', kind: 'Activity', list: (activities) => activities },
  { path: '/quotes', kind: 'Quote', list: (quotes) => quotes },
  { path: '/contracts', kind: 'Contract', list: (contracts, total) => ({ contracts, total }) },
];

type Filter = (query: Record<string, string>) => ((record: PublicRecord) => boolean) | undefined;

const byStatus: Filter = ({ status }) => (status === undefined ? undefined : (record) => record.status === status);

/** The filter of a query as a predicate on public records; undefined if there is no filter. */
const FILTERS: Readonly<Record<string, Filter>> = {
  '/leads': ({ search }) =>
    search === undefined
      ? undefined
      : ({ fullName, email, phoneNumber }) =>
          [fullName, email, phoneNumber].some(
            (text) => typeof text === 'string' && text.toLowerCase().includes(search.toLowerCase()),
          ),
  '/activities': byStatus,
  '/quotes': byStatus,
  '/contracts': byStatus,
  '/comments': ({ leadId, dealId }) =>
    leadId === undefined && dealId === undefined
      ? undefined
      : (comment) => (leadId ?? comment.leadId) === comment.leadId && (dealId ?? comment.dealId) === comment.dealId,
};

/** The REST routes (service interface, section 4.3). As in the service, the shapes of lists differ between routes. */
export function resourceRoutes(context: SandboxContext, creator: Creator): Hono<HonoEnv> {
  const app = new Hono<HonoEnv>();

  app.get('/pipelines', (c) => {
    const type = c.req.query('type');
    const pipelines = context.account.pipelines.filter((pipeline) => type === undefined || pipeline.type === type);
    return c.json(
      pipelines.map(({ id, name, type, stages }) => ({
        id,
        name,
        type,
        stages: stages.map((stage, order) => ({ id: stage.id, name: stage.name, order })),
      })),
    );
  });
  app.get('/platform-users', (c) =>
    paged(c, context.account.users, userOut, (users, total, page) => ({ users, total, ...page })),
  );

  for (const { path, kind, list } of COLLECTIONS) {
    const show = ({ id }: { readonly id: string }) => publicRecord(context, kind, id);
    app.get(path, (c) => {
      const wanted = FILTERS[path]?.(c.req.query());
      const records = context.store.all(kind) as { readonly id: string }[];
      return paged(c, wanted ? records.filter((record) => wanted(show(record)!)) : records, show, list);
    });
    app.get(`${path}/:id`, (c) => {
      const id = c.req.param('id');
      return publicRecord(context, kind, id)
        ? c.json(show({ id }))
        : noRecord(c, kind, publicRecord(context.other, kind, id));
    });
    // Creating comments over REST is not documented.
    if (kind === 'Comment') continue;
    app.post(path, async (c) => {
      const created = await creator.create(kind, c.env.call, c.req.raw.headers);
      if (created.status === 201) return c.json(created.body, 201);
      return refused(c, created);
    });
  }

  for (const [path, body] of Object.entries(COLLECTION_EXAMPLES)) app.get(path, (c) => c.json(body));
  app.get('/document-templates', (c) => {
    const type = c.req.query('type');
    const templates = TEMPLATES.filter((template) => type === undefined || template.type === type);
    return paged(c, templates, asIs, (items, total, page) => ({ templates: items, total, ...page }));
  });

  app.get('/api-logs', (c) => {
    const { method, statusGroup, path } = c.req.query();
    const calls = context.requests
      .entries()
      .filter((entry) => entry.account === context.name && entry.status !== undefined)
      .map((entry) => ({
        id: String(entry.number),
        method: entry.method,
        path: entry.path,
        status: entry.status!,
        statusGroup: `${Math.floor(entry.status! / 100)}xx`,
        createdAt: new Date(entry.at).toISOString(),
      }))
      .filter(
        (call) =>
          (method ?? call.method) === call.method &&
          (statusGroup ?? call.statusGroup) === call.statusGroup &&
          call.path.includes(path ?? ''),
      );
    return paged(c, calls.reverse(), asIs, (logs, total) => ({ logs, total }));
  });

  app.post('/operator-sessions/token', async (c) => {
    const issued = await creator.once('token', c.env.call, c.req.raw.headers, () => {
      const expiresAt = new Date(context.now() + 60 * 60 * 1000).toISOString();
      return { status: 201, body: { token: `session_${randomBytes(24).toString('base64url')}`, expiresAt } };
    });
    return issued.status === 201 ? c.json(issued.body) : refused(c, issued);
  });
  return app;
}

/** A resource of another account is 403, one of none 404 (service interface, section 7.1). */
export function noRecord(c: Context<HonoEnv>, what: string, ofOther: object | undefined): Response {
  return ofOther
    ? c.json({ error: `${what} belongs to another account` }, 403)
    : c.json({ error: `${what} not found` }, 404);
}

export function refused(c: Context<HonoEnv>, { code, message, status }: Exclude<CreateResponse, { status: 201 }>) {
  return c.json(code === 'IDEMPOTENCY_KEY_MISMATCH' ? enveloped(code, message) : { error: message }, status);
}

function asIs<T>(item: T): T {
  return item;
}

/** The first name as `fullName`, further names in the other name fields that users can have. */
function userOut({ id, names, email }: User): object {
  const [fullName, name, displayName] = names;
  return { id, fullName, name, displayName, email: email ?? null };
}

/** Section 4.3: page and pageSize, at most 100. Values out of range are refused. */
function paged<T>(c: Context<HonoEnv>, all: readonly T[], show: (item: T) => unknown, list: ListShape) {
  const page = positive(c.req.query('page') ?? '1');
  const pageSize = positive(c.req.query('pageSize') ?? '20');
  if (page === undefined) return c.json({ error: 'page must be a whole number from 1' }, 400);
  if (pageSize === undefined || pageSize > LIMITS.pageSize) {
    return c.json({ error: `pageSize must be a whole number from 1 to ${LIMITS.pageSize}` }, 400);
  }
  const from = (page - 1) * pageSize;
  return c.json(list(all.slice(from, from + pageSize).map(show), all.length, { page, pageSize }));
}

function positive(text: string): number | undefined {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}
