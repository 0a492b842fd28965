/** Routes below single resources, and the sending of documents and messages (service interface, section 4.3). */
import { Hono, type Context } from 'hono';
import type { Creator, DocumentKind } from './create.ts';
import { examplesOf } from './examples.ts';
import { publicRecord } from './present.ts';
import { noRecord, refused } from './resources.ts';
import { enveloped, type HonoEnv, type SandboxContext } from './context.ts';

/** The resource with an id in an account. */
type Find = (context: SandboxContext, id: string) => object | undefined;

const deal: Find = (context, id) => publicRecord(context, 'Deal', id);
const message: Find = (context, id) => publicRecord(context, 'Message', id);
const pipeline: Find = ({ account }, id) => account.pipelines.find((each) => each.id === id);
const example =
  (kind: 'conversation' | 'email'): Find =>
  ({ name }, id) =>
    [examplesOf(name)[kind]].find((each) => each.id === id);

/** What is read at or below a resource. */
const READS: readonly {
  readonly path: string;
  readonly what: string;
  readonly find: Find;
  readonly show?: (context: SandboxContext, id: string) => object;
}[] = [
  { path: '/deals/:id/products', what: 'Deal', find: deal, show: () => [] },
  { path: '/deals/:id/payment-terms', what: 'Deal', find: deal, show: () => [] },
  { path: '/pipelines/:id/activity-templates', what: 'Pipeline', find: pipeline, show: () => [] },
  { path: '/conversations/:id/messages', what: 'Conversation', find: example('conversation'), show: messagesOf },
  { path: '/messages/:id', what: 'Message', find: message },
  { path: '/emails/:id', what: 'Email', find: example('email') },
];

const DOCUMENTS: readonly { readonly path: string; readonly kind: DocumentKind }[] = [
  { path: '/quotes/:id/send', kind: 'Quote' },
  { path: '/contracts/:id/send', kind: 'Contract' },
];

export function documentRoutes(context: SandboxContext, creator: Creator): Hono<HonoEnv> {
  const app = new Hono<HonoEnv>();
  /** Answers for the resource that the path names, or that there is none. */
  const withId = async (
    c: Context<HonoEnv>,
    what: string,
    find: Find,
    answer: (id: string, found: object) => Promise<Response> | Response,
  ) => {
    const id = c.req.param('id')!;
    const found = find(context, id);
    return found ? answer(id, found) : noRecord(c, what, find(context.other, id));
  };

  for (const { path, what, find, show } of READS) {
    app.get(path, (c) => withId(c, what, find, (id, found) => c.json(show ? show(context, id) : found)));
  }
  for (const { path, kind } of DOCUMENTS) {
    const find: Find = (of, id) => publicRecord(of, kind, id);
    app.post(path, (c) =>
      withId(c, kind, find, async (id) => {
        const sent = await creator.send(kind, id, c.env.call, c.req.raw.headers);
        return sent.status === 201 ? c.json(sent.body) : refused(c, sent);
      }),
    );
  }
  app.get('/conversations', (c) => c.json({ items: [examplesOf(context.name).conversation], nextCursor: null }));
  app.post('/conversations/:id/send', (c) =>
    withId(c, 'Conversation', example('conversation'), async (conversationId) => {
      const sent = await creator.create('Message', c.env.call, c.req.raw.headers, { conversationId });
      return sent.status === 201 ? c.json(sent.body, 201) : refused(c, sent);
    }),
  );
  // The only canonical route that wraps its answers.
  app.post('/messages/send', async (c) => {
    const sent = await creator.create('Message', c.env.call, c.req.raw.headers);
    if (sent.status === 201) return c.json({ success: true, data: sent.body });
    return c.json(enveloped(sent.code, sent.message), sent.status);
  });
  return app;
}

function messagesOf(context: SandboxContext, conversation: string): object {
  const messages = context.store.all('Message').filter(({ fields }) => fields.conversationId === conversation);
  return { items: messages.map(({ id }) => publicRecord(context, 'Message', id)), nextCursor: null };
}
