/** Recognises files that are no exports as text: workbooks, archives, pages, pictures. By their content, whatever their name. */
import { UserError } from '../../errors.ts';
import type { InputFile } from '../files.ts';

const HEAD = 16 * 1024;

const SAVE_AS_CSV =
  'export CSV or .xlsx from the CRM if it can. Otherwise open the file and save it as "CSV UTF-8": a CSV has what the sheet ' +
  'shows, so first give ids and phone numbers the format Text (numbers the format `0`) and dates `yyyy-mm-dd`';
const AS_XLSX = 'open it in a spreadsheet and save it as .xlsx: cells keep their values';
const OTHER_EXPORT = 'export the records as CSV, JSON or NDJSON';

/** Names of workbooks that are not read. */
export const OTHER_WORKBOOK = /\.(?:xls|xlsb|ods|numbers)$/i;

/**
 * Files that are easily taken for an export, by how they begin (as Latin-1) and by their path, which is appended; of markup, without what
 * precedes it. The first one that matches.
 */
const OTHERS: readonly (readonly [file: RegExp, what: string, hint: string])[] = [
  [
    /^PK\x03\x04[^]*(?:opendocument\.spreadsheet|\.(?:xls|xlsb|ods|numbers)$)/i,
    'a workbook of an unsupported format',
    AS_XLSX,
  ],
  [/^PK\x03\x04[^]*xl\//, 'a workbook', 'remove `format`, or set `format: xlsx`'],
  [/^PK\x03\x04/, 'a zip archive', 'extract it and use the files in it'],
  [
    /^\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1(?:[^]*EncryptedPackage|(?![^]*Workbook)[^]*\.xls[xm]$)/,
    'a workbook with a password',
    'open it in a spreadsheet, remove the password and save it as .xlsx',
  ],
  [/^\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1/, 'a workbook of an old format (.xls)', AS_XLSX],
  [/^%PDF/, 'a PDF', OTHER_EXPORT],
  [/^(?:\x89PNG|\xff\xd8\xff|GIF8)/, 'a picture', OTHER_EXPORT],
  [/^<\?xml\b[^]*<Workbook\b/, 'a workbook in XML', SAVE_AS_CSV],
  [/^<\?xml\b/, 'XML', OTHER_EXPORT],
  [/\x1b\$(?:[@B]|\)C)/, 'text in ISO-2022', 'open it in an editor and save it as UTF-8'],
  [/^<(?:table|(?:!doctype html|html|head|meta|style|body|div)\b[^]*<table)\b/i, 'a table in HTML', SAVE_AS_CSV],
  [
    /^<(?:!doctype html|html|head|meta|style|body|div)\b/i,
    'an HTML page',
    'it may be the page of a login or of an error: download the export again',
  ],
];

/** Throws a `UserError` for an empty file, and for one that is not text or is a page of markup. `head`: how it begins. */
export function refuseOtherFormats({ label, path }: InputFile, head: Buffer): void {
  if (head.length === 0) {
    throw new UserError(`${label} is empty`, { hint: 'export it again; even an export without records has a header' });
  }
  // UTF-16 has a zero beside each character.
  const start = head.toString('latin1', 0, HEAD).replace(/\0/g, '');
  const text = `${start.replace(/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*/, '')}\n${path}`;
  const found = OTHERS.find(([file]) => file.test(text));
  if (found) throw new UserError(`${label} is ${found[1]}, which cannot be read as an export`, { hint: found[2] });
}
