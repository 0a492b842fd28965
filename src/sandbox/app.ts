import { Hono } from 'hono';
import { INGEST_CODES, PATHS } from '../service/contract.ts';
import { Creator } from './create.ts';
import { documentRoutes } from './documents.ts';
import { ingest } from './ingest.ts';
import { isLegacy, legacyRoutes } from './legacy.ts';
import { resourceRoutes } from './resources.ts';
import { enveloped, type HonoEnv, type SandboxContext } from './context.ts';

/** All routes of the service. The gateway has already checked the API key and the rate limit. */
export function sandboxApp(context: SandboxContext): Hono<HonoEnv> {
  const app = new Hono<HonoEnv>();
  const startedAt = context.now();

  app.get(PATHS.health, (c) => c.json({ status: 'ok', uptime: Math.round((context.now() - startedAt) / 1000) }));
  app.get(PATHS.version, (c) => c.json({ version: 'sandbox' }));

  app.on('POST', [PATHS.ingest, `${PATHS.ingest}/`, `${PATHS.ingest}/:token`], async (c) => {
    if (c.req.param('token') !== context.ingestToken.reveal()) {
      return c.json(enveloped(INGEST_CODES.authFailed, 'the ingestion token is missing or invalid'), 403);
    }
    const { status, body } = await ingest(context, c.env.call);
    return c.json(body, status);
  });

  const creator = new Creator(context);
  app.route('/', resourceRoutes(context, creator));
  app.route('/', documentRoutes(context, creator));
  app.route('/external', legacyRoutes(context, creator));

  app.notFound((c) => {
    const message = `no route ${c.req.method} ${c.env.call.entry.path}`;
    return c.json(isLegacy(c.req.path) ? enveloped('NOT_FOUND', message) : { error: message }, 404);
  });
  app.onError((error, c) => {
    if (c.req.path.startsWith(PATHS.ingest)) return c.json(enveloped(INGEST_CODES.internal, error.message), 500);
    return c.json({ error: error.message }, 500);
  });
  return app;
}
