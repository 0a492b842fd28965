import { defineKind, ownId, parentId, text } from './kind.ts';

/** Service interface, section 2.6. No documented list of the service has the text of comments, so they cannot be read back. */
export const comment = defineKind({
  name: 'comment',
  words: ['comment', 'comments'],
  acknowledgedAs: 'Comment',
  isUpdatable: false,
  isNote: true,
  needsParent: true,
  features: ['combine'],
  fields: {
    content: { schema: text.min(1), doc: 'text of the comment', words: 'text' },
    external_id: ownId('comment', { isOptional: true }),
    author_name: { schema: text.optional(), doc: 'name of the author', words: 'author' },
    lead_external_id: parentId('lead'),
    deal_external_id: parentId('deal'),
  },
});
