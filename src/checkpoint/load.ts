import { stat } from 'node:fs/promises';
import { messageOf, UserError } from '../errors.ts';
import { Announced } from './announced.ts';
import { LineForms } from './forms.ts';
import { Ledger } from './ledger.ts';
import type { CheckpointLine, HeaderLine, RunLine } from './lines.ts';
import { QuickLine } from './quick.ts';
import { isTorn, lineAt, LineCursor, readPieces } from './read.ts';
import { SettledWords } from './words.ts';

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
  const { keepFields } = options;
  const ledger = new Ledger({ keepFields, expected: bytes / BYTES_AN_EVENT });
  const loading = new Loading(ledger, keepFields);
  let tornBytes = 0;
  try {
    for await (const piece of readPieces(path)) {
      if (isTorn(piece)) tornBytes = piece.length;
      else loading.take(piece);
    }
  } catch (error) {
    throw new UserError(`cannot read the checkpoint ${path}: ${messageOf(error)}`, { cause: error });
  }
  const { header, lastRun, named, wholeBytes, damagedLines } = loading;
  return { header, lastRun, ledger, named, wholeBytes, tornBytes, damagedLines };
}

/** A checkpoint as far as it was read. */
class Loading {
  header: HeaderLine | undefined;
  lastRun: RunLine | undefined;
  named = 0;
  wholeBytes = 0;
  readonly damagedLines: number[] = [];
  readonly #ledger: Ledger;
  readonly #forms = new LineForms();
  /** Undefined where fields are kept: then each settled line is needed as it stands. */
  readonly #words: SettledWords | undefined;
  #lines = 0;

  constructor(ledger: Ledger, keepFields: boolean) {
    this.#ledger = ledger;
    if (!keepFields) this.#words = new SettledWords();
  }

  take(piece: Buffer): void {
    const announced = new Announced((place) => this.#takeWhole(lineAt(piece, place)));
    for (const lines = new LineCursor(piece, this.#forms); lines.next();) {
      this.#lines += 1;
      const { line } = lines;
      if (!(line instanceof QuickLine)) {
        announced.tellAll();
        this.#takeWhole(line);
      } else if (line.kind === 'sent') announced.sent(line);
      else {
        announced.settled(line);
        this.#takeSettled(line);
      }
    }
    announced.tellAll();
    this.wholeBytes += piece.length;
  }

  #takeSettled(line: QuickLine): void {
    const words = this.#words;
    if (!words?.take(line) || !this.#ledger.settleWords(words.record, words)) this.#takeWhole(line);
    else if (words.isNamed) this.named += 1;
  }

  #takeWhole(line: CheckpointLine | undefined): void {
    if (line === undefined) {
      this.damagedLines.push(this.#lines);
      this.#ledger.isDamaged = true;
    } else if (line.kind === 'header') this.header ??= line;
    else if (line.kind === 'run') this.lastRun = line;
    else if (line.kind === 'sent') this.#ledger.sent(line);
    else {
      this.#ledger.settle(line);
      if (line.status === 'acknowledged' && line.entity_id) this.named += 1;
    }
  }
}
