/** Words for problems of the input as a whole: its files, its columns, and fields that many records lack. */
import { counted, enumerated, numberText } from './numbers.ts';
import { inSentence, type Codes } from './sentence.ts';
import { SPREADSHEET } from './values.ts';

const DOUBLES = 'If they are one person, merge them in the old CRM and export again.';
const AMOUNT = 'Map `amount`, if the export has one: see the columns that are not used.';

/** How many events lack a field. */
export interface Lacking {
  readonly count: number;
  /** All events of that type. */
  readonly of: number;
  /** The field, or several of which one is enough. */
  readonly fields: readonly string[];
  /** Whether the mapping sets none of the fields. */
  readonly unset: boolean;
  readonly example: string;
}

/** `none`: where no event has the fields; `some`: where some have not. */
const lacking =
  (none: string, some: string) =>
  ({ count, of, fields, unset, example }: Lacking): string => {
    if (count < of) return `${some}: ${numberText(count)} of ${numberText(of)}, such as \`${example}\``;
    const names = fields.map((field) => `\`${field}\``).join(' or ');
    return `${none}: ${unset ? `the mapping sets no ${names}` : `no record has a value for ${names}`}`;
  };

/** `field`: of the event. */
const shared = (noun: string, field: string) => ({
  what: `Several leads have the same ${noun}.`,
  says: (count: number, example: string): string =>
    `leads with the same ${field} as another lead: ${numberText(count)}, such as \`${example}\``,
  fix: DOUBLES,
});

/** By the marks that comments of a mapping begin with: what is said of the lines that still have one. */
export const MARKS = { 'set this': 'marked_line', check: 'unchecked_line' } as const;

/** Comments that `init` and the presets write: a value that somebody has to set, or a guess to check. */
export type Mark = keyof typeof MARKS;

/** More places are counted. */
const MOST_LINES = 3;

const marked = (mark: Mark, fix: string) => ({
  what: `Lines of the mapping are still marked "${mark}".`,
  says: (file: string, lines: readonly number[]): string => {
    const [first, ...more] = lines;
    if (more.length === 0) return `${file}:${first} is still marked "${mark}"`;
    const places = [`${file}:${first}`, ...more.slice(0, MOST_LINES - 1).map((line) => `:${line}`)].join(', ');
    const rest = lines.length > MOST_LINES ? ` and ${numberText(lines.length - MOST_LINES)} more` : '';
    return `${counted(lines.length, 'line')} are still marked "${mark}": ${places}${rest}`;
  },
  fix,
});

export interface DamagedCells {
  /** The column or path, and the fields that read it. */
  readonly column: string;
  readonly count: number;
  /** Cells of the column that have a value. */
  readonly of: number;
  readonly example: string;
  readonly place: string;
}

const damage = (what: string, fix = SPREADSHEET) => ({
  what,
  says: ({ column, count, of, example, place }: DamagedCells): string =>
    `${column}: ${numberText(count)} of ${counted(of, 'cell')}, such as \`${example}\` (${place}); ${inSentence(what)}`,
  fix,
});

const PLAIN = 'Export the comments as plain text or HTML, or convert them with a function (`call`).';

/** Of one form: the further sentence of a code. */
const form = (what: string, fix: string) => ({ says: damage(what).says, fix });

