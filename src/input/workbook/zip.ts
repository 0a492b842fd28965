/** The parts of a workbook: entries of a zip archive, read one by one and never written to a disk. */
import { TextDecoder } from 'node:util';
import { crc32 } from 'node:zlib';
import { openPromise, type Entry, type ZipFile } from 'yauzl';
import { SaxesParser, type SaxesTagPlain } from 'saxes';
import { messageOf, UserError } from '../../errors.ts';
import { readBytes, type InputFile } from '../files.ts';
import { MAX_RECORD } from '../reading.ts';
import { refuseOtherFormats } from '../text/not-text.ts';

/** Of one part, unpacked. A sheet of a million rows with 30 columns has about 1.5 GB. */
const MAX_PART = 4 * 1024 ** 3;
/** Of the parts that are kept in memory as a whole. */
const MAX_KEPT = 512 * 1024 ** 2;
/** How many times larger than packed a part of more than `LEAST_SUSPECT` may be: sheets of real programs reach about 30. */
const MAX_RATIO = 250;
const LEAST_SUSPECT = 64 * 1024 ** 2;

/** Events of an XML text; names are without their prefix. */
interface XmlHandlers {
  /** The name of the outermost element: any other is no such part. */
  readonly root: string;
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  close?(name: string): void;
  text?(text: string): void;
}

/** An open archive. Close it. Whatever a part does not say as the format has it is a mistake of the file, never an empty value. */
export class ZipParts {
  readonly #file: InputFile;
  readonly #zip: ZipFile;
  /** By their names in lower case: those of parts differ in more than letter case (ECMA-376, part 2). */
  readonly #entries: ReadonlyMap<string, Entry>;

  private constructor(file: InputFile, zip: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#file = file;
    this.#zip = zip;
    this.#entries = entries;
  }

  /** Throws a `UserError` if the file is no zip archive. */
  static async open(file: InputFile): Promise<ZipParts> {
    for await (const head of readBytes(file)) {
      if (head.toString('latin1', 0, 4) === 'PK\x03\x04') break;
      refuseOtherFormats(file, head);
      throw new UserError(`${file.label} is not a workbook, despite its name`, {
        hint: 'if it is text, set its format, for example `format: csv`',
      });
    }
    try {
      const zip = await openPromise(file.path, { autoClose: false });
      const entries = new Map<string, Entry>();
      for await (const entry of zip.eachEntry()) {
        const name = entry.fileName.toLowerCase();
        if (entries.has(name)) throw damaged(file, `it has two parts ${entry.fileName}`);
        entries.set(name, entry);
      }
      return new ZipParts(file, zip, entries);
    } catch (error) {
      throw error instanceof UserError ? error : damaged(file, error);
    }
  }

  close(): void {
    this.#zip.close();
  }

  has(name: string): boolean {
    return this.#entries.has(name.toLowerCase());
  }

  /** For what a part says otherwise than the format has it. */
  mistake(why: string): UserError {
    return damaged(this.#file, why);
  }

  /**
   * Reads a part as XML; yields after each chunk, so that its reader can pass on complete rows. Entities other than those
   * of XML itself and document types are refused. Throws a `UserError`.
   */
  async *read(name: string, handlers: XmlHandlers, max = MAX_PART): AsyncGenerator<void, void, undefined> {
    const entry = this.#entries.get(name.toLowerCase());
    if (!entry) throw this.mistake(`${name} is missing`);
    const { compressedSize, uncompressedSize } = entry;
    if (uncompressedSize > max || (uncompressedSize > LEAST_SUSPECT && uncompressedSize > compressedSize * MAX_RATIO)) {
      throw new UserError(
        `${this.#file.label}: ${name} would unpack to ${Math.round(uncompressedSize / 1024 ** 2)} MiB, more than the records of a CRM need`,
        { hint: 'export the records again, in several files' },
      );
    }
    const refuse = (why: string): never => {
      throw this.mistake(`${name} ${why}`);
    };
    const events = { count: 0 };
    const parser = parserFor(handlers, refuse, events);
    let [decoder, sum, sinceEvent, counted]: [TextDecoder | undefined, number, number, number] = [undefined, 0, 0, 0];
    try {
      const stream = await this.#zip.openReadStreamPromise(entry);
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        sum = crc32(chunk, sum);
        sinceEvent = events.count === counted ? sinceEvent + chunk.length : 0;
        counted = events.count;
        if (sinceEvent > MAX_RECORD) refuse('has a value of more than 16 MiB');
        decoder ??= new TextDecoder(encodingOf(chunk), { fatal: true });
        parser.write(decoder.decode(chunk, { stream: true }));
        yield;
      }
      parser.write(decoder?.decode() ?? '').close();
      if (sum !== entry.crc32) refuse('is damaged: its checksum is not that of the archive');
    } catch (error) {
      throw error instanceof UserError ? error : damaged(this.#file, `${name}: ${messageOf(error)}`, error);
    }
  }

  /** Reads a whole part as XML. */
  async readAll(name: string, handlers: XmlHandlers): Promise<void> {
    for await (const _ of this.read(name, handlers, MAX_KEPT));
  }
}

function parserFor(handlers: XmlHandlers, refuse: (why: string) => never, events: { count: number }): SaxesParser {
  const parser = new SaxesParser();
  const local = (full: string): string => full.slice(full.indexOf(':') + 1);
  parser.on('error', (error) => refuse(`is no XML: ${error.message}`));
  parser.on('doctype', () => refuse('has a document type, which no spreadsheet writes'));
  parser.on('xmldecl', ({ encoding = 'utf-8' }) => {
    if (!/^utf-?(?:8|16)/i.test(encoding))
      refuse(`is in the encoding ${encoding}; parts of a workbook are UTF-8 or UTF-16`);
  });
  parser.on('opentag', (tag: SaxesTagPlain) => {
    const name = local(tag.name);
    if (events.count === 0 && name !== handlers.root)
      refuse(`begins with \`${tag.name}\`, not with \`${handlers.root}\``);
    events.count += 1;
    handlers.open(name, tag.attributes);
  });
  parser.on('closetag', (tag) => handlers.close?.(local(tag.name)));
  if (handlers.text) {
    parser.on('text', (text) => handlers.text!(text));
    parser.on('cdata', (text) => handlers.text!(text));
  }
  return parser;
}

function encodingOf(head: Buffer): string {
  const mark = head.toString('latin1', 0, 2);
  return mark === '\xff\xfe' ? 'utf-16le' : mark === '\xfe\xff' ? 'utf-16be' : 'utf-8';
}

function damaged(file: InputFile, why: unknown, cause = why): UserError {
  const text = typeof why === 'string' ? why : messageOf(why);
  return new UserError(`${file.label} cannot be read as a workbook: ${text}`, {
    hint: 'export it again, or open it in a spreadsheet and save it as .xlsx',
    cause,
  });
}
