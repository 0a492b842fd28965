import { shaWords } from '../identity.ts';
import { isUpdate, type EventType } from '../model.ts';
import { withoutParent } from './changes.ts';
import { FLAG, type EventTable } from './event-table.ts';
import type { Plan } from './plan.ts';
import { RECORD } from './records.ts';

/** After the survey: what the whole input decides about each event. Types not among `only` are held. */
export function linkPlan(plan: Plan, only: readonly EventType[]): void {
  for (const table of Object.values(plan.tables)) {
    for (let ordinal = 0; ordinal < table.size; ordinal += 1) {
      if (lacksParent(plan, table, ordinal)) leaveOutParent(plan, table, ordinal);
    }
  }
  for (const table of Object.values(plan.tables)) {
    if (isUpdate(table.type)) judgeUpdates(plan, table);
    else rejectConflicts(plan, table);
    const isHeld = !only.includes(table.type);
    for (let ordinal = 0; ordinal < table.size; ordinal += 1) {
      if (table.isOpen(ordinal)) linkToParent(plan, table, ordinal, isHeld);
    }
  }
}

function linkToParent(plan: Plan, table: EventTable, ordinal: number, isHeld: boolean): void {
  const status = plan.links.parentStatus(table.type, ordinal);
  if (isHeld && (status === 'none' || status === 'exists' || status === 'expected' || status === 'held')) {
    table.setState(ordinal, 'held');
  } else if (status === 'held') table.setState(ordinal, 'waiting');
  else if (status === 'failed' || status === 'missing') table.setState(ordinal, 'blocked');
}

function judgeUpdates(plan: Plan, table: EventTable): void {
  plan.precedence.matchById(table);
  for (let ordinal = 0; ordinal < table.size; ordinal += 1) {
    if (table.isOpen(ordinal)) plan.precedence.judge(table, ordinal);
  }
}

function rejectConflicts(plan: Plan, table: EventTable): void {
  for (let ordinal = 0; ordinal < table.size; ordinal += 1) {
    const state = table.state(ordinal);
    if (state === 'acknowledged' || state === 'invalid') continue;
    if (plan.records.has(table.key(ordinal), RECORD.conflict)) table.setState(ordinal, 'invalid');
  }
}

function lacksParent(plan: Plan, table: EventTable, ordinal: number): boolean {
  if (!table.has(ordinal, FLAG.omitMissingParent)) return false;
  const isCurrent = table.isOpen(ordinal) || table.state(ordinal) === 'acknowledged';
  return isCurrent && plan.links.parentStatus(table.type, ordinal) === 'missing';
}

/** `if_parent_missing: omit`; an event not acknowledged yet may have been sent that way before. */
function leaveOutParent(plan: Plan, table: EventTable, ordinal: number): void {
  const sha = omitParent(plan, table, ordinal);
  if (!table.isOpen(ordinal)) return;
  const key = table.key(ordinal)!;
  if (isUpdate(table.type)) {
    if (!plan.ledger.claimUpdate(key, sha)) return;
    plan.matched.add();
    table.setState(ordinal, 'acknowledged');
  } else if (plan.ledger.created(key) === 'rejected' && plan.ledger.hasContent(key, sha)) {
    table.setState(ordinal, 'retry');
  }
}

/** The event goes out without the reference to its parent, and the plan says so. Returns the hash of that content. */
function omitParent(plan: Plan, table: EventTable, ordinal: number): string {
  const alone = withoutParent(plan.read(table.type, ordinal));
  plan.file.replace(table.at(ordinal)!, alone);
  table.flag(ordinal, FLAG.parentOmitted);
  table.shas.set(ordinal, shaWords(alone.sha));
  return alone.sha;
}
