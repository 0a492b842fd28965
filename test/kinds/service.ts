/** A service that knows companies: strict as the real one, over HTTP, with all records in memory. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Ingested {
  readonly type: string;
  readonly external_id: string;
  readonly status: number;
  readonly suppressed: boolean;
}

interface Stored {
  readonly id: string;
  fields: Readonly<Record<string, unknown>>;
}

type Data = Readonly<Record<string, unknown>> & { readonly external_id: string };

/** What such a service calls its records, where it lists them, and the fields that name parents. */
const RECORDS: Readonly<Record<string, { called: string; route: string; parents: readonly string[] }>> = {
  company: { called: 'Company', route: '/companies', parents: [] },
  lead: { called: 'Lead', route: '/leads', parents: ['company'] },
  deal: { called: 'Deal', route: '/deals', parents: ['lead'] },
  comment: { called: 'Comment', route: '/comments', parents: ['lead', 'deal'] },
};

const STAGE = { id: '1b671a64-40d5-491e-99b0-da01ff1f3341', name: 'New' };
const PIPELINE = { id: '1b671a64-40d5-491e-99b0-da01ff1f3342', name: 'Sales', type: 'DEAL', stages: [STAGE] };

export class CompanyService {
  readonly events: Ingested[] = [];
  /** External ids that the service does not accept. */
  readonly refused = new Set<string>();
  baseUrl = '';
  readonly #records = new Map<string, Stored>();
  readonly #answers = new Map<string, string>();

  static async start(): Promise<CompanyService> {
    const service = new CompanyService();
    const server = createServer((request, response) => void service.#answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    service.baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    onTestFinished(() => void server.close());
    return service;
  }

  get environment(): Record<string, string> {
    return {
      BACKFILL_BASE_URL: this.baseUrl,
      BACKFILL_API_KEY: 'key_of_the_test_service',
      BACKFILL_INGEST_TOKEN: 'token_of_the_test_service',
    };
  }

  /** What was accepted so far, in its order: `company/created acme`. */
  accepted(): string[] {
    return this.events.filter(({ status }) => status === 200).map(({ type, external_id: id }) => `${type} ${id}`);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url!, this.baseUrl);
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk as string;
    const [status, answer] = pathname.startsWith('/webhooks/ingest')
      ? this.#ingest(body, request)
      : this.#read(pathname);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  }

  #read(path: string): [status: number, answer: unknown] {
    if (path === '/pipelines') return [200, [PIPELINE]];
    if (path === '/platform-users') return [200, []];
    const [name] =
      Object.entries(RECORDS).find(([, { route }]) => path === route || path.startsWith(`${route}/`)) ?? [];
    if (name === undefined) return [200, {}];
    const stored = [...this.#records]
      .filter(([key]) => key.startsWith(`${name} `))
      .map(([, { id, fields }]) => ({ id, ...fields }));
    if (path === RECORDS[name]!.route) return [200, { data: stored, total: stored.length }];
    const one = stored.find(({ id }) => path.endsWith(`/${id}`));
    return one ? [200, one] : [404, { error: 'not found' }];
  }

  #ingest(body: string, { headers }: IncomingMessage): [status: number, answer: unknown] {
    const event = JSON.parse(body) as { id: string; type: string; suppress_triggers?: boolean; data: Data };
    const [status, code, answer] = this.#process(event);
    const suppressed = event.suppress_triggers === true && headers['x-suppress-triggers'] === 'true';
    this.events.push({ type: event.type, external_id: event.data.external_id, status, suppressed });
    return [status, answer ?? { success: false, error: { code, message: `${code} ${event.data.external_id}` } }];
  }

  #process({ id, type, data }: { id: string; type: string; data: Data }): [number, string, object?] {
    const [name, action] = type.split('/') as [string, string];
    const { called, parents } = RECORDS[name]!;
    const key = `${name} ${data.external_id}`;
    const known = this.#answers.get(id);
    const acknowledge = (record: string, outcome: string, deduplicated = false): [number, string, object] => [
      200,
      '',
      { status: 'processed', entity: called, id: record, outcome, deduplicated },
    ];
    if (known !== undefined) return acknowledge(known, 'none', true);
    if (this.refused.has(data.external_id)) return [400, 'invalid_payload'];
    const before = this.#records.get(key);
    if (before && action === 'created') return [409, 'already_exists'];
    if (!before && action === 'updated') return [422, 'not_found'];
    const named = parents.flatMap((parent) => {
      const parentId = data[`${parent}_external_id`];
      return typeof parentId === 'string' ? [[parent, parentId] as const] : [];
    });
    if (named.some(([parent, parentId]) => !this.#records.has(`${parent} ${parentId}`)))
      return [422, 'parent_not_found'];
    const fields = {
      ...before?.fields,
      legalName: data['legal_name'],
      employees: data['employees'],
      fullName: data['full_name'],
      ...Object.fromEntries(
        named.map(([parent, parentId]) => [`${parent}Id`, this.#records.get(`${parent} ${parentId}`)!.id]),
      ),
    };
    const record = { id: before?.id ?? `${name}-${this.#records.size + 1}`, fields };
    this.#records.set(key, record);
    this.#answers.set(id, record.id);
    return acknowledge(record.id, before ? 'updated' : 'created');
  }
}
