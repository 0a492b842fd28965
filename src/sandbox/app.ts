import { Hono } from 'hono';
import { INGEST_CODES, PATHS } from '../service/contract.ts';
import { Creator } from './create.ts';
import { ingest } from './ingest.ts';
import { legacyRoutes } from './legacy.ts';
import { resourceRoutes } from './resources.ts';
import { enveloped, type Env, type World } from './world.ts';

/** All routes of the service. The API key and the rate limit were dealt with before. */
export function sandboxApp(world: World): Hono<Env> {
  const app = new Hono<Env>();
  const startedAt = world.now();

  app.get(PATHS.health, (c) => c.json({ status: 'ok', uptime: Math.round((world.now() - startedAt) / 1000) }));
  app.get(PATHS.version, (c) => c.json({ version: 'sandbox' }));

  app.on('POST', [PATHS.ingest, `${PATHS.ingest}/`, `${PATHS.ingest}/:token`], async (c) => {
    if (c.req.param('token') !== world.ingestToken.reveal()) {
      return c.json(enveloped(INGEST_CODES.authFailed, 'the ingestion token is missing or wrong'), 403);
    }
    const { status, body } = await ingest(world, c.env.call);
    return c.json(body, status);
  });

  const creator = new Creator(world);
  app.route('/', resourceRoutes(world, creator));
  app.route('/external', legacyRoutes(world, creator));

  app.notFound((c) => c.json({ error: `no route ${c.req.method} ${c.env.call.entry.path}` }, 404));
  app.onError((error, c) => {
    if (c.req.path.startsWith(PATHS.ingest)) return c.json(enveloped(INGEST_CODES.internal, error.message), 500);
    return c.json({ error: error.message }, 500);
  });
  return app;
}
