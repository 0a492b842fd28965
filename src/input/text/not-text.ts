/** Recognises files that are no exports as text: workbooks, archives, pages, pictures. By their content, whatever their name. */
import { UserError } from '../../errors.ts';
import type { InputFile } from '../files.ts';

const HEAD = 16 * 1024;

const SAVE_AS_CSV =
  'export CSV or .xlsx from the CRM if it can. Otherwise open the file and save it as "CSV UTF-8": a CSV has what the sheet ' +
  'shows, so first give ids and phone numbers the format Text (numbers the format `0`) and dates `yyyy-mm-dd`';
const AS_XLSX = 'open it in a spreadsheet and save it as .xlsx: cells keep their values';
const OTHER_EXPORT = 'export the records as CSV, JSON or NDJSON';

/** First bytes, as Latin-1, of formats that are easily taken for an export. */
const BINARY: readonly (readonly [magic: string, what: string, hint: string])[] = [
  ['%PDF', 'a PDF', OTHER_EXPORT],
  ['\x89PNG', 'a picture', OTHER_EXPORT],
  ['\xff\xd8\xff', 'a picture', OTHER_EXPORT],
  ['GIF8', 'a picture', OTHER_EXPORT],
];

/** Throws a `UserError` for an empty file, and for one that is not text or is a page of markup. `head`: how it begins. */
export function refuseOtherFormats(file: InputFile, head: Buffer): void {
  if (head.length === 0) {
    throw new UserError(`${file.label} is empty`, {
      hint: 'export it again; even an export without records has a header',
    });
  }
  const found = otherFormat(head.toString('latin1', 0, HEAD), file.path);
  if (found)
    throw new UserError(`${file.label} is ${found.what}, which cannot be read as an export`, { hint: found.hint });
}

interface OtherFormat {
  readonly what: string;
  readonly hint: string;
}

function otherFormat(head: string, path: string): OtherFormat | undefined {
  if (head.startsWith('PK\x03\x04')) return zipFormat(head, path);
  if (head.startsWith('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1')) return oldFormat(head, path);
  const binary = BINARY.find(([magic]) => head.startsWith(magic));
  if (binary) return { what: binary[1], hint: binary[2] };
  // UTF-16 has a zero beside each of these characters.
  const text = head.replace(/\0/g, '').replace(/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*/, '');
  if (/^<\?xml\b/.test(text)) {
    return /<Workbook\b/.test(text)
      ? { what: 'a workbook in XML', hint: SAVE_AS_CSV }
      : { what: 'XML', hint: OTHER_EXPORT };
  }
  if (/\x1b\$(?:[@B]|\)C)/.test(head))
    return { what: 'text in ISO-2022', hint: 'open it in an editor and save it as UTF-8' };
  if (!/^<(?:!doctype html|html|head|meta|style|body|table|div)\b/i.test(text)) return undefined;
  return /<table\b/i.test(text)
    ? { what: 'a table in HTML', hint: SAVE_AS_CSV }
    : { what: 'an HTML page', hint: 'it may be the page of a login or of an error: download the export again' };
}

/** The first bytes of workbooks with a password, and of Excel 97 to 2003. */
function oldFormat(head: string, path: string): OtherFormat {
  const names = head.replace(/\0/g, '');
  const isEncrypted = names.includes('EncryptedPackage') || (/\.xls[xm]$/i.test(path) && !names.includes('Workbook'));
  return isEncrypted
    ? { what: 'a workbook with a password', hint: 'open it in a spreadsheet, remove the password and save it as .xlsx' }
    : { what: 'a workbook of an old format (.xls)', hint: AS_XLSX };
}

/** Names of workbooks that are not read. */
export const OTHER_WORKBOOK = /\.(?:xls|xlsb|ods|numbers)$/i;

function zipFormat(head: string, path: string): OtherFormat {
  if (/opendocument\.spreadsheet/.test(head) || OTHER_WORKBOOK.test(path)) {
    return { what: 'a workbook of an unsupported format', hint: AS_XLSX };
  }
  if (/\bxl\//.test(head)) return { what: 'a workbook', hint: 'remove `format`, or set `format: xlsx`' };
  return { what: 'a zip archive', hint: 'extract it and use the files in it' };
}
