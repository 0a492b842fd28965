import { Hono } from 'hono';
import { INGEST_CODES, PATHS } from '../service/contract.ts';
import type { HonoEnv, SandboxContext } from './context.ts';
import { ingest } from './ingest.ts';
import { Refusal, respond } from './reply.ts';
import { ROUTES } from './routes.ts';
import { serve } from './serve.ts';

/** All routes of the service. The gateway has already checked the API key and the rate limit. */
export function sandboxApp(context: SandboxContext): Hono<HonoEnv> {
  const app = new Hono<HonoEnv>();
  const startedAt = context.now();

  app.get(PATHS.health, (c) => c.json({ status: 'ok', uptime: Math.round((context.now() - startedAt) / 1000) }));
  app.get(PATHS.version, (c) => c.json({ version: 'sandbox' }));
  // Attachments of messages: their URLs are valid for a while, and need no key.
  app.get('/media/:id', (c) =>
    Number(c.req.query('expires')) >= context.now() ? c.text('an attachment') : c.text('the URL has expired', 403),
  );
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
    const refusal = error instanceof Refusal ? error : new Refusal(500, INGEST_CODES.internal, error.message);
    return respond(c.req.path, c.env.call.entry, refusal);
  });
  return app;
}