/** Cells damaged since they were exported, typically by a spreadsheet. */
export const DAMAGE_WARNINGS = {
  scientific: damage('A spreadsheet has cut long numbers short (3.93E+11).'),
  spreadsheet_error: damage('A spreadsheet has replaced a value with an error (#REF!).'),
  serial_date: damage(
    'A spreadsheet has converted a date to a serial number.',
    'Read it with the date format `excel`, or export again, and do not open the file in a spreadsheet.',
  ),
  rounded_id: damage('All long ids of a column end in zeros: a spreadsheet has rounded them.'),
  day_month_exchanged: damage('A spreadsheet has probably swapped day and month in dates that are valid both ways.'),
  replacement_character: damage('Characters were lost in a conversion to another encoding.', 'Export again as UTF-8.'),
  wrong_encoding: damage(
    'A text was decoded wrongly before it was exported (`JosÃ©`, `????`).',
    'Export again as UTF-8. If the old CRM shows the same text, correct it there.',
  ),
  html_entities: damage(
    'A text has HTML entities (`R&amp;D`), which people would see in the service.',
    'Set `apply: [html_to_text]` on the field.',
  ),
  'html_entities/tags': form('the text has HTML tags', 'set `apply: [html_to_text]` on the field'),
  encoded_twice: damage(
    'The export encodes HTML entities twice (`R&amp;amp;D`), so a text still has entities after decoding.',
    'Decode twice: `apply: [html_to_text, html_to_text]`.',
  ),
  formula_cell: damage(
    'A cell has a formula in place of its result (`=HYPERLINK(…)`).',
    'In the spreadsheet, copy the column and paste its values; then export again.',
  ),
  looks_empty: damage(
    'A text looks as if it meant no value (`None`, `false`, `NaT`).',
    'If it means no value, set `missing_values: ["", "None"]` on the source.',
  ),
  text_form: damage('Comments are in a form that people cannot read, and a comment cannot be corrected.', PLAIN),
  'text_form/rtf': form('the comment is RTF', PLAIN),
  'text_form/json': form('the comment is JSON, as an editor keeps it', PLAIN),
  'text_form/bbcode': form('the comment has BBCode (`[b]…[/b]`)', PLAIN),
  'text_form/quoted_printable': form('the comment is quoted-printable (`=C3=A9`)', PLAIN),
  'text_form/line_breaks': form(
    'the comment has `\\n` in place of a line break',
    'replace it: `{ replace: { pattern: \'\\\\n\', with: "\\n" } }`',
  ),
  'text_form/html': form('the comment has HTML', 'set `apply: [html_to_text]` on the field'),
  'text_form/cut': form(
    'no text of the column is longer, so these are probably cut',
    'check whether the export has the whole texts',
  ),
} as const satisfies Codes;

/** Fields that an event lacks, probably by mistake. */
export const BARE_WARNINGS = {
  lead_without_contact: {
    what: 'A lead has no name, e-mail address or phone number.',
    says: lacking(
      'no lead has a name, e-mail address or phone number',
      'leads without a name, e-mail address or phone number',
    ),
    fix: 'Map these fields, or skip such records with `when`.',
  },
  lead_without_name: {
    what: 'A lead has no name.',
    says: lacking('no lead has a name', 'leads without a name'),
    fix: 'Map a column to `full_name`, or join first and last name with `list`.',
  },
  deal_without_title: {
    what: 'A deal has no title.',
    says: lacking('no deal has a title', 'deals without a title'),
    fix: 'Map a column to `title`, or make one with `template`.',
  },
  deal_without_amount: {
    what: 'A deal has no amount.',
    says: lacking('no deal has an amount', 'deals without an amount'),
    fix: AMOUNT,
  },
  currency_without_amount: {
    what: 'A deal has a currency, but no amount.',
    says: lacking('no deal has an amount beside its currency', 'deals with a currency, but without an amount'),
    fix: AMOUNT,
  },
  amount_without_currency: {
    what: 'A deal has an amount, but no currency.',
    says: lacking('no deal has a currency beside its amount', 'deals with an amount, but without a currency'),
    fix: 'Map a column to `currency`, or set it with `{ value: EUR }`.',
  },
  deal_without_lead: {
    what: 'A deal is not tied to a lead.',
    says: lacking('no deal is tied to a lead', 'deals that are not tied to a lead'),
    fix: 'Map `lead_external_id` if the export has the ids of the contacts.',
  },
  deal_without_stage: {
    what: "A deal has no stage: it is created in the first stage of the account's default pipeline.",
    says: lacking(
      "no deal has a stage, so all are created in the first stage of the account's default pipeline",
      "deals without a stage, which are created in the first stage of the account's default pipeline",
    ),
    fix: 'Map `stage_name`.',
  },
} as const satisfies Codes;

/** Values further down that are not as the first ones of their column. */
const unlike = (others: number): string =>
  others === 0 ? '' : `; ${counted(others, 'value')} further down ${others === 1 ? 'has' : 'have'} none`;

