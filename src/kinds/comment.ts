import { PATHS } from '../contract.ts';
import { defineKind, ownId, parentId, text } from './kind.ts';

/** Service interface, section 2.6. What a list of comments has is not published, so `verify` looks for the usual names. */
export const comment = defineKind({
  name: 'comment',
  words: ['comment', 'comments'],
  namedBy: 'content',
  acknowledgedAs: 'Comment',
  isUpdatable: false,
  isNote: true,
  needsParent: true,
  route: PATHS.comments,
  isRouteUncertain: true,
  features: ['combine'],
  notMigrated: [['Dates of comments', 'the new CRM dates them by their arrival; the text can keep the old ones']],
  fields: {
    content: { schema: text.min(1), doc: 'text of the comment', words: 'text', checkedAs: ['content', 'text', 'body'] },
    external_id: ownId('comment', { isOptional: true }),
    author_name: {
      schema: text.optional(),
      doc: 'name of the author',
      words: 'author',
      checkedAs: ['authorName', 'author'],
    },
    lead_external_id: parentId('lead', { checkedAs: ['leadId', 'lead'] }),
    deal_external_id: parentId('deal', { checkedAs: ['dealId', 'deal'] }),
  },
});
