/** Words for records: names that the account lacks, parents, and records that were sent before. */
import { counted } from './numbers.ts';
import type { Codes } from './sentence.ts';

const NAMES = 'Map the name under `references` in the mapping, or create it in the target account.';
const UNIQUE = 'Under `references` in the mapping, map the name to the id of the right one.';
const ONE = 'Map only the correct one.';

/** `wanted`: the name, as it is looked up and in the export; `where`: among what. */
const unresolved = (noun: string) => ({
  says: (wanted: string, where: string): string => `${noun} ${wanted} not found among the ${where}`,
  fix: NAMES,
});
const ambiguous = (noun: string) => ({
  says: (wanted: string, matches: number, where: string): string => `${noun} ${wanted} matches ${matches} ${where}`,
  fix: UNIQUE,
});
const foreignId = (noun: string, route: string, kind: string) => ({
  says: (id: string): string => `the account has no ${noun} with the id \`${id}\``,
  fix: `Use an id of the target account (GET ${route} lists them), or map the name of the ${kind} to \`${kind === 'user' ? 'owner' : kind}_name\` instead.`,
});
const disagrees = (what: string, field: string) => ({
  what,
  says: (id: string, other: string, name: string): string =>
    `\`${field}_id\` is ${other} (\`${id}\`), and \`${field}_name\` is \`${name}\`: the id is sent`,
  fix: ONE,
});

/** Names, and ids in place of them, that the account does not have. */
export const NAME_ERRORS = {
  unresolved_stage: { what: 'A stage does not exist in the account.', ...unresolved('stage') },
  'unresolved_stage/id': foreignId('stage of a deal pipeline', '/pipelines?type=DEAL', 'stage'),
  unresolved_owner: { what: 'An owner does not exist in the account.', ...unresolved('owner') },
  'unresolved_owner/id': foreignId('user', '/platform-users', 'user'),
  unresolved_pipeline: { what: 'A pipeline does not exist in the account.', ...unresolved('pipeline') },
  ambiguous_stage: { what: 'A stage name matches several stages of the account.', ...ambiguous('stage') },
  ambiguous_owner: { what: 'A name matches several users of the account.', ...ambiguous('owner') },
  ambiguous_pipeline: { what: 'A pipeline name matches several pipelines of the account.', ...ambiguous('pipeline') },
} as const satisfies Codes;

export const DELETED_ERRORS = {
  deleted_in_service: {
    what: 'A record that has changed in the export was deleted in the service.',
    says: (record: string) => `the ${record} was deleted in the service, so its update cannot be sent`,
    fix: 'Remove the record from the export, or set `if_changed: ignore`.',
  },
  merged_in_service: {
    what: 'A record that has changed in the export was merged with another one in the service.',
    says: (record: string, into: string) =>
      `the ${record} was merged in the service into the record \`${into}\`, so its update is not sent`,
    fix: 'Correct the merged record in the service by hand; then remove this one from the export, or set `if_changed: ignore`.',
  },
  refused_in_service: {
    what: 'A record that has changed in the export can no longer be read in the service.',
    says: (record: string, why: string) => `the ${record} cannot be compared, so its update is not sent: ${why}`,
    fix: 'Find out who owns the record now; then remove it from the export, or set `if_changed: ignore`.',
  },
} as const satisfies Codes;

/** `parent`: its entity and id. */
export const BLOCKED_ERRORS = {
  parent_missing: {
    what: 'The parent record is missing: it is neither in the export nor sent earlier.',
    says: (parent: string) => `${parent} is in no export and was not sent earlier`,
    fix: 'Add the parent to the export, check the `when` of its entry, or set `if_parent_missing` if the service already has it.',
  },
  /** `why`: nothing is sent of its row. */
  'parent_missing/unused': {
    says: (parent: string, place: string, why: string) => `${parent} is not sent (${place}): ${why}`,
    fix: 'Change the entry that reads its row, or say with `if_parent_missing` what becomes of this event.',
  },
  'parent_missing/skipped': {
    says: (parent: string) => `${parent} does not exist in the service: its update was skipped`,
    fix: 'Set `if_missing: create` on the entry that updates it, or `if_parent_missing` on this one.',
  },
  parent_failed: {
    what: 'The parent was not accepted.',
    says: (parent: string) => `${parent} was not accepted, so this event cannot be sent`,
    fix: 'Fix that record; the next run then sends this event.',
  },
} as const satisfies Codes;

