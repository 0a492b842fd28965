import type { FieldHasher } from './field-hashes.ts';
import { Ledger } from './ledger.ts';
import type { CheckpointLine, HeaderLine, RunLine } from './lines.ts';
import { CheckpointReader } from './read.ts';

export interface LoadedCheckpoint {
  readonly header: HeaderLine | undefined;
  readonly lastRun: RunLine | undefined;
  readonly ledger: Ledger;
  /** Hashes fields as this checkpoint does. */
  readonly hasher: FieldHasher;
  /** Acknowledgements that came with an id of the service. */
  readonly named: number;
  /** Bytes up to the end of the last whole line; a torn line after it is cut off before anything is appended. */
  readonly wholeBytes: number;
  readonly tornBytes: number;
}

/**
 * Reads a checkpoint; one that does not exist is empty. Throws a `UserError` if it cannot be read or if a line inside it
 * is damaged. Hashes of fields are kept only with `keepFields`, and only those of the same key. `onLine` is
 * called with each line.
 */
export async function loadCheckpoint(
  path: string,
  { keepFields, hasher, onLine }: { keepFields: boolean; hasher: FieldHasher; onLine?: (line: CheckpointLine) => void },
): Promise<LoadedCheckpoint> {
  const ledger = new Ledger({ keepFields });
  const reader = new CheckpointReader(path, hasher.keyId);
  let header: HeaderLine | undefined;
  let lastRun: RunLine | undefined;
  let named = 0;
  for await (const lines of reader.pieces()) {
    for (const line of lines) {
      onLine?.(line);
      if (line.kind === 'header') header ??= line;
      else if (line.kind === 'run') lastRun = line;
      else if (line.kind === 'sent') ledger.sent(line);
      else if (line.kind === 'compared') ledger.compared(line);
      else {
        ledger.settle(line);
        if (line.status === 'acknowledged' && line.entity_id) named += 1;
      }
    }
  }
  reader.assertUndamaged();
  return { header, lastRun, ledger, hasher, named, wholeBytes: reader.wholeBytes, tornBytes: reader.tornBytes };
}
