import { PATHS } from '../contract.ts';
import { CUSTOM, defineKind, ownId, text } from './kind.ts';

/** Service interface, section 2.4. */
export const lead = defineKind({
  name: 'lead',
  words: ['lead', 'leads'],
  namedBy: 'full_name',
  acknowledgedAs: 'Lead',
  isUpdatable: true,
  route: PATHS.leads,
  features: ['contacts'],
  notMigrated: [
    [
      'Owners, stages and statuses of leads',
      'the new CRM assigns the owner of the account; custom fields can keep the old ones',
    ],
  ],
  fields: {
    external_id: ownId('lead'),
    full_name: { schema: text.optional(), doc: 'name', words: 'name', shownAs: 'fullName' },
    email: {
      schema: text.optional(),
      doc: 'e-mail address',
      words: 'e-mail address',
      onError: 'omit',
      form: 'folded',
      shownAs: 'email',
    },
    phone_number: {
      schema: text.optional(),
      doc: 'phone number in E.164 format; use the `phone` transform',
      words: 'phone number',
      onError: 'omit',
      form: 'phone',
      shownAs: 'phoneNumber',
    },
    custom_params: { ...CUSTOM, words: 'custom fields', checkedAs: ['customParams', 'customFields'] },
  },
  expects: {
    lead_without_contact: {
      fields: ['full_name', 'email', 'phone_number'],
      lacks: `data ->> 'full_name' is null and data ->> 'email' is null and data ->> 'phone_number' is null`,
    },
    lead_without_name: {
      fields: ['full_name'],
      lacks: `data ->> 'full_name' is null and (data ->> 'email' is not null or data ->> 'phone_number' is not null)`,
    },
  },
});
