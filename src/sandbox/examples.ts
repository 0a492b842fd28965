/** What the sandbox does not keep: examples in the shape of their routes. */
import { uuidOf } from './account.ts';

export const TEMPLATES = [
  { id: uuidOf('template', 'Offer'), name: 'Offer', type: 'QUOTE' },
  { id: uuidOf('template', 'Agreement'), name: 'Agreement', type: 'CONTRACT' },
] as const;

/** Collections by path. */
export const COLLECTION_EXAMPLES: Readonly<Record<string, object>> = {
  '/tags': [{ id: uuidOf('tag', 'VIP'), name: 'VIP', color: '#aa3300' }],
  '/roles': [
    { id: uuidOf('role', 'Admin'), name: 'Admin' },
    { id: uuidOf('role', 'Agent'), name: 'Agent' },
  ],
  '/calls': { calls: [], total: 0 },
  '/phone-numbers': [{ id: uuidOf('number', '1'), phoneNumber: '+390200000001', label: 'Main' }],
  '/products': { products: [], total: 0 },
  '/product-categories': [],
  '/clauses': [],
  '/whatsapp-templates': [],
};

interface AccountExamples {
  readonly conversation: { readonly id: string; readonly channel: string };
  readonly email: { readonly id: string; readonly status: string };
}

/** The only conversation and the only e-mail of an account, by its name. */
export function examplesOf(account: string): AccountExamples {
  return {
    conversation: { id: uuidOf('conversation', account), channel: 'webchat' },
    email: { id: uuidOf('email', account), status: 'DELIVERED' },
  };
}
