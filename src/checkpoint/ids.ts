import { AppendLog } from '../append-log.ts';
import { csvLine } from '../csv.ts';
import { isTorn, readPieces, settledLines } from './read.ts';

export const IDS_FILE = 'ids.csv';

const COLUMNS = ['type', 'external_id', 'service_id'];
const LINE_FEED = 0x0a;

/**
 * Opens `ids.csv` (`type,external_id,service_id` of everything acknowledged) to append to as events are acknowledged.
 * If it does not contain `expected` records (after a kill or a power cut), it is written again from the checkpoint.
 */
export async function openIds(path: string, checkpoint: string, expected: number): Promise<AppendLog> {
  if ((await linesIn(path)) === expected + 1) return AppendLog.open(path);
  const ids = await AppendLog.open(path, { keepBytes: 0 });
  try {
    await writeIds(ids, checkpoint);
    return ids;
  } catch (error) {
    await ids.close();
    throw error;
  }
}

async function writeIds(ids: AppendLog, checkpoint: string): Promise<void> {
  let text = csvLine(COLUMNS);
  for await (const line of settledLines(checkpoint)) {
    if (line.status !== 'acknowledged' || !line.entity_id) continue;
    text += csvLine([line.type, line.external_id ?? '', line.entity_id]);
    if (text.length > 1 << 16) {
      await ids.append(text, { durable: false });
      text = '';
    }
  }
  await ids.append(text, { durable: false });
}

/** Undefined if the last line is torn. */
async function linesIn(path: string): Promise<number | undefined> {
  let lines = 0;
  for await (const piece of readPieces(path)) {
    if (isTorn(piece)) return undefined;
    for (let at = piece.indexOf(LINE_FEED); at >= 0; at = piece.indexOf(LINE_FEED, at + 1)) lines += 1;
  }
  return lines;
}
