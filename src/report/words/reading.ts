/** Words for records that cannot be read, and for lines that are not records. */
import { counted, numberText } from './numbers.ts';
import type { Codes } from './sentence.ts';

export const READ = 'Correct the record in the export or in the rejects file.';

export const READ_ERRORS = {
  too_many_cells: {
    what: 'A row has more cells than the header.',
    says: (cells: number, width: number, surplus: string) =>
      `the row has ${cells} cells, but the header has ${width}; unexpected: "${surplus}"`,
    fix: 'Quote the cell that contains the delimiter; in a sheet, name the column or clear the cell.',
  },
  other_header: {
    what: 'A header with other columns is between the records: the rows below it are not read.',
    says: (line: number) =>
      `line ${numberText(line)} is a header with other columns than the first one, so it and the rows below are not read`,
    fix: 'Put the rows below that header into a file of their own.',
  },
  nul_byte: {
    what: 'A cell contains a NUL character.',
    says: (cell: string) => `a cell contains a NUL character: "${cell}"`,
    fix: 'Check the encoding of the file, and whether it is damaged.',
  },
  no_json: {
    what: 'A line is not valid JSON.',
    says: (column: number, why: string) => `invalid JSON at column ${column}: ${why}`,
    fix: READ,
  },
  not_an_object: {
    what: 'A record is not a JSON object.',
    says: (what: string, text: string) => `a record must be an object, but this is ${what}: ${text}`,
    fix: READ,
  },
  too_deep: {
    what: 'A record is nested too deeply.',
    says: (depth: number, most: number) => `the record is nested ${depth} levels deep; at most ${most} are supported`,
    fix: READ,
  },
  repeated_key: {
    what: 'A record has the same key twice with different values.',
    says: (keys: string) => `the record has ${keys} more than once, with different values`,
    fix: READ,
  },
} as const satisfies Codes;

export const READ_WARNINGS = {
  short_row: {
    what: 'A row has fewer cells than the header: the missing cells are read as empty.',
    says: (cells: number, needed: number) =>
      `the row has ${cells} of ${needed} cells: the missing ones are read as empty`,
    fix: 'Restore the row in the export if its end was cut off. If its last columns are empty, nothing is lost.',
  },
  report_footer: {
    what: 'A line after the records was skipped as the footer of a report.',
    says: (text: string) => `this line below the records is treated as the footer of a report: "${text}"`,
    fix: 'If it is a record, add its other cells.',
  },
  total_row: {
    what: 'A row of totals below the records was skipped.',
    says: (text: string) => `this line below the records is treated as a row of totals: "${text}"`,
    fix: 'If it is a record, add its other cells.',
  },
  ruled_line: {
    what: 'A line of dashes was skipped.',
  },
  end_of_file_mark: {
    what: 'A Ctrl-Z at the end of a file was skipped.',
  },
  repeated_header: {
    what: 'A line repeats the header.',
    fix: 'Several exports seem to have been joined: check that none is included twice.',
  },
  'repeated_header/second': {
    says: () =>
      'the first line below the header is a second header: names alone, where all others have numbers, dates or addresses',
    fix: 'if it is a record, move it further down',
  },
  'repeated_header/reordered': {
    says: () => 'the line is the header in another order of columns; the rows below are read by it',
    fix: 'check that no export is included twice',
  },
  unused_fix: {
    what: 'The record that a correction replaces is no longer in the input.',
    says: (place: string) => `the record that ${place} corrects is no longer in the input`,
    fix: 'If the record in the newer export still needs the correction, correct it there.',
  },
  rows_skipped: {
    what: 'More than a tenth of the rows of a source do not become events.',
    /** `why`: of most of them. */
    says: (source: string, skipped: number, of: number, why: string): string =>
      `${source}: ${numberText(skipped)} of ${counted(of, 'row')} skipped, because ${why}`,
    fix: 'If they should be sent, change `when` or `each`, or add the export of their parents. `left_out.csv` lists each row.',
  },
  source_shrunk: {
    what: 'A source has less than half of the records of the last run.',
    says: (source: string, records: number, before: number) =>
      `${source} has ${counted(records, 'record')}; the last run read ${before}`,
    fix: 'Check that the export is complete. A run asks for confirmation, unless you give --yes.',
  },
} as const satisfies Codes;
