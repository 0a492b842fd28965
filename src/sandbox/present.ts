/** Records as returned by the REST routes: only the fields of section 2.2, which do not include external ids. */
import type { RecordKind } from './store.ts';
import type { SandboxContext } from './context.ts';

export type PublicRecord = Readonly<Record<string, unknown>>;

/** Undefined if there is no such record. */
export function publicRecord(context: SandboxContext, kind: RecordKind, id: string): PublicRecord | undefined {
  const { store, account } = context;
  /** Writes are attributed to the account owner (section 5). */
  const createdBy = account.users[0]?.id ?? null;
  switch (kind) {
    case 'Lead': {
      const lead = store.get(kind, id);
      if (!lead) return undefined;
      const { fullName, phoneNumber, email, companyId, createdAt, updatedAt } = lead;
      return { id, fullName, phoneNumber, email, companyId, createdBy, createdAt, updatedAt };
    }
    case 'Deal': {
      const deal = store.get(kind, id);
      if (!deal) return undefined;
      const { pipelineId, stageId, ownerId, primaryContactId, companyIds, contactIds, amount, currency } = deal;
      return {
        id,
        pipelineId,
        stageId,
        ownerId: ownerId ?? createdBy,
        primaryContactId,
        companyIds,
        contactIds,
        amount,
        currency,
        createdBy,
        createdAt: deal.createdAt,
        updatedAt: deal.updatedAt,
      };
    }
    case 'Comment': {
      const comment = store.get(kind, id);
      if (!comment) return undefined;
      const { content, authorName, leadId, dealId, createdAt, updatedAt } = comment;
      return { id, content, authorName, leadId, dealId, createdBy, createdAt, updatedAt };
    }
    case 'Company':
    case 'Activity':
    case 'Quote':
    case 'Contract':
    case 'Message': {
      const record = store.get(kind, id);
      if (!record) return undefined;
      return { ...record.fields, id, createdBy, createdAt: record.createdAt, updatedAt: record.updatedAt };
    }
  }
}
