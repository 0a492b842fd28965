/** Recognises files that are no exports as text: workbooks, archives, pages, pictures. By their content, whatever their name. */
import { open, type FileHandle } from 'node:fs/promises';
import { inflateRawSync } from 'node:zlib';
import { UserError } from '../errors.ts';
import { numberText } from '../numbers.ts';
import { unreadable, type InputFile } from './files.ts';

const HEAD = 16 * 1024;

const SAVE_AS_CSV =
  'export CSV from the CRM if it can. Otherwise open the file and save each sheet as "CSV UTF-8": a CSV has what the sheet ' +
  'shows, so first give ids and phone numbers the format Text (numbers the format `0`) and dates `yyyy-mm-dd`';
const OTHER_EXPORT = 'export the records as CSV, JSON or NDJSON';

/** First bytes, as Latin-1, of formats that are easily taken for an export. */
const BINARY: readonly (readonly [magic: string, what: string, hint: string])[] = [
  ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'a workbook of an old format, or one with a password', SAVE_AS_CSV],
  ['%PDF', 'a PDF', OTHER_EXPORT],
  ['\x89PNG', 'a picture', OTHER_EXPORT],
  ['\xff\xd8\xff', 'a picture', OTHER_EXPORT],
  ['GIF8', 'a picture', OTHER_EXPORT],
];

/** Throws a `UserError` for an empty file, and for one that is not text or is a page of markup. */
export async function refuseOtherFormats(file: InputFile): Promise<void> {
  if (file.bytes === 0) {
    throw new UserError(`${file.shown} is empty`, {
      hint: 'export it again; even an export without records has a header',
    });
  }
  const handle = await open(file.path).catch((error: unknown) => {
    throw unreadable(file.shown, error);
  });
  try {
    const found = await otherFormat(handle, file);
    if (found) throw new UserError(`${file.shown} is ${found.what}, not a text file`, { hint: found.hint });
  } finally {
    await handle.close();
  }
}

interface OtherFormat {
  readonly what: string;
  readonly hint: string;
}

async function otherFormat(handle: FileHandle, file: InputFile): Promise<OtherFormat | undefined> {
  const head = (await bytesAt(handle, 0, HEAD)).toString('latin1');
  if (head.startsWith('PK\x03\x04')) return await zipFormat(handle, file);
  const binary = BINARY.find(([magic]) => head.startsWith(magic));
  if (binary) return { what: binary[1], hint: binary[2] };
  // UTF-16 has a zero beside each of these characters.
  const text = head.replace(/\0/g, '').replace(/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*/, '');
  if (/^<\?xml\b/.test(text)) {
    return /<Workbook\b/.test(text)
      ? { what: 'a workbook in XML', hint: SAVE_AS_CSV }
      : { what: 'XML', hint: OTHER_EXPORT };
  }
  if (!/^<(?:!doctype html|html|head|meta|style|body|table|div)\b/i.test(text)) return undefined;
  return /<table\b/i.test(text)
    ? { what: 'a table in HTML', hint: SAVE_AS_CSV }
    : { what: 'an HTML page', hint: 'it may be the page of a login or of an error: download the export again' };
}

/** The part of a workbook that lists its sheets, and the names in it. */
const SHEET_LISTS = [
  { part: 'xl/workbook.xml', name: /<(?:\w+:)?sheet\b[^>]*?\sname=(["'])(.*?)\1/g },
  { part: 'xl/workbook.bin', name: undefined },
  { part: 'content.xml', name: /<table:table\b[^>]*?\stable:name=(["'])(.*?)\1/g },
] as const;
const MOST_SHEETS = 10;
/** Of a part when inflated. */
const MOST_BYTES = 64 * 1024 * 1024;

async function zipFormat(handle: FileHandle, { path, bytes }: InputFile): Promise<OtherFormat> {
  const entries = await zipEntries(handle, bytes).catch(() => new Map<string, ZipEntry>());
  const list = SHEET_LISTS.find(({ part }) => entries.has(part));
  if (!list && !/\.(?:xls[xmb]|ods|numbers)$/i.test(path)) {
    return { what: 'a zip archive', hint: 'extract it and use the files in it' };
  }
  const xml = list ? await inflated(handle, entries.get(list.part)!).catch(() => '') : '';
  const names = list?.name ? [...xml.matchAll(list.name)].map(([, , name = '']) => `\`${unescaped(name)}\``) : [];
  if (names.length === 0) return { what: 'a workbook', hint: SAVE_AS_CSV };
  const more = names.length > MOST_SHEETS ? `, and ${numberText(names.length - MOST_SHEETS)} more` : '';
  const sheets = `${names.slice(0, MOST_SHEETS).join(', ')}${more}`;
  return { what: `a workbook (${names.length === 1 ? 'sheet' : 'sheets'} ${sheets})`, hint: SAVE_AS_CSV };
}

interface ZipEntry {
  /** Of its local header. */
  readonly at: number;
  readonly compressed: number;
  readonly isDeflated: boolean;
}

/** The central directory of a zip archive (PKWARE APPNOTE, 4.3.12 and 4.3.16). Empty where it is damaged or zip64. */
async function zipEntries(handle: FileHandle, size: number): Promise<Map<string, ZipEntry>> {
  const tail = await bytesAt(handle, Math.max(0, size - 0xffff - 22), 0xffff + 22);
  const end = tail.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  const entries = new Map<string, ZipEntry>();
  if (end < 0) return entries;
  const directory = await bytesAt(handle, tail.readUInt32LE(end + 16), tail.readUInt32LE(end + 12));
  for (let at = 0; at + 46 <= directory.length;) {
    const [name, extra, comment] = [28, 30, 32].map((offset) => directory.readUInt16LE(at + offset)) as [
      number,
      number,
      number,
    ];
    entries.set(directory.toString('utf8', at + 46, at + 46 + name), {
      at: directory.readUInt32LE(at + 42),
      compressed: directory.readUInt32LE(at + 20),
      isDeflated: directory.readUInt16LE(at + 10) === 8,
    });
    at += 46 + name + extra + comment;
  }
  return entries;
}

async function inflated(handle: FileHandle, { at, compressed, isDeflated }: ZipEntry): Promise<string> {
  const header = await bytesAt(handle, at, 30);
  const start = at + 30 + header.readUInt16LE(26) + header.readUInt16LE(28);
  const bytes = await bytesAt(handle, start, Math.min(compressed, MOST_BYTES));
  return (isDeflated ? inflateRawSync(bytes, { maxOutputLength: MOST_BYTES }) : bytes).toString('utf8');
}

/** Fewer at the end of the file. */
async function bytesAt(handle: FileHandle, position: number, most: number): Promise<Buffer> {
  const { size } = await handle.stat();
  const length = Math.max(0, Math.min(most, size - position));
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescaped(xml: string): string {
  return xml.replace(/&(?:#x([\da-f]+)|#(\d+)|(\w+));/gi, (whole, hex?: string, decimal?: string, name = '') =>
    hex || decimal
      ? String.fromCodePoint(hex ? parseInt(hex, 16) : Number(decimal))
      : (ENTITIES[String(name)] ?? whole),
  );
}
