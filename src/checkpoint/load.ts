import { createReadStream } from 'node:fs';
import { codeOf, messageOf, UserError } from '../errors.ts';
import { EVENT_TYPES } from '../model.ts';
import { Ledger } from './ledger.ts';
import { quickLine } from './quick.ts';
import type { CheckpointLine, HeaderLine, RunLine } from './lines.ts';

export interface LoadedCheckpoint {
  readonly header: HeaderLine | undefined;
  readonly lastRun: RunLine | undefined;
  readonly ledger: Ledger;
  /** Bytes up to the end of the last whole line; what follows is a torn line, to be cut off before anything is appended. */
  readonly wholeBytes: number;
  readonly tornBytes: number;
  /** Numbers (from 1) of lines that could not be read and were skipped: their events are sent again under the same id. */
  readonly damagedLines: readonly number[];
}

/** Reads a checkpoint; one that does not exist is an empty one. Throws a `UserError` where the file cannot be read. */
export async function loadCheckpoint(path: string, options: { keepFields: boolean }): Promise<LoadedCheckpoint> {
  const ledger = new Ledger(options);
  const damagedLines: number[] = [];
  let header: HeaderLine | undefined;
  let lastRun: RunLine | undefined;
  let number = 0;
  let totalBytes = 0;
  let wholeBytes = 0;

  const take = (text: string): void => {
    number += 1;
    const line = quickLine(text, options.keepFields) ?? parseLine(text);
    if (line === undefined) damagedLines.push(number);
    else if (!('kind' in line)) ledger.settle(line);
    else if (line.kind === 'sent') ledger.sent(line);
    else if (line.kind === 'header') header ??= line;
    else {
      lastRun = line;
      ledger.run();
    }
  };

  let rest: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1 << 18 })) {
      const bytes = rest.length > 0 ? Buffer.concat([rest, chunk as Buffer]) : (chunk as Buffer);
      totalBytes += (chunk as Buffer).length;
      let start = 0;
      for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
        take(bytes.toString('utf8', start, end));
        start = end + 1;
      }
      rest = bytes.subarray(start);
      wholeBytes = totalBytes - rest.length;
    }
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') {
      throw new UserError(`cannot read the checkpoint ${path}: ${messageOf(error)}`, { cause: error });
    }
  }
  return { header, lastRun, ledger, wholeBytes, tornBytes: totalBytes - wholeBytes, damagedLines };
}

/** Undefined where the line is damaged. */
export function parseLine(text: string): CheckpointLine | undefined {
  let line: unknown;
  try {
    line = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isLine(line) ? line : undefined;
}

function isLine(value: unknown): value is CheckpointLine {
  if (typeof value !== 'object' || value === null) return false;
  const line = value as Record<string, unknown>;
  if (line.kind === 'header') return typeof line.migration === 'string' && typeof line.base_url === 'string';
  if (line.kind === 'run') return typeof line.at === 'string';
  const event =
    typeof line.id === 'string' &&
    (EVENT_TYPES as readonly unknown[]).includes(line.type) &&
    (typeof line.external_id === 'string' || line.external_id === null) &&
    typeof line.content_sha === 'string';
  if (line.kind === 'sent') return event;
  return line.kind === undefined && event && (line.status === 'acknowledged' || line.status === 'rejected');
}
