import type { Ready } from '../model.ts';

/** What a record may lack that nearly all have, as the profile names it. */
export const BARE = ['lead_without_contact', 'deal_without_lead', 'deal_without_stage'] as const;
const WITHOUT = { contact: 1, lead: 2, stage: 4 } as const;

/** What the profile looks at in the data of an event. */
export interface Note {
  /** Of a lead. */
  readonly email: string | undefined;
  readonly phone: string | undefined;
  /** The sum of `WITHOUT`: a bit for each of `BARE`. */
  readonly bare: number;
}

const NOTHING: Note = { email: undefined, phone: undefined, bare: 0 };

export function noteOf({ type, data }: Ready): Note {
  if (type === 'lead/created') {
    const email = typeof data.email === 'string' ? data.email : undefined;
    const phone = typeof data.phone_number === 'string' ? data.phone_number : undefined;
    const isBare = data.full_name === undefined && data.email === undefined && data.phone_number === undefined;
    return { email, phone, bare: isBare ? WITHOUT.contact : 0 };
  }
  if (type !== 'deal/created') return NOTHING;
  const lead = data.lead_external_id === undefined ? WITHOUT.lead : 0;
  const stage = data.stage_id === undefined && data.stage_name === undefined ? WITHOUT.stage : 0;
  return { email: undefined, phone: undefined, bare: lead | stage };
}
