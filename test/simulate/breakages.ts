/** Mistakes that somebody could make in the program. The simulator is to notice each of them; README.md says how far it was seen to. */

export interface Edit {
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
}

export const BREAKAGES: readonly Breakage[] = [
  {
    name: 'a request goes out before its row is committed',
    file: 'service/client.ts',
    text: 'await options.beforeSend?.();',
    replacement: 'void options.beforeSend?.();',
  },
  {
    name: 'a commit that failed counts',
    file: 'store/commits.ts',
    text: 'for (const { reject } of changes) reject(error);\n      return;',
    replacement: '',
  },
  {
    name: 'every attempt has an id of its own',
    file: 'send/deliver.ts',
    text: 'client.ingest(envelope(delivery, delivery.id, delivery.type), {',
    replacement: 'client.ingest(envelope(delivery, `${delivery.id}-${before.attempts}`, delivery.type), {',
  },
  {
    name: 'a child does not wait to learn what became of its parent',
    file: 'send/sender.ts',
    text: "if (parent === 'failed' || lacksParent) {",
    replacement: 'if (lacksParent) {',
  },
  {
    name: 'a token comes back too early',
    file: 'service/recent-answers.ts',
    text: 'return Math.ceil(rate.seconds * 1000 + MARGIN_MS);',
    replacement: 'return rate.seconds * 900;',
  },
  {
    name: 'a restart forgets the requests of the last minute',
    file: 'store/rate-history.ts',
    text: '(isBeside ? [] : [...ours, ...timesOf(elsewhere, clock)].sort((a, b) => a - b)),',
    replacement: '[],',
  },
  {
    name: 'the parts of a combined comment are not stored',
    file: 'plan/rows/combine.ts',
    text: 'from part p join event e on e.id = p.event where p.event = ?`',
    replacement: 'from part p join event e on e.id = p.event where p.event = ? and 0 = 1`',
  },
  {
    name: 'a part of a request without an answer counts as carried, whatever went out later',
    file: 'store/checkpoint-schema.ts',
    text: "select 1 from json_each(r.fields, '$.content') f where f.value in (p.body, '?')));",
    replacement: "select 1 from json_each(r.fields, '$.content') f));",
  },
  {
    name: 'a request is completed with parts of another parent',
    file: 'plan/rows/combine.ts',
    text: 'from carried_part where is_there or is_settled;',
    replacement: 'from carried_part;',
  },
  {
    name: 'what was combined is forgotten where the mapping no longer combines',
    file: 'plan/rows/combine.ts',
    text: "db.get('select 1 from checkpoint.part limit 1') !== undefined",
    replacement: 'false',
  },
  {
    name: 'what goes again where the mapping no longer combines loses its times',
    file: 'plan/rows/combine.ts',
    text: 'part.heading ?? headingOf(comment)',
    replacement: "part.heading ?? ''",
  },
  {
    name: 'parts of one comment are in the order of their ids',
    file: 'plan/rows/combine.ts',
    text: 'julianday(e.occurred_at) is null, julianday(e.occurred_at), e.id) as n,',
    replacement: 'e.external_id) as n,',
  },
  {
    name: 'Retry-After is not waited for',
    file: 'service/limiter.ts',
    text: 'const wait = (retryAfterMs ?? backoffCeiling(this.#refusals)) + backoff(this.#refusals);',
    replacement: 'const wait = backoff(this.#refusals);',
  },
  {
    name: 'the last page of a list is dropped',
    file: 'service/lists.ts',
    text: 'const fresh = items.filter((item) => {',
    replacement: 'const fresh = (isFirst || items.length > 1 ? items : []).filter((item) => {',
  },
  {
    name: 'of two rows of a record the first one counts',
    file: 'plan/rows/fold.ts',
    text: 'for (const row of rows) {\n    const own',
    replacement: 'for (const row of rows.toReversed()) {\n    const own',
  },
  {
    name: 'a record is taken to be as it was sent where its first row alone is',
    file: 'plan/events.ts',
    text: "iif(state in ('ready', 'acknowledged'),",
    replacement: "iif(state = 'ready',",
  },
  {
    name: 'a record of which one row is invalid is sent without it',
    file: 'plan/rows/fold.ts',
    text: 'if (unmapped.length > 0) rejectAll(db, base, own, unmapped);',
    replacement: 'if (unmapped.length === own.length) rejectAll(db, base, own, unmapped);',
  },
  {
    name: 'after a lost answer, a 409 means that the record is of somebody else',
    file: 'send/decide.ts',
    text: 'if (exists && mayBeOurs && askedAgain <= MAX_ASKED_AGAIN)',
    replacement: 'if (false)',
  },
  {
    name: 'an edit in the service is overwritten',
    file: 'core/next.ts',
    text: "if (ifEdited === 'overwrite') return 'overwritten';",
    replacement: "if (ifEdited !== undefined) return 'overwritten';",
  },
  {
    name: 'an older checkpoint is believed',
    file: 'plan/older.ts',
    text: 'if (!isThere(path)) return false;',
    replacement: 'if (isThere(path)) return false;',
  },
  {
    name: 'identical comments have the same id',
    file: 'plan/rows/comment-ids.ts',
    text: 'n === 0 ? same : shortSha(`${same} ${n}`)',
    replacement: 'n >= 0 ? same : shortSha(`${same} ${n}`)',
  },
  {
    name: 'the last of several records is taken for the first',
    file: 'plan/rows/duplicates.ts',
    text: "policy === 'first' ? group[0]! : group.at(-1)!",
    replacement: "policy === 'last' ? group[0]! : group.at(-1)!",
  },
  {
    name: 'an event does not suppress triggers',
    file: 'service/envelope.ts',
    text: '"suppress_triggers":true',
    replacement: '"suppress_triggers":false',
  },
  {
    name: 'errors.csv lacks the rejected events',
    file: 'send/outcomes.ts',
    text: 'addProblem(db, { event: due.id, record: due.record_id }, refusal(due.type, failure), { httpStatus, attempts });',
    replacement: 'void [addProblem, refusal, httpStatus, attempts];',
  },
  {
    name: 'blocked events are not counted',
    file: 'model.ts',
    text: "blocked: ['blocked', 'blocked'],",
    replacement: "blocked: ['pending', 'to send'],",
  },
  {
    name: 'a record that is found to have other content is not named',
    file: 'plan/known/judge-known.ts',
    text: "setState(db, id, 'acknowledged', null);",
    replacement: "setState(db, id, 'acknowledged', null);\n  if (verdicts.size >= 0) return;",
  },
  {
    name: 'an update that was skipped is never sent',
    file: 'core/next.ts',
    text: 'const wasRefused = known.missing === wanted.content;',
    replacement: 'const wasRefused = known.missing !== undefined;',
  },
  {
    name: 'a skipped update counts as a parent',
    file: 'plan/known/records.ts',
    text: "ended.code !== 'not_found'",
    replacement: "ended.code !== ''",
  },
  {
    name: 'a lead of somebody else counts as an edit',
    file: 'plan/known/in-service.ts',
    text: 'areAllKnown && sent.every(isOurs)',
    replacement: 'areAllKnown && isOurs !== undefined',
  },
  {
    name: 'amounts of blocked deals are not in the control totals',
    file: 'report/figures/deals.ts',
    text: 'there.sum.add(cell, held?.amount ?? own);',
    replacement: "there.sum.add(cell, state === 'blocked' ? 0 : (held?.amount ?? own));",
  },
  {
    name: 'leads of this migration count as contacts of somebody else',
    file: 'plan/account/matches.ts',
    text: "where q.service_id = shared.service_id and q.entity = '${PERSON}')",
    replacement: "where q.service_id = shared.service_id and q.entity = 'none')",
  },
];