/** Why a record is not sent, or not as it is in the export. */
export const RECORD_ERRORS = {
  duplicate_external_id: {
    what: 'Several records have the same external id with different content.',
    says: (id: string) => `several records have the external_id \`${id}\` with different content`,
    fix: 'Remove all but one, or choose with `duplicates`. If they come from two sources, add a `prefix` to the ids of one source.',
  },
  /** Two sources may number their records separately: choosing one of them would lose the other. */
  'duplicate_external_id/sources': {
    says: (id: string) => `records of several sources have the external_id \`${id}\` with different content`,
    fix: 'If they are different records, set `apply: [{ prefix: x- }]` on `external_id` of one source, and on the fields that refer to it.',
  },
  id_of_combined: {
    what: 'A comment has the external id of a combined comment that was sent before, and the service keeps one comment per id.',
    says: (id: string) =>
      `\`${id}\` is the id of a combined comment that was sent before, so the service would not keep this one`,
    fix: 'Give the ids of these comments a `prefix`, or add this comment in the service by hand.',
  },
  row_invalid: {
    what: 'A record has several rows, and one of them cannot be mapped, so nothing of the record is sent.',
    says: (places: string) => `another row of this record cannot be mapped (${places}), so nothing of it is sent`,
    fix: 'Correct that row. With `on_error: omit` a value that cannot be read is left out instead.',
  },
  contact_exists: {
    what: 'The account already has a lead with this e-mail address or phone number.',
    says: sameContact,
    fix: 'Remove the record if `matches.csv` shows the same person, or set `if_contact_exists: report` to send it.',
  },
} as const satisfies Codes;

export const RECORD_WARNINGS = {
  contact_in_account: {
    what: 'A lead shares its e-mail address or phone number with one that is already in the account.',
    says: sameContact,
    fix: 'See `matches.csv`. Set `if_contact_exists: reject` to leave such leads out.',
  },
  stage_disagrees: disagrees('A deal has the id of one stage and the name of another one; the id is sent.', 'stage'),
  owner_disagrees: disagrees('A deal has the id of one user and the name of another one; the id is sent.', 'owner'),
  inactive_owner: {
    what: 'Deals go to users that the service shows as inactive or deleted.',
    says: (owners: readonly string[]) => `the service shows these owners as inactive: ${owners.join(', ')}`,
    fix: 'Name active users for these owners, in the worksheet or under `references.owners`, so that somebody sees the deals.',
  },
  inactive_stage: {
    what: 'Deals go to stages or pipelines that the service shows as inactive, closed or archived.',
    says: (stages: readonly string[]) => `the service shows these stages as inactive: ${stages.join(', ')}`,
    fix: 'Name active stages for them, in the worksheet or under `references.stages`, so that somebody sees the deals.',
  },
  custom_fields_may_go: {
    what: 'Custom fields are sent as a whole. Those that the export lacks may be erased from records that somebody else made.',
    says: (events: number) =>
      `${counted(events, 'event')} may set custom fields of records that somebody else made: custom fields that the export lacks may be erased`,
    fix: 'Export them too, or leave custom fields out of that entry.',
  },
  combined_unknown: {
    what: 'The checkpoint that recorded which comments were combined is lost. If the comments of a parent have changed in the export since then, they are reported or sent twice.',
    fix: 'Use the exports of the last run, or restore a copy of the checkpoint.',
  },
} as const satisfies Codes;

/** `fields`: one or several, as they are shown. */
export const DIFFERENCE_WARNINGS = {
  changed: {
    what: 'A record differs from what was acknowledged: its export or the mapping has changed since.',
    says: (id: string, fields: string) => `${id}: ${fields} changed since it was acknowledged`,
    fix: 'Name these fields under `if_changed` to send them, or set it to `ignore`.',
  },
  emptied: {
    what: 'A field that was sent no longer has a value in the export. Ingestion cannot clear it, so the service keeps the old one.',
    says: (id: string, fields: string) =>
      `${id}: ${fields} no longer has a value in the export, and ingestion cannot clear it`,
    fix: 'Clear it in the service by hand (`changes.csv` lists each), or set `if_changed: ignore`.',
  },
  not_comparable: {
    what: 'The service shows a value in a form that cannot be compared, so nothing was overwritten.',
    says: (id: string, fields: string) => `${id}: the service shows ${fields} in a form that cannot be compared`,
    fix: 'Compare it by hand (`changes.csv` lists each). `if_edited: overwrite` sends the value of the export.',
  },
  comment_changed: {
    what: 'A comment changed after it was sent. A comment can neither be corrected nor withdrawn through ingestion.',
    says: (id: string, _fields: string) =>
      `${id}: its text, author or parent changed since it was sent, and a comment cannot be corrected`,
    fix: 'Correct it in the service by hand, or set `if_changed: ignore`.',
  },
  'comment_changed/part': {
    says: (id: string, carrier: string) =>
      `${id}: its text, author or parent changed since it was sent as part of ${carrier}, and a comment cannot be corrected`,
  },
} as const satisfies Codes;

function sameContact(fields: string, id: string, serviceIds: string): string {
  return `the account already has a lead with the ${fields} of \`${id}\`: ${serviceIds}`;
}
