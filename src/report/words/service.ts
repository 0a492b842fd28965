/** Words for the answers of the service to an event, and for requests without an answer. */
import type { Codes } from './sentence.ts';

const RERUN = 'Rerun: the event is sent again with the same id.';
const COMPARE = 'Compare the record in the service.';

/** A refusal that no record causes. `fix`: how to end it. */
const refusal = (what: string, fix: string) => ({ what, fix: `${fix} Then rerun: the record is not at fault.` });
const FORM = refusal(
  'The service does not accept the form of the requests, whatever their record.',
  'Check the base URL, and whether a proxy changes requests; otherwise report it as a bug.',
);

/** Codes of the service come with messages of their own; `http_N` is the code of a refusal without one. */
export const SEND_ERRORS = {
  already_exists: {
    what: 'The service already has a record with this external id, which this migration did not create.',
    fix: 'Set `if_exists: skip` to keep such records, or `if_exists: update` (leads and deals only) to overwrite them.',
  },
  /** A comment cannot be updated. */
  'already_exists/comment': { fix: 'Set `if_exists: skip` to keep such records.' },
  not_found: {
    what: 'The record to update does not exist in the service.',
    fix: 'Set `if_missing: skip` to drop such updates, or `if_missing: create` to create the record.',
  },
  parent_not_found: { what: 'The parent does not exist in the service.', fix: 'Send the parent first.' },
  unresolved_reference: {
    what: 'A stage or a user that the account had when this run began does not exist any more.',
    fix: 'Rerun: pipelines and users are read again, and the events that need another name are listed.',
  },
  invalid_payload: { what: 'The service rejected the content.', fix: 'Correct the record or the mapping.' },
  http_402: refusal(
    'The account of the service has to be paid for.',
    'Settle the plan or the payment of the account with the service.',
  ),
  http_406: FORM,
  http_411: FORM,
  http_412: FORM,
  http_413: {
    what: 'The event is larger than the service, or a proxy before it, accepts.',
    fix: 'Shorten a field with `truncate`.',
  },
  http_414: FORM,
  http_415: FORM,
  http_417: FORM,
  http_421: refusal(
    'The request reached a server that does not serve this host.',
    'Check the base URL, and the proxy if there is one.',
  ),
  http_423: refusal(
    'The record or the account is locked in the service.',
    'Wait until it is unlocked, or ask who locked it.',
  ),
  http_424: refusal('The service depends on something that failed.', 'Ask the support of the service.'),
  http_426: FORM,
  http_428: FORM,
  http_431: refusal(
    'The headers of the request are too large for the service.',
    'Check the length of BACKFILL_API_KEY, and whether a proxy adds headers.',
  ),
  http_451: refusal(
    'The service, or something on the way, refuses the request for legal reasons.',
    'Ask the support of the service, and the administrator of the network.',
  ),
  internal: { what: 'The service failed to process this event.', fix: RERUN },
  timeout: {
    what: 'The service did not answer in time.',
    says: (seconds: number | undefined) => `no answer within ${seconds} s (--timeout)`,
    fix: RERUN,
  },
  asleep: {
    what: 'The machine slept while a request was in flight.',
    fix: RERUN,
  },
  aborted: {
    what: 'The run was stopped immediately while a request was in flight.',
    fix: RERUN,
  },
  connection_lost: {
    what: 'The connection was lost repeatedly.',
    says: (code: string) => `the connection was lost (${code})`,
    fix: RERUN,
  },
  unreachable: {
    what: 'The service could not be reached.',
    says: (why: string) => `the service cannot be reached (${why})`,
    fix: RERUN,
  },
  'unreachable/proxy': {
    says: (proxy: string | undefined, status: string) =>
      `the proxy of ${proxy} did not connect to the service (${status})`,
  },
  unexpected_answer: {
    what: 'The answer did not come from the service (possibly from a proxy).',
    says: (answer: string) => answer,
    fix: RERUN,
  },
  too_large: {
    what: 'An answer of the service is too large to be read (more than 64 KB to an event, 32 MB to a read, or 128 KB of headers).',
    fix: RERUN,
  },
  tls: {
    what: 'A secure connection to the service failed.',
    says: (code: string) => `TLS connection failed (${code})`,
    fix: 'Check the base URL and the certificates of this machine.',
  },
  'tls/mistake': {
    says: (mistake: string, code: string) => `the certificate of the service ${mistake} (${code})`,
    fix: 'Check the base URL and the clock of this machine.',
  },
  'tls/untrusted': {
    says: (code: string) => `the certificate of the service is not trusted by this machine (${code})`,
    fix: 'Check the base URL; name the file of a certificate authority of your own in NODE_EXTRA_CA_CERTS.',
  },
  proxy_auth: {
    what: 'A proxy refused its credentials.',
    says: (variable: string | undefined) =>
      `${variable === undefined ? 'a proxy' : `the proxy of ${variable}`} refused its credentials (407)`,
    fix: 'Check its user name and password.',
  },
  too_many_files: {
    what: 'Too many open files: no connection to the service could be made.',
    says: (message: string) => message,
    fix: 'Raise the limit with `ulimit -n 4096`, then rerun.',
  },
  unsendable: {
    what: 'The request cannot be built.',
    says: (code: string) => `invalid base URL or credentials: cannot build the request (${code})`,
    fix: 'Check the base URL and the credentials.',
  },
  redirected: {
    what: 'The service answered with a redirect.',
    says: (status: number, to: string) => `answered ${status}, a redirect${to}; redirects are not followed`,
    fix: 'Check the base URL.',
  },
  rejected_earlier: {
    what: 'The event was rejected in an earlier run, and this run stopped before trying it again.',
    fix: RERUN,
  },
  uncertain: {
    what: 'It is unknown what the service has: a request about the record got no answer, or `purge` deleted what was recorded.',
    says: (fields: string) =>
      `it is unknown what the service has as ${fields}: a request about it got no answer, or \`purge\` deleted what was recorded`,
    fix: 'Set `if_changed: update` and rerun, or compare the record in the service by hand.',
  },
  /** A comment cannot be updated. */
  'uncertain/comment': {
    says: () =>
      'it is unknown which text the comment has in the service: a request got no answer, or `purge` deleted what was recorded',
    fix: 'Compare the comment in the service; `if_changed: ignore` accepts it as it is.',
  },
  'uncertain/part': {
    says: (id: string, carrier: string) =>
      `${id}: it is unknown whether the combined comment ${carrier} contains it: a request got no answer, or \`purge\` deleted what was recorded. The service may have it as a part, in another form, or not at all`,
    fix: 'Compare the combined comment in the service, and add missing parts by hand.',
  },
  already_combined: {
    what: 'The service already has a combined comment, sent before the state directory was lost. It may lack some parts.',
    says: (id: string) =>
      `the service already has the comment \`${id}\`, sent before the state directory was lost: it may lack some of these`,
    fix: 'Compare it in the service, and add missing parts there. Then set `if_exists: skip` to accept it as it is.',
  },
} as const satisfies Codes;

/** Whether the same command is all that an event with this code needs. */
export function isOnlyRepeated(code: string): boolean {
  const known: Codes = SEND_ERRORS;
  return Object.hasOwn(known, code) && known[code]!.fix === RERUN;
}

export const SEND_WARNINGS = {
  not_created: {
    what: 'The service acknowledged an event with outcome `none`: nothing was created or updated.',
    fix: 'Check the record in the service.',
  },
  updated_instead: {
    what: 'The service answered a creation with `updated`: it changed a record that it already had.',
    fix: COMPARE,
  },
  same_service_id: {
    what: 'The service answered the creation of several records with one id: it keeps one record for all of them.',
    says: (id: string, other: string, serviceId: string) =>
      `\`${id}\` and \`${other}\` were both answered with the id \`${serviceId}\`: the service keeps one record for both`,
    fix: 'Compare that record in the service, and ask its support why.',
  },
} as const satisfies Codes;
