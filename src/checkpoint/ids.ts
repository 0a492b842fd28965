import { AppendLog } from '../append-log.ts';
import { csvLine } from '../report/csv.ts';
import type { SettledLine } from './lines.ts';

export const IDS_FILE = 'ids.csv';

/**
 * Begins `ids.csv` (`type,external_id,service_id` of everything acknowledged) anew as a checkpoint is loaded: what a
 * killed run did not get to write, or a power cut took, is in it again. The run then appends what it sees acknowledged.
 */
export class IdsWriter {
  readonly #log: AppendLog;
  #text = csvLine(['type', 'external_id', 'service_id']);

  private constructor(log: AppendLog) {
    this.#log = log;
  }

  static async begin(path: string): Promise<IdsWriter> {
    return new IdsWriter(await AppendLog.open(path, { keepBytes: 0 }));
  }

  add(line: SettledLine): void {
    if (line.status !== 'acknowledged') return;
    const { entity_id: entityId } = line;
    if (entityId) this.#text += csvLine([line.type, line.external_id ?? '', entityId]);
  }

  async flush(): Promise<void> {
    const text = this.#text;
    this.#text = '';
    await this.#log.append(text, { durable: false });
  }

  async close(): Promise<void> {
    if (this.#text !== '') await this.flush();
    await this.#log.close();
  }
}
