/** A plan with a real file, made of events that a test writes as data. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { FieldHasher } from '../../src/checkpoint/field-hashes.ts';
import { Ledger } from '../../src/checkpoint/ledger.ts';
import { contentSha } from '../../src/identity.ts';
import { canonicalJson, type JsonObject } from '../../src/json.ts';
import type { Policies } from '../../src/mapping/mapping.ts';
import { DEFAULT_POLICIES } from '../../src/mapping/policies.ts';
import { EVENT_TYPES, type EventType, type Ready } from '../../src/model.ts';
import { linkPlan } from '../../src/plan/links.ts';
import { SendOrder, type DueEvent } from '../../src/plan/order.ts';
import { Plan } from '../../src/plan/plan.ts';
import { PlanBuilder } from '../../src/plan/plan-builder.ts';
import { PlanFile } from '../../src/plan/plan-file.ts';
import { parentOf } from '../../src/plan/prepare.ts';

export const hasher = FieldHasher.random();

/** What the entry and the record say about an event, beside its data. */
export interface About {
  readonly priority?: number;
  readonly occurredAt?: string;
}

export function event(type: EventType, data: JsonObject, about: About = {}): Ready {
  const content = canonicalJson(data);
  const parent = parentOf({ type }, data);
  return {
    kind: 'ready',
    type,
    entry: 0,
    place: { source: 's', file: 's.csv', line: 2, record: 1 },
    ...(typeof data.external_id === 'string' ? { externalId: data.external_id } : {}),
    ...(parent ? { parent } : {}),
    data,
    content,
    sha: contentSha(content),
    issues: [],
    omissions: [],
    ...about,
  };
}

export const lead = (id: string, about?: About): Ready => event('lead/created', { external_id: id }, about);
export const deal = (id: string, parent: string | undefined, about?: About): Ready =>
  event('deal/created', { external_id: id, ...(parent === undefined ? {} : { lead_external_id: parent }) }, about);
export const note = (id: string, parent: string, about?: About): Ready =>
  event('comment/created', { external_id: id, content: 'x', deal_external_id: parent }, about);
export const leadNote = (id: string, parent: string, about?: About): Ready =>
  event('comment/created', { external_id: id, content: 'x', lead_external_id: parent }, about);

/** Removed after the test. */
export function planOf(
  events: readonly Ready[],
  options: { ledger?: Ledger; policies?: Partial<Policies> } = {},
): Plan {
  const { ledger = new Ledger({ keepFields: true }), policies = {} } = options;
  const directory = mkdtempSync(join(tmpdir(), 'backfill-order-'));
  const file = PlanFile.create(join(directory, 'plan.ndjson'));
  onTestFinished(() => {
    file.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const plan = new Plan({
    migration: 'm',
    checkpoint: { ledger, hasher },
    policies: [{ ...DEFAULT_POLICIES, ...policies }],
    file,
  });
  const builder = new PlanBuilder(plan);
  for (const each of events) builder.add(each, { raw: ['a cell'] });
  linkPlan(plan, EVENT_TYPES);
  return plan;
}

/** The turns of a plan, and the external ids of their events; an update is marked with a `+`. */
export function turnsOf(plan: Plan, lanes = 10): { order: SendOrder; turns: DueEvent[]; ids: string[] } {
  const order = new SendOrder(plan);
  const turns = [...order.turns(lanes)];
  const ids = turns.map(({ type, ordinal }) => {
    const { externalId = '' } = plan.read(type, ordinal);
    return type.endsWith('/updated') ? `${externalId}+` : externalId;
  });
  return { order, turns, ids };
}
