/** The parts of a workbook: entries of a zip archive, read one by one and never written to a disk. */
import { openPromise, type Entry, type ZipFile } from 'yauzl';
import { SaxesParser, type SaxesTagPlain } from 'saxes';
import { messageOf, UserError } from '../../errors.ts';
import { readBytes } from '../bytes.ts';
import type { InputFile } from '../files.ts';
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
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  close?(name: string): void;
  text?(text: string): void;
}

/** An open archive. Close it. */
export class ZipParts {
  readonly #file: InputFile;
  readonly #zip: ZipFile;
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
      for await (const entry of zip.eachEntry()) entries.set(entry.fileName, entry);
      return new ZipParts(file, zip, entries);
    } catch (error) {
      throw damaged(file, error);
    }
  }

  close(): void {
    this.#zip.close();
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  /**
   * Reads a part as XML; yields after each chunk, so that its reader can pass on complete rows. Entities other than those
   * of XML itself and document types are refused. Throws a `UserError`.
   */
  async *read(name: string, handlers: XmlHandlers, max = MAX_PART): AsyncGenerator<void, void, undefined> {
    const entry = this.#entries.get(name);
    if (!entry) throw damaged(this.#file, `${name} is missing`);
    const { compressedSize, uncompressedSize } = entry;
    if (uncompressedSize > max || (uncompressedSize > LEAST_SUSPECT && uncompressedSize > compressedSize * MAX_RATIO)) {
      throw new UserError(
        `${this.#file.label}: ${name} would unpack to ${Math.round(uncompressedSize / 1024 ** 2)} MiB, more than the records of a CRM need`,
        { hint: 'export the records again, in several files' },
      );
    }
    const parser = new SaxesParser();
    let sinceEvent = 0;
    const local = (full: string): string => full.slice(full.indexOf(':') + 1);
    parser.on('error', (error) => {
      throw damaged(this.#file, `${name}: ${error.message}`);
    });
    parser.on('doctype', () => {
      throw damaged(this.#file, `${name} has a document type, which no spreadsheet writes`);
    });
    parser.on('opentag', (tag: SaxesTagPlain) => {
      sinceEvent = 0;
      handlers.open(local(tag.name), tag.attributes);
    });
    parser.on('closetag', (tag) => handlers.close?.(local(tag.name)));
    if (handlers.text) parser.on('text', (text) => handlers.text!(text));
    const decoder = new TextDecoder();
    try {
      const stream = await this.#zip.openReadStreamPromise(entry);
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        sinceEvent += chunk.length;
        if (sinceEvent > MAX_RECORD) throw damaged(this.#file, `${name} has a value of more than 16 MiB`);
        parser.write(decoder.decode(chunk, { stream: true }));
        yield;
      }
      parser.close();
    } catch (error) {
      throw error instanceof UserError ? error : damaged(this.#file, error);
    }
  }

  /** Reads a whole part as XML. */
  async readAll(name: string, handlers: XmlHandlers): Promise<void> {
    for await (const _ of this.read(name, handlers, MAX_KEPT));
  }
}

function damaged(file: InputFile, error: unknown): UserError {
  const why = typeof error === 'string' ? error : messageOf(error);
  return new UserError(`${file.label} cannot be read as a workbook: ${why}`, {
    hint: 'export it again, or open it in a spreadsheet and save it as .xlsx',
    cause: error,
  });
}
