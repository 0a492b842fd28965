import type { Ready } from '../model.ts';
import { markOf, ownerOf, type Mark } from './profile-shared.ts';

/** What a record may lack that nearly all have, as the profile names it. */
export const BARE = ['lead_without_contact', 'deal_without_lead', 'deal_without_stage'] as const;
const WITHOUT = { contact: 1, lead: 2, stage: 4 } as const;

/** What the profile counts in the data of an event. */
export interface Note {
  /** Of a lead. */
  readonly email: Mark | undefined;
  readonly phone: Mark | undefined;
  /** The sum of `WITHOUT`: a bit for each of `BARE`. */
  readonly bare: number;
}

const NOTHING: Note = { email: undefined, phone: undefined, bare: 0 };

export function noteOf({ type, data, externalId = '' }: Ready): Note {
  if (type === 'lead/created') {
    const { email, phone_number: phone } = data;
    const owner = ownerOf(externalId);
    const isBare = data.full_name === undefined && email === undefined && phone === undefined;
    return {
      email: typeof email === 'string' ? markOf(email, owner) : undefined,
      phone: typeof phone === 'string' ? markOf(phone, owner) : undefined,
      bare: isBare ? WITHOUT.contact : 0,
    };
  }
  if (type !== 'deal/created') return NOTHING;
  const lead = data.lead_external_id === undefined ? WITHOUT.lead : 0;
  const stage = data.stage_id === undefined && data.stage_name === undefined ? WITHOUT.stage : 0;
  return { email: undefined, phone: undefined, bare: lead | stage };
}
