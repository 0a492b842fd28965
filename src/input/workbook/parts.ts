/** What a workbook says of itself: its sheets, its epoch, how its cells show numbers, and the texts that its cells share. */
import { posix } from 'node:path';
import { UserError } from '../../errors.ts';
import type { InputFile } from '../files.ts';
import { cellFormat, unescaped, type CellFormat } from './cells.ts';
import type { ZipParts } from './zip.ts';

export interface SheetPart {
  readonly name: string;
  /** Of its entry in the archive. */
  readonly part: string;
  readonly isHidden: boolean;
}

export interface Workbook {
  readonly sheets: readonly SheetPart[];
  readonly is1904: boolean;
  /** By the style of a cell. */
  readonly formats: readonly CellFormat[];
  readonly stringsPart: string | undefined;
}

const AS_XLSX = 'open it in a spreadsheet and save it as .xlsx; cells keep their values';

/** Throws a `UserError` if the archive is no workbook that is read. */
export async function readWorkbook(file: InputFile, parts: ZipParts): Promise<Workbook> {
  if (parts.has('content.xml') && parts.has('mimetype')) {
    throw new UserError(`${file.label} is a workbook of LibreOffice (.ods), which is not supported`, { hint: AS_XLSX });
  }
  const root = parts.has('_rels/.rels') ? await relations(parts, '') : [];
  const main = root.find(({ type }) => type === 'officeDocument')?.target;
  if (main?.endsWith('.bin')) {
    throw new UserError(`${file.label} is a binary workbook (.xlsb), which is not supported`, { hint: AS_XLSX });
  }
  if (main === undefined || !parts.has(main) || !/(?:^|\/)xl\//.test(main)) {
    throw new UserError(`${file.label} is a zip archive, but not a workbook`, {
      hint: 'extract it and use the files in it',
    });
  }
  const related = await relations(parts, main);
  const target = (type: string): string | undefined => related.find((each) => each.type === type)?.target;
  const sheets: SheetPart[] = [];
  let is1904 = false;
  await parts.readAll(main, {
    root: 'workbook',
    open(name, attributes) {
      if (name === 'workbookPr') is1904 = isTrue(attributes.date1904);
      if (name !== 'sheet') return;
      const id = Object.entries(attributes).find(([key]) => key.endsWith(':id'))?.[1];
      const relation = related.find((each) => each.id === id);
      const { name: called = '', state = 'visible' } = attributes;
      if (!relation) throw parts.mistake(`its sheet \`${called}\` has no part`);
      // Sheets that are a diagram, or macros, have no cells.
      if (relation.type !== 'worksheet') return;
      if (sheets.some((other) => other.name.toLowerCase() === called.toLowerCase()))
        throw parts.mistake(`it has two sheets \`${called}\``);
      sheets.push({ name: called, part: relation.target, isHidden: state !== 'visible' });
    },
  });
  const styles = target('styles');
  return {
    sheets,
    is1904,
    formats: styles === undefined || !parts.has(styles) ? [] : await formatsOf(parts, styles),
    stringsPart: target('sharedStrings'),
  };
}

export function isTrue(value: string | undefined): boolean {
  return value === '1' || value === 'true';
}

interface Relation {
  readonly id: string;
  /** The last word of its type. */
  readonly type: string;
  readonly target: string;
}

/** The relations of a part; of the archive itself, if it is empty. Those that lead out of the archive are left out. */
async function relations(parts: ZipParts, part: string): Promise<Relation[]> {
  const folder = posix.dirname(part);
  const name = posix.join(folder, '_rels', `${posix.basename(part)}.rels`);
  const found: Relation[] = [];
  if (!parts.has(name)) return found;
  await parts.readAll(name, {
    root: 'Relationships',
    open(tag, { Id: id = '', Type: type = '', Target: target = '', TargetMode: mode }) {
      if (tag !== 'Relationship' || mode === 'External') return;
      const plain = decodeURIComponent(target).replaceAll('\\', '/');
      const path = plain.startsWith('/') ? plain.slice(1) : posix.join(folder, plain);
      found.push({ id, type: type.slice(type.lastIndexOf('/') + 1), target: path });
    },
  });
  return found;
}

async function formatsOf(parts: ZipParts, part: string): Promise<CellFormat[]> {
  const codes = new Map<number, string>();
  const formats: CellFormat[] = [];
  let isCell = false;
  await parts.readAll(part, {
    root: 'styleSheet',
    open(name, attributes) {
      if (name === 'numFmt') codes.set(Number(attributes.numFmtId), attributes.formatCode ?? '');
      if (name === 'cellXfs') isCell = true;
      if (name !== 'xf' || !isCell) return;
      const id = Number(attributes.numFmtId ?? 0);
      formats.push(cellFormat(id, codes.get(id)));
    },
    close(name) {
      if (name === 'cellXfs') isCell = false;
    },
  });
  return formats;
}

/** The shared texts, in their order; of rich text, its letters without readings of them. */
export async function readStrings(parts: ZipParts, { stringsPart }: Workbook): Promise<readonly string[]> {
  const strings: string[] = [];
  if (stringsPart === undefined || !parts.has(stringsPart)) return strings;
  const texts = new TextReader();
  await parts.readAll(stringsPart, {
    root: 'sst',
    open: (name) => texts.open(name),
    text: (text) => texts.text(text),
    close(name) {
      texts.close(name);
      if (name === 'si') strings.push(texts.take());
    },
  });
  return strings;
}

/** Collects the text in `<t>` of a shared or inline text. */
export class TextReader {
  #text = '';
  #isText = false;
  #isReading = false;

  open(name: string): void {
    if (name === 'rPh') this.#isReading = true;
    this.#isText = name === 't' && !this.#isReading;
  }

  text(text: string): void {
    if (this.#isText) this.#text += text;
  }

  close(name: string): void {
    if (name === 'rPh') this.#isReading = false;
    this.#isText = false;
  }

  take(): string {
    const text = unescaped(this.#text);
    this.#text = '';
    return text;
  }
}
