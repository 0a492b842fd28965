import type { Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { codeOf, messageOf, UserError } from '../errors.ts';
import { unreadable, type InputFile } from './files.ts';

const CHUNK = 64 * 1024;

/**
 * The bytes of a file, unpacked where it is gzip (told by its first bytes, whatever its name). `hash` is fed what stands
 * on disk. Every chunk is a buffer of its own, so that whoever reads may keep views of it. Leaving the loop early closes
 * the file. A file that cannot be read or unpacked throws a `UserError`.
 */
export async function* readBytes(file: InputFile, hash?: Hash): AsyncGenerator<Buffer, void, undefined> {
  const packed = isGzip(await firstBytes(file));
  const disk = createReadStream(file.path, { highWaterMark: CHUNK });
  const hashed = async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      hash?.update(chunk);
      yield chunk;
    }
  };
  try {
    // The callback only keeps a failure of the disk from going unheard: it reaches the loop through the unpacker.
    yield* packed ? pipeline(disk, hashed, createGunzip({ chunkSize: CHUNK }), () => undefined) : hashed(disk);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'Z_BUF_ERROR') {
      throw new UserError(`${file.shown} ends in the middle: its gzip data are cut off`, {
        hint: 'download or copy it again',
        cause: error,
      });
    }
    if (code?.startsWith('Z_')) {
      throw new UserError(`${file.shown} cannot be unpacked: ${messageOf(error)}`, {
        hint: 'the gzip data are damaged: download or copy it again',
        cause: error,
      });
    }
    throw unreadable(file.shown, error);
  } finally {
    disk.destroy();
  }
}

/** Refuses, with advice, what is plainly an archive or a workbook and no text. */
export async function refuseArchives(file: InputFile): Promise<void> {
  const first = await firstBytes(file);
  if (file.bytes === 0) {
    throw new UserError(`${file.shown} is empty`, { hint: 'export it again; an export without records has a header' });
  }
  if (first.toString('latin1') === 'PK\x03\x04') {
    const workbook = /\.xls[xmb]$/i.test(file.path);
    throw new UserError(`${file.shown} is ${workbook ? 'a workbook' : 'a zip archive'}, not a text file`, {
      hint: workbook ? 'save the sheet as "CSV UTF-8" and name that file' : 'unpack it and name the files in it',
    });
  }
}

function isGzip(first: Buffer): boolean {
  return first[0] === 0x1f && first[1] === 0x8b;
}

async function firstBytes(file: InputFile): Promise<Buffer> {
  try {
    const handle = await open(file.path);
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(4), 0, 4, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw unreadable(file.shown, error);
  }
}
