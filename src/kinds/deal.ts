import { z } from 'zod';
import { PATHS } from '../contract.ts';
import { CUSTOM, defineKind, ownId, parentId, text } from './kind.ts';

/** More than four of five. */
function areMost({ count, of }: { readonly count: number; readonly of: number }): boolean {
  return count * 5 > of * 4;
}

/** Service interface, section 2.5. */
export const deal = defineKind({
  name: 'deal',
  words: ['deal', 'deals'],
  namedBy: 'title',
  acknowledgedAs: 'Deal',
  isUpdatable: true,
  route: PATHS.deals,
  features: ['pipelines'],
  notMigrated: [['Further contacts of a deal', 'a deal has only one lead']],
  fields: {
    external_id: ownId('deal'),
    title: { schema: text.optional(), doc: 'title', shownAs: 'title' },
    amount: {
      schema: z.number().optional(),
      doc: 'plain decimal number; use the `number` transform for other notations',
      form: 'number',
      shownAs: 'amount',
    },
    currency: {
      schema: text.optional(),
      doc: 'ISO 4217 currency code, past ones (`ITL`, `HRK`) included',
      form: 'folded',
      shownAs: 'currency',
    },
    lead_external_id: parentId('lead', { shownAs: 'primaryContactId' }),
    stage_id: {
      schema: z.guid().optional(),
      doc: 'UUID of the stage',
      words: 'stage',
      form: 'id',
      shownAs: 'stageId',
      decides: { name: 'pipeline', shownAs: 'pipelineId' },
    },
    stage_name: {
      schema: text.optional(),
      doc: 'name of the stage in the old CRM; resolved through `references`',
      words: 'stage',
      sentAs: 'stage_id',
    },
    // The service may set the account's owner whatever was sent (section 5), so what it shows decides no update.
    owner_id: {
      schema: z.guid().optional(),
      doc: 'UUID of the user',
      words: 'owner',
      form: 'id',
      checkedAs: ['ownerId', 'owner'],
    },
    owner_name: {
      schema: text.optional(),
      doc: 'name of the owner in the old CRM; resolved through `references`',
      words: 'owner',
      sentAs: 'owner_id',
    },
    custom_fields: { ...CUSTOM, words: 'custom fields', checkedAs: ['customFields', 'customParams'] },
  },
  expects: {
    deal_without_title: { fields: ['title'], lacks: `data ->> 'title' is null` },
    deal_without_amount: {
      fields: ['amount'],
      lacks: `data ->> 'amount' is null and data ->> 'currency' is null`,
      isSaid: areMost,
    },
    currency_without_amount: {
      fields: ['amount'],
      lacks: `data ->> 'amount' is null and data ->> 'currency' is not null`,
      isSaid: (counts, reads) => reads('currency') || areMost(counts),
    },
    amount_without_currency: {
      fields: ['currency'],
      lacks: `data ->> 'amount' is not null and data ->> 'currency' is null`,
    },
    deal_without_lead: { fields: ['lead_external_id'], lacks: `data ->> 'lead_external_id' is null` },
    deal_without_stage: {
      fields: ['stage_name', 'stage_id'],
      lacks: `data ->> 'stage_id' is null and data ->> 'stage_name' is null`,
    },
  },
});
