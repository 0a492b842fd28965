/** Finds the columns that refer to records of another export, by the overlap of values. */
import type { Guess } from './guess.ts';
import type { ExportColumn } from './head.ts';
import type { ColumnRole } from './roles.ts';
import { foldHeader } from './value-text.ts';
import { numberText } from '../numbers.ts';

/** How many records of one export refer to records of another, by one pair of columns. */
export interface Overlap {
  readonly column: ExportColumn;
  /** The id, e-mail address or name of the other export. */
  readonly match: ExportColumn;
  /** Separator of several values in one cell. */
  readonly separator?: string;
  /** E-mail addresses match only without regard to case. */
  readonly lowercase: boolean;
  /** Values found in the other export, and all values, one per record or, with a separator, several. */
  readonly found: number;
  readonly of: number;
}

/** Values found for a join: almost all. If only the beginning of the other export was read, a third. */
const MIN_SHARE = 0.9;
const MIN_SHARE_OF_PART = 1 / 3;
/** The same for a column with the name of the other export's id, unless that is just `id`. */
const MIN_SHARE_OF_NAMED = 0.5;
/** Below this share, an overlap is not worth showing. */
const MIN_CANDIDATE = 0.1;

const KEYS = ['id', 'email', 'full_name', 'title'] as const satisfies readonly ColumnRole[];

export interface JoinSearch {
  /** By id if possible, otherwise by e-mail address, otherwise by name. */
  readonly join: Overlap | undefined;
  /** The best overlaps that are not enough for a join, or are possible by chance. */
  readonly candidates: readonly Overlap[];
}

/** Searches all columns of `from` except its own id for the ids, e-mail addresses and names of `to`. */
export function findJoin(from: Guess, to: Guess): JoinSearch {
  const candidates: Overlap[] = [];
  for (const role of KEYS) {
    const match = to.roles.get(role);
    if (!match || (role === 'title' && !match.facts.unique)) continue;
    const found = from.export.columns
      .filter((column) => column !== from.roles.get('id') && column.occurrences.size > 0)
      .map((column) => overlap(column, match, role === 'email'))
      .sort((a, b) => shareOf(b) - shareOf(a));
    const named = found.filter(({ column }) => role !== 'id' || !isNumberRange(match) || refersTo(column, to));
    const asId = named.find((each) => isNamedAs(each) && shareOf(each) >= MIN_SHARE_OF_NAMED);
    const best = asId ?? named[0];
    const enough = to.export.whole ? MIN_SHARE : MIN_SHARE_OF_PART;
    if (asId || (best && shareOf(best) >= enough)) return { join: best, candidates: [] };
    candidates.push(...found.filter((each) => shareOf(each) >= MIN_CANDIDATE));
  }
  return { join: undefined, candidates: candidates.sort((a, b) => shareOf(b) - shareOf(a)).slice(0, 3) };
}

export function shareOf({ found, of }: Overlap): number {
  return of === 0 ? 0 : found / of;
}

function overlap(column: ExportColumn, match: ExportColumn, isEmail: boolean): Overlap {
  const exact = countIn(column, match.occurrences);
  if (!isEmail || exact.found === exact.of || !column.values.some((value) => value.includes('@')))
    return { column, match, lowercase: false, ...exact };
  const known = new Map([...match.occurrences].map(([value, count]) => [value.toLowerCase(), count]));
  const folded = countIn(column, known, (value) => value.toLowerCase());
  return folded.found > exact.found
    ? { column, match, lowercase: true, ...folded }
    : { column, match, lowercase: false, ...exact };
}

const SEPARATORS = [';', ',', '|'];

function countIn(
  { occurrences, values }: ExportColumn,
  known: ReadonlyMap<string, number>,
  normalise = (value: string): string => value,
): Pick<Overlap, 'found' | 'of' | 'separator'> {
  let found = 0;
  let of = 0;
  for (const [value, count] of occurrences) {
    of += count;
    if (known.has(normalise(value))) found += count;
  }
  if (found === of) return { found, of };
  const separator = SEPARATORS.find((mark) => values.some((value) => value.includes(mark)));
  if (separator === undefined) return { found, of };
  const split = { found: 0, of: 0, separator };
  for (const [value, count] of occurrences) {
    const pieces = value.split(separator).map((piece) => piece.trim());
    split.of += pieces.length * count;
    split.found += pieces.filter((piece) => known.has(normalise(piece))).length * count;
  }
  return split.found > found ? split : { found, of };
}

function isNamedAs({ column, match }: Overlap): boolean {
  const header = foldHeader(column.name);
  return header === foldHeader(match.name) && !/^(?:id|guid|uuid|key|nr|no|code|name)$/.test(header);
}

/** Short whole numbers: any other column of small numbers is among them by chance. */
function isNumberRange({ occurrences }: ExportColumn): boolean {
  for (const value of occurrences.keys()) if (!/^\d{1,7}$/.test(value)) return false;
  return true;
}

/** Whether a column is named after the kind of records or their id: `Contact ID`, `Kundennummer`, `person_id`. */
function refersTo({ name }: ExportColumn, to: Guess): boolean {
  const header = foldHeader(name);
  return header === foldHeader(to.roles.get('id')?.name ?? '') || (KIND_NAMES[to.kind]?.test(header) ?? false);
}

const KIND_NAMES: Readonly<Record<string, RegExp>> = {
  leads: /contact|lead|person|people|client|customer|kund|kontakt|contatt|anagrafic|prospect/,
  companies: /compan|account|organi[sz]ation|aziend|firm|unternehmen|entreprise|empresa/,
  stages: /stage|phase|status|fase|stato/,
  deals: /deal|opportun|trattativ|potential|affar|geschaft|vorgang|verkauf/,
  users:
    /owner|user|agent|assigned|author|creat|utent|benutzer|betreuer|bearbeiter|verantwortlich|responsab|proprietari|manager|\brep\b/,
};

/** Ids that two exports of records of the same type have in common, if none of them is of the same person in both. */
export function sharedIds(a: Guess, b: Guess): number {
  const shared = (role: ColumnRole): string[] | undefined => {
    const [first, second] = [a.roles.get(role)?.occurrences, b.roles.get(role)?.occurrences];
    return first && second && [...first.keys()].filter((value) => second.has(value));
  };
  const ids = shared('id') ?? [];
  const [people, others] = [personById(a), personById(b)];
  const known = ids.filter((id) => people?.has(id) === true && others?.has(id) === true);
  const common =
    known.length > 0
      ? known.filter((id) => people!.get(id) === others!.get(id)).length
      : (shared('email') ?? shared('full_name'))?.length;
  return common === 0 ? ids.length : 0;
}

/** The e-mail address or name by id, if every record of the sample has both. */
function personById({ roles, export: { rows } }: Guess): ReadonlyMap<string, string> | undefined {
  const id = roles.get('id');
  const person = roles.get('email') ?? roles.get('full_name');
  if (!id || !person || id.facts.filled !== rows || person.facts.filled !== rows) return undefined;
  return new Map(id.values.map((value, row) => [value, person.values[row]!.toLowerCase()]));
}

/** `500 of 500 deals match contacts.Email`. */
export function overlapText({ found, of, match }: Overlap, records: string, source: string): string {
  return `${numberText(found)} of ${numberText(of)} ${records} match ${source}.${match.name}`;
}
