import type { Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { codeOf, messageOf, UserError } from '../errors.ts';
import type { InputFile } from './files.ts';
import { unreadable } from './glob.ts';

const CHUNK = 64 * 1024;

/**
 * The bytes of a file, decompressed if it is gzip (detected by its first bytes, whatever its name). `hash` gets the bytes
 * as they are on disk. Every chunk is a separate buffer, so callers may keep views of it. Leaving the loop early closes the
 * file. Throws a `UserError` if the file cannot be read or decompressed.
 */
export async function* readBytes(file: InputFile, hash?: Hash): AsyncGenerator<Buffer, void, undefined> {
  const disk = createReadStream(file.path, { highWaterMark: CHUNK });
  const hashed = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of disk as AsyncIterable<Buffer>) {
      hash?.update(chunk);
      yield chunk;
    }
  };
  try {
    const chunks = hashed();
    const next = await chunks.next();
    if (next.done) return;
    const first = next.value;
    const all = async function* (): AsyncGenerator<Buffer> {
      yield first;
      yield* chunks;
    };
    // Errors reach the loop through the gunzip stream; `pipeline` requires a callback all the same.
    yield* isGzip(first) ? pipeline(all, createGunzip({ chunkSize: CHUNK }), () => undefined) : all();
  } catch (error) {
    const code = codeOf(error);
    if (code === 'Z_BUF_ERROR') {
      throw new UserError(`${file.label} is incomplete: its gzip data ends early`, {
        hint: 'download or copy it again',
        cause: error,
      });
    }
    if (code?.startsWith('Z_')) {
      throw new UserError(`cannot decompress ${file.label}: ${messageOf(error)}`, {
        hint: 'the gzip data is damaged: download or copy it again',
        cause: error,
      });
    }
    throw unreadable(file.label, error);
  } finally {
    disk.destroy();
  }
}

function isGzip(first: Buffer): boolean {
  return first[0] === 0x1f && first[1] === 0x8b;
}
