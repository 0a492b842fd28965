import { AppendLog } from '../append-log.ts';
import { csvLine } from '../report/csv.ts';
import { parseLine, wholeLines } from '../report/lines.ts';
import type { SettledLine } from './lines.ts';
import { quickLine } from './quick.ts';

export const IDS_FILE = 'ids.csv';

/**
 * Begins `ids.csv` (`type,external_id,service_id` of everything acknowledged) anew from the checkpoint, and returns it
 * open, to be continued as events are acknowledged.
 */
export async function openIds(path: string, checkpoint: string): Promise<AppendLog> {
  const ids = await AppendLog.open(path, { keepBytes: 0 });
  let text = csvLine(['type', 'external_id', 'service_id']);
  for await (const line of settledLines(checkpoint)) {
    if (line.status !== 'acknowledged' || !line.entity_id) continue;
    text += csvLine([line.type, line.external_id ?? '', line.entity_id]);
    if (text.length > 1 << 16) {
      await ids.append(text, { durable: false });
      text = '';
    }
  }
  await ids.append(text, { durable: false });
  return ids;
}

/** The settled lines of a checkpoint in order; lines that cannot be read are passed over: the loader reports them. */
export async function* settledLines(path: string): AsyncGenerator<SettledLine> {
  for await (const { text } of wholeLines(path)) {
    if (!text.startsWith('{"id":')) continue;
    const line = quickLine(text, true) ?? parseLine<SettledLine>(text);
    if (line) yield line as SettledLine;
  }
}
