import { stat } from 'node:fs/promises';
import { messageOf, UserError } from '../errors.ts';
import { LineForms } from './forms.ts';
import { Ledger } from './ledger.ts';
import type { HeaderLine, RunLine } from './lines.ts';
import { isTorn, linesOf, readPieces } from './read.ts';

export interface LoadedCheckpoint {
  readonly header: HeaderLine | undefined;
  readonly lastRun: RunLine | undefined;
  readonly ledger: Ledger;
  /** Acknowledgements that came with an id of the service. */
  readonly named: number;
  /** Bytes up to the end of the last whole line; what follows is a torn line, to be cut off before anything is appended. */
  readonly wholeBytes: number;
  readonly tornBytes: number;
  /** Numbers (from 1) of lines that could not be read and were skipped: their events are sent again under the same id. */
  readonly damagedLines: readonly number[];
}

/** Bytes of a small event's two lines: a larger guess would only make room that is not needed. */
const BYTES_AN_EVENT = 600;

/** Reads a checkpoint; one that does not exist is an empty one. Throws a `UserError` where it cannot be read. */
export async function loadCheckpoint(path: string, options: { keepFields: boolean }): Promise<LoadedCheckpoint> {
  const bytes = await stat(path).then(
    ({ size }) => size,
    () => 0,
  );
  const ledger = new Ledger({ keepFields: options.keepFields, expected: bytes / BYTES_AN_EVENT });
  const forms = new LineForms();
  const damagedLines: number[] = [];
  let header: HeaderLine | undefined;
  let lastRun: RunLine | undefined;
  let number = 0;
  let named = 0;
  let wholeBytes = 0;
  let tornBytes = 0;
  try {
    for await (const piece of readPieces(path)) {
      if (isTorn(piece)) {
        tornBytes = piece.length;
        break;
      }
      for (const line of linesOf(piece, forms)) {
        number += 1;
        if (line === undefined) {
          damagedLines.push(number);
          ledger.isDamaged = true;
        } else if (line.kind === undefined) {
          ledger.settle(line);
          if (line.status === 'acknowledged' && line.entity_id) named += 1;
        } else if (line.kind === 'sent') ledger.sent(line);
        else if (line.kind === 'header') header ??= line;
        else lastRun = line;
      }
      wholeBytes += piece.length;
    }
  } catch (error) {
    throw new UserError(`cannot read the checkpoint ${path}: ${messageOf(error)}`, { cause: error });
  }
  return { header, lastRun, ledger, named, wholeBytes, tornBytes, damagedLines };
}
