import { Hono } from 'hono';
import type { CreatableKind, Creator } from './create.ts';
import { publicRecord } from './present.ts';
import { enveloped, type HonoEnv, type SandboxContext } from './context.ts';

const CREATES: Readonly<Record<string, CreatableKind>> = {
  '/leads': 'Lead',
  '/companies': 'Company',
  '/deals': 'Deal',
  '/activities': 'Activity',
};

const PREFIX = '/external';

export function isLegacy(path: string): boolean {
  return path.startsWith(`${PREFIX}/`);
}

/** Adds the headers that every response of a deprecated route has, errors included (service interface, section 9). */
export function deprecate(response: Response, path: string): void {
  response.headers.set('Deprecation', `@${Date.UTC(2026, 0, 1) / 1000}`);
  response.headers.set('Sunset', 'Thu, 31 Dec 2026 23:59:59 GMT');
  response.headers.set('Link', `<${path.slice(PREFIX.length)}>; rel="successor-version"`);
}

/** The deprecated routes under /external: the same behaviour with the old envelope (service interface, section 9). */
export function legacyRoutes(context: SandboxContext, creator: Creator): Hono<HonoEnv> {
  const app = new Hono<HonoEnv>();

  for (const [path, kind] of Object.entries(CREATES)) {
    app.post(path, async (c) => {
      const created = await creator.create(kind, c.env.call, c.req.raw.headers);
      if (created.status === 201) return c.json({ success: true, data: created.body }, 201);
      return c.json(enveloped(created.code, created.message), created.status);
    });
  }
  app.get('/activities', (c) =>
    c.json({
      success: true,
      data: context.store.all('Activity').map(({ id }) => publicRecord(context, 'Activity', id)),
    }),
  );
  return app;
}
