/** Reads `summary.json`, `survey.json` and `mapping.json`. Somebody else may have written them: what has another shape is left out. */
import { z } from 'zod';
import { openRegular } from '../private-file.ts';
import * as part from '../mapping/schema-parts.ts';
import { ENTITIES, EVENT_TYPES } from '../model.ts';
import { PARTS } from './control-totals.ts';
import type { StoredMapping } from './stored-mapping.ts';
import type { Summary, SurveySnapshot } from './summary.ts';

const count = z.number();
const time = z.iso.datetime();
const records = z.looseObject({ read: count, mapped: count, skipped: count, unreadable: count });
const counts = z.looseObject({
  total: count,
  acknowledged: count,
  duplicates: count,
  invalid: count,
  rejected: count,
  blocked: count,
  pending: count,
});
const byType = z.partialRecord(z.enum(EVENT_TYPES), counts);
const priority = z.looseObject({ priority: count, events: count, acknowledged: count });

const name = z.string().nullable();
const total = z.looseObject({
  from_pipeline: name,
  from_stage: name,
  from_owner: name,
  pipeline: name,
  stage: name,
  owner: name,
  currency: name,
  unread_amounts: count,
  ...Object.fromEntries(PARTS.map((part) => [`${part}count`, count])),
  ...Object.fromEntries(PARTS.map((part) => [`${part}amount`, z.string().regex(/^-?\d{1,500}\.\d{2,500}$/)])),
});

/** What status and report show of them. */
const summary = z.looseObject({
  migration: z.string(),
  dry_run: z.boolean(),
  exit: z.looseObject({ code: count, reason: z.string() }),
  base_url: z.string().nullable(),
  started_at: time,
  finished_at: time,
  records,
  events: counts,
  by_type: byType,
  warnings_by_code: z.record(z.string(), count),
  waiting: z.partialRecord(z.enum(EVENT_TYPES), z.partialRecord(z.enum(ENTITIES), count)).default({}),
  omitted: z.partialRecord(z.enum(EVENT_TYPES), z.record(z.string(), z.record(z.string(), count))).default({}),
  totals: z.array(total).default([]),
  priorities: z.array(priority.extend({ done_at: time.nullable() })).optional(),
});

const quota = z.looseObject({ requests: count, seconds: count });

const survey = z.looseObject({
  migration: z.string(),
  base_url: z.string().nullable(),
  at: time,
  records,
  by_type: byType,
  to_send: count,
  rate: quota.extend({ hours: z.array(quota).optional() }),
  priorities: z.array(priority.extend({ to_send: count })).optional(),
});

const mapping = z.object({
  timezone: part.timezone.nullable(),
  entries: z.array(
    z.object({
      type: z.enum(EVENT_TYPES),
      source: z.string(),
      each: z.string().optional(),
      when: z.string().optional(),
      fields: z.array(z.object({ field: z.string(), from: z.string(), how: z.array(z.string()) })),
    }),
  ),
  sources: z.record(z.string(), z.object({ records: count, unused: z.record(z.string(), count) })),
  unread_files: z.array(z.string()),
});

/** Undefined if there is none, or if it has another shape. */
export async function readSummary(path: string): Promise<Summary | undefined> {
  return (await readStored(path, summary)) as Summary | undefined;
}

/** Undefined if there is none, or if it has another shape. */
export async function readSurvey(path: string): Promise<SurveySnapshot | undefined> {
  return (await readStored(path, survey)) as SurveySnapshot | undefined;
}

/** Undefined if there is none, or if it has another shape. */
export async function readMapping(path: string): Promise<StoredMapping | undefined> {
  return (await readStored(path, mapping)) as StoredMapping | undefined;
}

async function readStored(path: string, schema: z.ZodType): Promise<unknown> {
  const file = await openRegular(path).catch(() => undefined);
  if (!file) return undefined;
  try {
    return schema.safeParse(JSON.parse(await file.readFile('utf8')), { jitless: true }).data;
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}
