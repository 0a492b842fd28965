/** Reports events that cannot be sent because of other events: conflicts, duplicates and failed parents. */
import { entityOf, EVENT_TYPES, isUpdate, type Issue, type ParentRef, type Planned, type Sendable } from '../model.ts';
import type { ErrorReport } from '../report/error-report.ts';
import { originalText } from '../mapping/value-text.ts';
import { FLAG } from './event-table.ts';
import type { Plan } from './plan.ts';

/** An event and the record it comes from. */
type Reported = Omit<Planned, 'isDerived' | 'isPartial'>;

/**
 * After `Plan.link`: reports the events that are in conflict, dropped or blocked. Those that cannot
 * be sent even if their parents are accepted are removed from the plan file.
 */
export async function reportVerdicts(plan: Plan, report: ErrorReport): Promise<void> {
  await reportLeftOut(plan, report);
  for (const type of EVENT_TYPES) {
    const table = plan.tables[type];
    if (table.counts.invalid + table.counts.duplicate + table.counts.blocked === 0) continue;
    for (let ordinal = 0; ordinal < table.size; ordinal += 1) {
      const state = table.state(ordinal);
      if (table.at(ordinal) === undefined) continue;
      if (state === 'blocked') await reportBlocked(plan, report, plan.read(type, ordinal), ordinal);
      if (state !== 'invalid' && state !== 'duplicate') continue;
      const event = plan.read(type, ordinal);
      if (table.has(ordinal, FLAG.superseded)) {
        // Its line stays: the digest does not depend on what was acknowledged.
        await reportSuperseded(plan, report, event, ordinal);
        continue;
      }
      if (state === 'invalid') await reportConflict(plan, report, event, ordinal);
      else if (!table.has(ordinal, FLAG.derived)) await reportDropped(report, event);
      plan.withdraw(type, ordinal);
    }
  }
}

/** Several records of the input have the same external id with different content. */
export function reportConflict(plan: Plan, report: ErrorReport, event: Reported, ordinal: number): Promise<void> {
  const issue: Issue = {
    severity: 'error',
    kind: 'map',
    code: 'duplicate_external_id',
    field: 'external_id',
    ...(plan.collides(event.type, ordinal) ? collision(event) : conflict(event)),
  };
  return reportIssue(plan, report, event, ordinal, issue);
}

function conflict({ externalId }: Reported): Pick<Issue, 'message' | 'hint'> {
  return {
    message: `several records have the external_id \`${externalId}\` with different content`,
    hint: 'remove all but one, or choose with `duplicates: first` or `duplicates: last`',
  };
}

/** Two sources number their records separately: choosing one of them would lose the other. */
function collision({ externalId, place }: Reported): Pick<Issue, 'message' | 'hint'> {
  return {
    message: `records of several sources have the external_id \`${externalId}\` with different content`,
    hint:
      'if they are different records, tell the ids apart with `apply: ' +
      `[{ prefix: ${place.source}- }]\` on \`external_id\` of one source, and on what refers to it`,
  };
}

/** `duplicates: first` or `last` chose another record. */
export function reportDropped(report: ErrorReport, event: Pick<Sendable, 'place' | 'externalId'>): Promise<void> {
  const { place, externalId } = event;
  const reason = 'another record with this external_id was chosen (`duplicates`)';
  return report.omitted(place, externalId, [{ field: '(record)', original: externalId ?? '', reason }]);
}

/** An update is not sent because later acknowledged ones have set all its fields. Does nothing if it is not superseded. */
export async function reportSuperseded(
  plan: Plan,
  report: ErrorReport,
  event: Planned,
  ordinal: number,
): Promise<void> {
  if (!plan.tables[event.type].has(ordinal, FLAG.superseded)) return;
  const { place, externalId } = event;
  const reason = 'later updates of this record, already acknowledged, have set all its fields (`superseded`)';
  report.warning({ severity: 'warning', kind: 'map', code: 'superseded', message: `${externalId}: ${reason}` }, place);
  await report.omitted(place, externalId, [{ field: '(record)', original: externalId ?? '', reason }]);
}

/** Lists the fields that updates lost since the last call, because later acknowledged updates have set them. */
export async function reportLeftOut({ precedence }: Plan, report: ErrorReport): Promise<void> {
  const reason = 'a later update of this record, already acknowledged, has set it (`superseded`)';
  for (const { event, fields } of precedence.leftOut.splice(0)) {
    const omissions = fields.map(([field, value]) => ({ field, original: originalText(value), reason }));
    await report.omitted(event.place, event.externalId, omissions);
  }
}

/** Reports a blocked event, and names the record that it depends on. */
export function reportBlocked(plan: Plan, report: ErrorReport, event: Planned, ordinal: number): Promise<void> {
  return reportIssue(plan, report, event, ordinal, blockedBy(plan, event, ordinal));
}

/** Reports what is wrong with an event of the plan, with its record. */
export function reportIssue(
  plan: Plan,
  report: ErrorReport,
  event: Reported,
  ordinal: number,
  issue: Issue,
): Promise<void> {
  const { type, place, externalId, raw } = event;
  return report.error({ place, type, externalId, eventId: plan.idOf(event, ordinal), issues: [issue], raw });
}

function blockedBy(plan: Plan, { type, parent, externalId }: Planned, ordinal: number): Issue {
  const table = plan.tables[type];
  const key = table.key(ordinal)!;
  if (plan.precedence.couldOverwrite(table, ordinal)) {
    return {
      severity: 'error',
      kind: 'blocked',
      code: 'later_update_invalid',
      field: 'external_id',
      message:
        `a later update of the ${entityOf(type)} \`${externalId}\` was sent earlier, but can no longer be mapped: ` +
        'this one could overwrite its fields',
      hint: 'fix the later record; the next run then sends this event without the fields that the later one has set',
    };
  }
  const ownFailed = isUpdate(type) && plan.links.createdStatus(entityOf(type), key) === 'failed';
  const needed: ParentRef | { entity: string; externalId: string } =
    ownFailed || !parent ? { entity: entityOf(type), externalId: externalId ?? '' } : parent;
  const name = `${needed.entity} \`${needed.externalId}\``;
  if (plan.links.parentStatus(type, ordinal) === 'missing') {
    return {
      severity: 'error',
      kind: 'blocked',
      code: 'parent_missing',
      field: `${needed.entity}_external_id`,
      message: `${name} is not in the input, or no entry takes it, and it was not acknowledged earlier`,
      hint: 'add the parent to the input, check the `when` of its entry, or set `if_parent_missing` if the service already has it',
    };
  }
  return {
    severity: 'error',
    kind: 'blocked',
    code: ownFailed ? 'own_created_failed' : 'parent_failed',
    field: ownFailed ? 'external_id' : `${needed.entity}_external_id`,
    message: `${name} was not accepted, so this event cannot be sent`,
    hint: 'fix that record; the next run then sends this event',
  };
}
