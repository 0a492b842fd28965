import { rm } from 'node:fs/promises';
import { AppendLog } from '../append-log.ts';
import { settledLines } from '../checkpoint/read.ts';
import { csvLine } from '../csv.ts';
import { entityOf, isUpdate } from '../model.ts';
import type { Plan } from './plan.ts';

export const GONE_FILE = 'gone.csv';

const GONE_COLUMNS = ['record', 'external_id', 'service_id'];

/**
 * Lists in `gone.csv` the records that an earlier run created and that the input no longer has; the file is removed if there are
 * none. Returns how many there are.
 */
export async function listGone(path: string, checkpoint: string, plan: Plan): Promise<number> {
  await rm(path, { force: true });
  if (plan.matched.gone === 0) return 0;
  const log = await AppendLog.open(path, { keepBytes: 0 });
  let count = 0;
  try {
    await log.append(csvLine(GONE_COLUMNS), { durable: false });
    for await (const { type, status, id, external_id: externalId, entity_id: serviceId } of settledLines(checkpoint)) {
      if (status !== 'acknowledged' || isUpdate(type) || plan.hasRecord(type, externalId, id)) continue;
      count += 1;
      await log.append(csvLine([entityOf(type), externalId ?? '', serviceId ?? '']), { durable: false });
    }
  } finally {
    await log.close();
  }
  return count;
}
