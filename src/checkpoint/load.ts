import { Ledger } from './ledger.ts';
import type { HeaderLine, RunLine } from './lines.ts';
import { CheckpointReader } from './read.ts';

export interface LoadedCheckpoint {
  readonly header: HeaderLine | undefined;
  readonly lastRun: RunLine | undefined;
  readonly ledger: Ledger;
  /** Acknowledgements that came with an id of the service. */
  readonly named: number;
  /** Bytes up to the end of the last whole line; a torn line after it is cut off before anything is appended. */
  readonly wholeBytes: number;
  readonly tornBytes: number;
}

/**
 * Reads a checkpoint; one that does not exist is empty. Throws a `UserError` if it cannot be read or if a line inside it
 * is damaged.
 */
export async function loadCheckpoint(path: string, options: { keepFields: boolean }): Promise<LoadedCheckpoint> {
  const ledger = new Ledger(options);
  const reader = new CheckpointReader(path);
  let header: HeaderLine | undefined;
  let lastRun: RunLine | undefined;
  let named = 0;
  for await (const lines of reader.pieces()) {
    for (const line of lines) {
      if (line.kind === 'header') header ??= line;
      else if (line.kind === 'run') lastRun = line;
      else if (line.kind === 'sent') ledger.sent(line);
      else {
        ledger.settle(line);
        if (line.status === 'acknowledged' && line.entity_id) named += 1;
      }
    }
  }
  reader.assertUndamaged();
  return { header, lastRun, ledger, named, wholeBytes: reader.wholeBytes, tornBytes: reader.tornBytes };
}