export const INPUT_WARNINGS = {
  shared_email: shared('e-mail address', 'email'),
  shared_phone_number: shared('phone number', 'phone_number'),
  dates_read_either_way: {
    what: 'All dates of a column are valid both as day/month and as month/day.',
    says: (column: string, count: number, example: string) =>
      `${column}: all ${numberText(count)} dates are valid both as day/month and as month/day, such as \`${example}\`: check the format`,
    fix: 'Compare the format in the mapping with dates that you know.',
  },
  dates_read_mixed: {
    what: 'Some dates of a column are valid only as day/month and others only as month/day.',
    says: (column: string, _count: number, example: string) =>
      `${column}: some dates are day/month and some are month/day, such as \`${example}\``,
    fix: 'Export again with one format of dates.',
  },
  numbers_read_either_way: {
    what: 'All separators of a column of numbers stand before exactly three digits: they may group thousands, or decimals may follow.',
    says: (column: string, count: number, example: string, grouped: string, decimal: string) =>
      `${column}: all ${counted(count, 'separator')} stand before three digits, such as \`${example}\`: the total is ${grouped} if they group thousands, and ${decimal} if decimals follow`,
    fix: 'Compare the total with that of the old CRM, and set `number: { decimal, group }` to the separators of the export.',
  },
  comment_without_id: {
    what: 'A comment without an id gets one made from its parent, time and text: if its text changes later, it is sent as a second comment.',
  },
  marked_line: marked('set this', 'Set each line, and remove the comment.'),
  unchecked_line: marked('check', 'Correct each line that is wrong, and remove the comment.'),
  no_account: {
    what: 'No account is known, so names of stages and owners were not checked.',
    says: () => 'no account is known, so names of stages and owners were not checked',
    fix: 'Repeat the dry run without `--offline`: it stores the account.',
  },
  never_a_value: {
    what: 'No record has a value in a column or path that the mapping reads.',
    says: (columns: readonly string[]) => `no record has a value in ${columns.join(', ')}`,
    fix: 'Check the name of the column or path, or remove it from the mapping.',
  },
  missing_path: {
    what: 'A JSON file has no value at a path that other files of its source have: the key may have another name there.',
    says: (path: string, files: readonly string[]) => {
      const [first = '', ...more] = files;
      return `no record of ${first}${more.length > 0 ? ` and ${counted(more.length, 'more file')}` : ''} has ${path}, unlike other files of this source`;
    },
    fix: 'If the key is renamed there, name both: `from: [email, emailAddress]`.',
  },
  'missing_path/renamed': {
    says: (path: string, to: string, values: number, from: number) =>
      `${path} has no value from record ${numberText(from)} on, where \`${to}\` begins: ${counted(values, 'value')} that nothing reads`,
    fix: 'name both in a list: `from: [email, emailAddress]`',
  },
  not_carried: {
    what: 'A column only filters or routes records; its values are not migrated.',
    says: (columns: readonly string[]) => {
      const [only, their] =
        columns.length === 1 ? ['a column only filters or routes', 'its'] : ['columns only filter or route', 'their'];
      return `${only} records, so ${their} values are not migrated: ${columns.join(', ')}`;
    },
    fix: 'Name the column among the custom fields, or let `"*": rest` take it.',
  },
  unread_array: {
    what: 'A file that is read has other arrays or sheets, which no source reads.',
    says: (arrays: readonly string[]) => `no source reads ${enumerated(arrays, 'and')}`,
    fix: 'If it belongs to the migration, add a source with `records` (an array) or `sheet` (a sheet).',
  },
  merged_stages: {
    what: 'Several old stages become one, and nothing keeps the old names.',
    says: (old: number, stages: number, examples: string) =>
      `${old} old stages become ${stages === 1 ? 'one stage' : `${stages} stages`} of the account, and nothing keeps the old names: ${examples}`,
    fix: 'To tell their deals apart, add the column of the old stage to `custom_fields`.',
  },
  stray_stages: {
    what: 'Stages that are found by name alone are in another pipeline than most deals of their source.',
    says: (stages: string, rest: string) => `by name alone, ${stages}, while ${rest}`,
    fix: 'Set `stage_pipeline`, or fill in `new_name` of these stages in the worksheet.',
  },
  unmatched_answer: {
    what: 'The worksheet has names that no record has: a spreadsheet may have changed them.',
    says: (file: string, rows: string) => `no record has the names in these rows of ${file}: ${rows}`,
    fix: 'Write `old_name` as it is in the exports; format the column as text before you fill it in.',
  },
  unknown_column: {
    what: 'A column in a `from` list does not exist; another one of the list is used.',
    fix: 'Correct its name, or remove it from the list.',
  },
  ids_as_decimals: {
    what: 'The ids or phone numbers of a column end in `.0` (typical of pandas); the `.0` is removed.',
    says: (column: string, count: number, example: string, others: number) =>
      `\`${column}\`: ${others === 0 ? 'all ' : ''}${counted(count, 'value')} end in \`.0\`, such as \`${example}\`; the \`.0\` is removed${unlike(others)}`,
    fix: 'Check that the ids are whole numbers in the old CRM.',
  },
  guard_apostrophe: {
    what: 'The apostrophe with which a spreadsheet marks a value as text was removed.',
    says: (count: number, example: string, others: number) =>
      `${counted(count, 'value')} with an apostrophe in front, such as \`${example}\`: the apostrophe was removed${unlike(others)}`,
  },
  unwrapped_cells: {
    what: 'Cells are written as formulas (`="00123"`); they are read as the text in them.',
    says: (count: number, example: string) =>
      `${count === 1 ? 'a cell is' : `${count} cells are`} written as a formula, such as \`="${example}"\`, and read as the text in it`,
  },
  fixed_again: {
    what: 'Two files of corrections have the same record; the later one applies.',
    says: (records: number, earlier: string) =>
      `${counted(records, 'record')} also corrected in ${earlier}: this later file applies`,
  },
  not_an_export: {
    what: 'A glob matches files that are no exports, or nearly matches a file; these are not read.',
    says: (files: readonly string[]) => `${enumerated(files, 'and')} ${files.length === 1 ? 'is' : 'are'} not read`,
    fix: 'If one is an export, rename it, or name it in a source of its own.',
  },
  more_pages: {
    what: 'An API response says that more pages follow.',
    fix: 'Fetch all pages.',
  },
  no_records: {
    what: 'A source has no records.',
    fix: 'Check that it is the right export.',
  },
  sheet_contents: {
    what: 'A sheet is read as the file has it, which is not all that a spreadsheet shows: hidden rows, merged cells, formulas without a result, long numbers.',
    says: (found: readonly string[]) => found.join('; '),
    fix: 'Open it in a spreadsheet: show all rows, unmerge cells, format ids as text, and save it.',
  },
  empty_rows: {
    what: 'Rows without any value were skipped.',
    says: (rows: number) => `${counted(rows, 'empty row')} skipped`,
  },
  doubtful_encoding: {
    what: 'The encoding of a file is a guess.',
    says: (doubt: string) => doubt,
    fix: 'Set `encoding` on the source.',
  },
  duplicate_column: {
    what: 'A header has the same name twice.',
    says: (name: string, times: number) => `the header has \`${name}\` ${times} times`,
    fix: 'Name such a column by its position: `Email#2`.',
  },
  blank_column: {
    what: 'A column has no name.',
    says: (columns: number) => `${columns === 1 ? 'a column has' : `${columns} columns have`} no name`,
  },
  unnamed_values: {
    what: 'The last columns of a table have values, but no name, so no field can read them.',
    says: (values: number, example: string) =>
      `${counted(values, 'value')} in a last column without a name, such as \`${example}\``,
    fix: 'Name the column in the header, or name all columns in `columns`.',
  },
  missing_column: {
    what: 'A file lacks columns that other files of its source have.',
    says: (columns: string) => `the header has no ${columns}, unlike other files of this source`,
    fix: 'Check that all files are exports of the same kind.',
  },
} as const satisfies Codes;
