/** The routes of the service that no event uses, as data (service interface, sections 4.1, 4.3 and 9). */
export interface ListRoute {
  readonly list: string;
  /** Keys of the answer: the items, then what is said about the page. A bare array if absent: shapes differ (section 9). */
  readonly shape?: readonly [items: string, ...('total' | 'page' | 'pageSize' | 'nextCursor')[]];
  /** `cursor` with `limit` instead of `page` with `pageSize`. */
  readonly byCursor?: true;
  /** Query parameters: `search` and `path` are looked for in texts, others must be equal to the field of their name. */
  readonly filters?: readonly string[];
}

export type PublishedRoute = (
  | ListRoute
  | { readonly read: string }
  | { readonly create: string; readonly status?: 200 }
  | { readonly send: 'Quote' | 'Contract' }
) & {
  /** The kind that `:id` names where it is another one; what is listed or created belongs to it. */
  readonly under?: string;
  /** Also under /external (section 9). */
  readonly legacy?: true;
};

const PAGE = ['total', 'page', 'pageSize'] as const;

/**
 * `:id` stands for the id of a record. Of groups that are published by their path alone (section 4.3), these methods are a guess:
 * see README.md.
 */
export const ROUTES: Readonly<Record<string, PublishedRoute>> = {
  'GET /leads': { list: 'Lead', shape: ['leads', ...PAGE], filters: ['search', 'companyId'] },
  'GET /leads/:id': { read: 'Lead' },
  'POST /leads': { create: 'Lead', legacy: true },
  'GET /companies': { list: 'Company', shape: ['companies', 'total'], filters: ['search', 'status'] },
  'GET /companies/:id': { read: 'Company' },
  'POST /companies': { create: 'Company', legacy: true },
  'GET /comments': { list: 'Comment', shape: ['items', 'total'], filters: ['leadId', 'dealId', 'companyId'] },
  'GET /comments/:id': { read: 'Comment' },
  'GET /tags': { list: 'Tag' },
  'GET /pipelines': { list: 'Pipeline', filters: ['type'] },
  'GET /pipelines/:id/activity-templates': { list: 'ActivityTemplate', under: 'Pipeline' },
  'GET /deals': { list: 'Deal', filters: ['search', 'status', 'pipelineId', 'stageId'] },
  'GET /deals/:id': { read: 'Deal' },
  'POST /deals': { create: 'Deal', legacy: true },
  'GET /deals/:id/products': { list: 'DealProduct', under: 'Deal' },
  'GET /deals/:id/payment-terms': { list: 'PaymentTerm', under: 'Deal' },
  'GET /activities': { list: 'Activity', filters: ['status', 'type'], legacy: true },
  'GET /activities/:id': { read: 'Activity' },
  'POST /activities': { create: 'Activity', legacy: true },
  'GET /products': { list: 'Product', shape: ['products', 'total'] },
  'GET /product-categories': { list: 'ProductCategory' },
  'GET /clauses': { list: 'Clause' },
  'GET /document-templates': { list: 'Template', shape: ['templates', ...PAGE], filters: ['type'] },
  'GET /quotes': { list: 'Quote', filters: ['status'] },
  'GET /quotes/:id': { read: 'Quote' },
  'POST /quotes': { create: 'Quote' },
  'POST /quotes/:id/send': { send: 'Quote' },
  'GET /contracts': { list: 'Contract', shape: ['contracts', 'total'], filters: ['status'] },
  'GET /contracts/:id': { read: 'Contract' },
  'POST /contracts': { create: 'Contract' },
  'POST /contracts/:id/send': { send: 'Contract' },
  'GET /conversations': { list: 'Conversation', shape: ['items', 'nextCursor'], byCursor: true },
  'GET /conversations/:id/messages': {
    list: 'Message',
    under: 'Conversation',
    shape: ['items', 'nextCursor'],
    byCursor: true,
  },
  'POST /conversations/:id/send': { create: 'Message', under: 'Conversation' },
  'GET /whatsapp-templates': { list: 'WhatsappTemplate' },
  'POST /messages/send': { create: 'Message', status: 200 },
  'GET /messages/:id': { read: 'Message' },
  'GET /emails': { list: 'Email', filters: ['status'] },
  'GET /emails/:id': { read: 'Email' },
  'GET /platform-users': { list: 'User', shape: ['users', ...PAGE] },
  'GET /roles': { list: 'Role' },
  'GET /calls': { list: 'Call', shape: ['calls', 'total'] },
  'GET /phone-numbers': { list: 'PhoneNumber' },
  'GET /api-logs': { list: 'ApiLog', shape: ['logs', 'total'], filters: ['method', 'statusGroup', 'path'] },
  'POST /operator-sessions/token': { create: 'Session', status: 200 },
};
