/** Decompresses the bodies of answers. No I/O. */
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import { codeOf } from '../errors.ts';

/** The body of an answer cannot be decompressed: damaged, cut off, too large, or in an unknown encoding. */
export class UndecodableBody extends Error {
  override readonly name = 'UndecodableBody';
  readonly isTooLarge: boolean;

  constructor(message: string, isTooLarge = false) {
    super(message);
    this.isTooLarge = isTooLarge;
  }
}

/** More layers than any server uses; each may have the largest size. */
const MAX_STEPS = 3;

type Decode = (body: Buffer, options: { maxOutputLength: number }) => Buffer;

const DECODERS: Readonly<Record<string, Decode>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  br: brotliDecompressSync,
  // Some servers leave out the zlib header, whose first byte names the method 8.
  deflate: (body, options) => ((body[0]! & 0x0f) === 8 ? inflateSync : inflateRawSync)(body, options),
};

/**
 * A body without its content encodings (`gzip`, or `deflate, br`: the last one was applied last). Throws an
 * `UndecodableBody`, also where it is or would become larger than `maxBytes`.
 */
export function decodeBody(body: Buffer, contentEncoding: string, maxBytes: number): Buffer {
  if (body.length > maxBytes) throw tooLarge();
  const encodings = contentEncoding.toLowerCase().split(/[\s,]+/);
  const steps = encodings.filter((encoding) => encoding !== '' && encoding !== 'identity').reverse();
  if (body.length === 0 || steps.length === 0) return body;
  if (steps.length > MAX_STEPS) throw new UndecodableBody('it is compressed too many times');
  return steps.reduce((encoded, encoding) => {
    const decode = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined;
    if (!decode) throw new UndecodableBody('its content encoding is not gzip, deflate or br');
    try {
      return decode(encoded, { maxOutputLength: maxBytes });
    } catch (error) {
      if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') throw tooLarge();
      throw new UndecodableBody('its compressed data is damaged');
    }
  }, body);
}

function tooLarge(): UndecodableBody {
  return new UndecodableBody('it is too large', true);
}
