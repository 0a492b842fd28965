/** Mistakes that somebody could make in the program. The simulator is to notice each of them; README.md says how far it was seen to. */

interface Edit {
  /** Of `src`. */
  readonly file: string;
  readonly text: string;
  readonly replacement: string;
}

export interface Breakage extends Edit {
  /** What is wrong then. */
  readonly name: string;
  /** Where two places prevent the same mistake: the other one. */
  readonly and?: Edit;
  /** Within how many histories it is to be noticed. */
  readonly within: number;
}

export const BREAKAGES: readonly Breakage[] = [
  {
    name: 'a request goes out before its row is committed',
    file: 'service/client.ts',
    text: 'await options.beforeSend?.();',
    replacement: 'void options.beforeSend?.();',
    within: 500,
  },
  {
    name: 'a commit that failed counts',
    file: 'store/commits.ts',
    text: 'for (const { reject } of changes) reject(error);\n      return;',
    replacement: '',
    within: 500,
  },
  {
    name: 'a changed update goes out under the id of the last one',
    file: 'plan/knowledge.ts',
    text: 'return isWanted ? last : undefined;',
    replacement: 'return isWanted || last.fields ? last : undefined;',
    within: 2000,
  },
  {
    name: 'every attempt has an id of its own',
    file: 'send/deliver.ts',
    text: 'client.ingest(envelope(ready, id, type), {',
    replacement: 'client.ingest(envelope(ready, `${id}-${sending.attempts}`, type), {',
    within: 200,
  },
  {
    name: 'a child does not wait to learn what became of its parent',
    file: 'send/due.ts',
    text: "own === 'failed' || parent === 'failed' || lacksParent",
    replacement: "own === 'failed' || lacksParent",
    within: 500,
  },
  {
    name: 'events about one record are in flight together',
    file: 'send/queue.ts',
    text: 'this.#records.get(record),',
    replacement: 'undefined,',
    within: 200,
  },
  {
    name: 'a token comes back too early',
    file: 'service/limiter.ts',
    text: 'return Math.ceil(rate.seconds * 1000 + MARGIN_MS);',
    replacement: 'return rate.seconds * 900;',
    within: 1000,
  },
  {
    name: 'a restart forgets the requests of the last minute',
    file: 'store/rate-history.ts',
    text: 'load: () => [...ours, ...timesOf(elsewhere, now)].sort((a, b) => a - b),',
    replacement: 'load: () => [],',
    within: 1000,
  },
  {
    name: 'Retry-After is not waited for',
    file: 'service/limiter.ts',
    text: 'const wait = (retryAfterMs ?? backoffCeiling(this.#refusals)) + backoff(this.#refusals);',
    replacement: 'const wait = backoff(this.#refusals);',
    within: 200,
  },
  {
    name: 'the last page of a list is dropped',
    file: 'service/lists.ts',
    text: 'const fresh = items.filter((item) => {',
    replacement: 'const fresh = (isFirst || items.length > 1 ? items : []).filter((item) => {',
    within: 2000,
  },
  {
    name: 'an older update takes fields back from a newer one',
    file: 'send/due.ts',
    text: "setBy(later.filter(({ state }) => state === 'acknowledged'))",
    replacement: 'setBy([])',
    and: {
      file: 'plan/knowledge.ts',
      text: 'if (event.isSettled) for (const field of fields) setLater.add(field);',
      replacement: 'if (event.isSettled) void fields;',
    },
    within: 1000,
  },
  {
    name: 'a request without an answer counts as applied',
    file: 'plan/knowledge.ts',
    text: 'bases.set(field, isApplied ? ',
    replacement: 'bases.set(field, isApplied || bases.size >= 0 ? ',
    within: 1000,
  },
  {
    name: 'a refused request counts as one without an answer',
    file: 'send/requests.ts',
    text: ': outcome.refused === true),',
    replacement: ': false),',
    within: 1000,
  },
  {
    name: 'an update of a record that is not there leaves earlier ones without an answer',
    file: 'send/requests.ts',
    text: 'if (outcome.code === INGEST_CODES.notFound && event.externalId',
    replacement: 'if ((false as boolean) && event.externalId',
    within: 2000,
  },
  {
    name: 'after a lost answer, a 409 means that the record is of somebody else',
    file: 'send/refusals.ts',
    text: 'if (askForEarlier(sending)) return',
    replacement: 'if (false as boolean) return',
    within: 1000,
  },
  {
    name: 'an edit in the service is overwritten',
    file: 'compare/three-way.ts',
    text: "return hash === known || open.includes(hash) ? 'changed' : 'conflict';",
    replacement: "return 'changed';",
    within: 500,
  },
  {
    name: 'identical comments have the same id',
    file: 'plan/occurrences.ts',
    text: 'const identity = { migration, type, content, n };',
    replacement: 'const identity = { migration, type, content, n: n * 0 };',
    within: 500,
  },
  {
    name: 'the last of several records is taken for the first',
    file: 'plan/duplicates.ts',
    text: "policy === 'first' ? group[0]! : group.at(-1)!",
    replacement: "policy === 'last' ? group[0]! : group.at(-1)!",
    within: 200,
  },
  {
    name: 'an event does not suppress triggers',
    file: 'service/envelope.ts',
    text: '"suppress_triggers":true',
    replacement: '"suppress_triggers":false',
    within: 10,
  },
  {
    name: 'errors.csv lacks the rejected events',
    file: 'send/recorder.ts',
    text: 'addProblem(db, { event: event.id, record: event.record }, issueOf(due.type, outcome), outcome);',
    replacement: 'void addProblem;',
    within: 200,
  },
  {
    name: 'blocked events are not counted',
    file: 'plan/states.ts',
    text: "blocked: 'blocked',",
    replacement: "blocked: 'pending',",
    within: 200,
  },
  {
    name: 'a record that is found to have other content is not named',
    file: 'send/recorder.ts',
    text: 'if (isChanged) reportChanged(db, event.id);',
    replacement: 'void [isChanged, reportChanged];',
    within: 2000,
  },
  {
    name: 'an update that was skipped is never sent',
    file: 'plan/acknowledged.ts',
    text: "and not (r.code is 'not_found' and (",
    replacement: 'and not (false and (',
    within: 1000,
  },
  {
    name: 'a record that an update made is taken for that of somebody else',
    file: 'plan/acknowledged.ts',
    text: 'event.type in (r.for_type, r.type)',
    replacement: 'event.type = r.for_type',
    within: 2000,
  },
  {
    name: 'a skipped update counts as a parent',
    file: 'plan/parents.ts',
    text: "s.code = 'not_found'), 'missing', 'exists')",
    replacement: "s.code = 'not_found'), 'exists', 'exists')",
    within: 1000,
  },
  {
    name: 'a lead of somebody else counts as an edit',
    file: 'plan/shown-leads.ts',
    text: 'areAllKnown && sent.every(isOurs)',
    replacement: 'areAllKnown && isOurs !== undefined',
    within: 2000,
  },
  {
    name: 'amounts of blocked deals are not in the control totals',
    file: 'plan/control-totals.ts',
    text: '1, amount ? Number(amount) : 0);',
    replacement: "1, amount && state !== 'blocked' ? Number(amount) : 0);",
    within: 500,
  },
  {
    name: 'leads of this migration count as contacts of somebody else',
    file: 'plan/contacts.ts',
    text: 'isMadeHere(db, serviceId) ? []',
    replacement: 'isMadeHere(db, `${serviceId}!`) ? []',
    within: 1000,
  },
  {
    name: 'what an update without an answer went out without is sent under its id',
    file: 'plan/knowledge.ts',
    text: '(isAbsent || others.some(',
    replacement: '(others.some(',
    within: 2000,
  },
  {
    name: 'any refusal settles the earlier requests to create a record',
    file: 'send/requests.ts',
    text: '!EXISTS.has(outcome.code)',
    replacement: 'outcome.code === undefined',
    within: 2000,
  },
];
