import { fieldsOf } from '../checkpoint/field-hashes.ts';
import type { Ledger } from '../checkpoint/ledger.ts';
import type { JsonValue } from '../json.ts';
import { isUpdate, type EventType, type Planned } from '../model.ts';
import { updatedTypeOf, withoutAnyField, withoutFields } from './changes.ts';
import { FLAG, type EventTable } from './event-table.ts';
import type { Plan } from './plan.ts';
import type { Updates } from './updates.ts';

/**
 * Newer never yields to older: whatever the order in which the updates of one record are acknowledged, the record ends as
 * if they had been sent in the order of the input.
 *
 * - An update goes out without the fields that later acknowledged ones have set; without any left, it is superseded.
 * - An update that may have arrived, but was not acknowledged, is sent again before older ones of its record: the service
 *   would answer `deduplicated` without applying it once more. While it is unknown what became of it, they wait.
 * - An update before one that may have arrived, but can no longer be mapped, is blocked: it is not known which fields that one set.
 */
export class Precedence {
  /** Updates that lost some of their fields, with these fields and their values; to be reported. */
  readonly leftOut: { readonly event: Planned; readonly fields: readonly (readonly [string, JsonValue])[] }[] = [];
  readonly #plan: Plan;
  readonly #updates: Updates;
  readonly #ledger: Ledger;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#updates = plan.updates;
    this.#ledger = plan.ledger;
  }

  /**
   * Of updates of one record with the same content, those count as acknowledged whose ids are; only the rest of the
   * acknowledgements (of ids that the input no longer has) go by content.
   */
  matchById(table: EventTable): void {
    for (const repeated of table.n.keys()) {
      if (table.has(repeated, FLAG.derived)) continue;
      const key = table.key(repeated)!;
      const sha = table.shas.get(repeated);
      const alike = this.#updates.alike(key, (ordinal) => table.shas.equals(ordinal, sha));
      const open = alike.find((ordinal) => table.state(ordinal) !== 'acknowledged');
      const acknowledged = alike.filter((ordinal) => table.state(ordinal) === 'acknowledged').length;
      if (open === undefined || acknowledged === 0) continue;
      const openState = table.state(open);
      const isKnown = (ordinal: number): boolean => this.#ledger.hasAcknowledgedUpdate(key, this.#idOf(table, ordinal));
      const known = alike.filter(isKnown);
      const matched = [...known, ...alike.filter((ordinal) => !known.includes(ordinal))].slice(0, acknowledged);
      for (const ordinal of alike) table.setState(ordinal, matched.includes(ordinal) ? 'acknowledged' : openState);
    }
  }

  /** In the survey, of an update that can be sent: its line in the plan gets what is left of it. */
  judge(table: EventTable, ordinal: number): void {
    if (this.couldOverwrite(table, ordinal)) return table.setState(ordinal, 'blocked');
    const key = table.key(ordinal)!;
    if (this.#updates.after(key, ordinal).some((later) => table.state(later) === 'acknowledged')) {
      this.#leaveOut(this.#plan.read(table.type, ordinal), ordinal);
    }
    if (this.#updates.before(key, ordinal).length === 0) return;
    const sha = table.shas.get(ordinal);
    const isAlike = (other: number): boolean =>
      other !== ordinal && table.isOpen(other) && table.shas.equals(other, sha);
    const isOther = (id: string): boolean =>
      this.#updates.alike(key, isAlike).some((other) => this.#idOf(table, other) === id);
    if (this.#ledger.mayHaveArrived(table.type, key, sha, isOther)) table.flag(ordinal, FLAG.uncertain);
  }

  /** Updates that may have arrived, whose records have older ones to send: newest first. */
  *uncertain(type: EventType): Generator<number, void, undefined> {
    const table = this.#plan.tables[type];
    for (let ordinal = table.size - 1; ordinal >= 0; ordinal -= 1) {
      if (!table.has(ordinal, FLAG.uncertain) || !table.isOpen(ordinal)) continue;
      if (this.#updates.before(table.key(ordinal)!, ordinal).some((older) => table.isOpen(older))) yield ordinal;
    }
  }

  /**
   * The event as it goes out now, when no other of its record is in flight; undefined if it must not: then its state is
   * `duplicate` (superseded) or `held` (until it is known whether a later one has arrived).
   */
  due(event: Planned, ordinal: number): Planned | undefined {
    if (!isUpdate(event.type)) return event;
    const table = this.#plan.tables[event.type];
    const current = this.#leaveOut(event, ordinal);
    if (current === undefined || !this.#later(table, ordinal).some((later) => isUnknown(table, later))) return current;
    table.setState(ordinal, 'held');
    return undefined;
  }

  /**
   * Whether an event, or what `if_exists: update` sends for it, could overwrite fields of a later update that may have arrived,
   * but can no longer be mapped.
   */
  couldOverwrite(table: EventTable, ordinal: number): boolean {
    if (!this.#plan.matched.hasLaterUnmapped(table, ordinal)) return false;
    if (isUpdate(table.type)) return true;
    return this.#plan.policies[this.#plan.read(table.type, ordinal).entry]!.if_exists === 'update';
  }

  /** What `if_exists: update` sends for a created event: it comes before all updates, also those acknowledged by earlier runs. */
  asUpdate(event: Planned, ordinal: number): Planned {
    const { tables, updates } = this.#plan;
    const key = tables[event.type].key(ordinal)!;
    const set = this.#setBy(tables[updatedTypeOf(event.type)], updates.inInput(key));
    return withoutFields(event, set) ?? withoutAnyField(event);
  }

  /** The fields that the acknowledged ones of these updates have set. */
  #setBy(table: EventTable, updates: readonly number[]): Set<string> {
    const acknowledged = updates.filter((ordinal) => table.state(ordinal) === 'acknowledged');
    return new Set(
      acknowledged.flatMap((ordinal) =>
        Array.from(fieldsOf(this.#plan.read(table.type, ordinal).data), ([field]) => field),
      ),
    );
  }

  #leaveOut(event: Planned, ordinal: number): Planned | undefined {
    const { tables, file } = this.#plan;
    const table = tables[event.type];
    const set = this.#setBy(table, this.#later(table, ordinal));
    const current = withoutFields(event, set);
    if (current === event) return event;
    if (current === undefined) {
      table.flag(ordinal, FLAG.superseded);
      table.setState(ordinal, 'duplicate');
      return undefined;
    }
    if (!event.isPartial) table.wholeIds.set(ordinal, this.#plan.idOf(event, ordinal));
    if (!current.parent) table.flag(ordinal, FLAG.parentOmitted);
    file.replace(table.at(ordinal)!, current);
    this.leftOut.push({ event, fields: Array.from(fieldsOf(event.data)).filter(([field]) => set.has(field)) });
    return current;
  }

  #later(table: EventTable, ordinal: number): readonly number[] {
    return this.#updates.after(table.key(ordinal)!, ordinal);
  }

  #idOf(table: EventTable, ordinal: number): string {
    return this.#plan.idOf(this.#plan.read(table.type, ordinal), ordinal);
  }
}

function isUnknown(table: EventTable, ordinal: number): boolean {
  const state = table.state(ordinal);
  return table.has(ordinal, FLAG.uncertain) && state !== 'acknowledged' && state !== 'duplicate';
}
