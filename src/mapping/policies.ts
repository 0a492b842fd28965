import type { Policies } from './mapping.ts';
import type { EntrySpec } from './spec.ts';

export const DEFAULT_POLICIES: Policies = {
  if_exists: 'reject',
  if_changed: 'report',
  if_missing: 'reject',
  if_parent_missing: 'block',
  if_both: 'reject',
  if_edited: 'keep',
  if_contact_exists: 'report',
  duplicates: 'reject',
};

/** An entry's policies with the defaults filled in. */
export function policiesOf(entry: EntrySpec): Policies {
  return {
    if_exists: entry.if_exists ?? DEFAULT_POLICIES.if_exists,
    if_changed: entry.if_changed ?? DEFAULT_POLICIES.if_changed,
    if_missing: entry.if_missing ?? DEFAULT_POLICIES.if_missing,
    if_parent_missing: entry.if_parent_missing ?? DEFAULT_POLICIES.if_parent_missing,
    if_edited: entry.if_edited ?? DEFAULT_POLICIES.if_edited,
    if_contact_exists: entry.if_contact_exists ?? DEFAULT_POLICIES.if_contact_exists,
    if_both: entry.if_both ?? DEFAULT_POLICIES.if_both,
    duplicates: entry.duplicates ?? DEFAULT_POLICIES.duplicates,
  };
}
