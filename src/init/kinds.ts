/** Recognises what the records of an unknown CRM's export are: by their content, by their columns, and by the name of the file. */
import { basename } from 'node:path';
import { isFew, type ExportColumn, type Table } from './columns.ts';
import { shareOf, type Reference } from './references.ts';
import { fits, isIdName, roleOf, type ColumnRole } from './roles.ts';
import { foldHeader } from './value-text.ts';

/** Only leads, deals and comments become events; the others are for lookups, or not used. */
export type ExportKind =
  'leads' | 'deals' | 'comments' | 'users' | 'companies' | 'stages' | 'links' | 'history' | 'unknown';

/** The nouns of file names, in several languages; the last one that a name has counts: `deal_products`. */
const NOUNS: readonly (readonly [ExportKind, RegExp])[] = [
  ['users', /^(?:users?|owners?|reps?|agents?|teams?|staff|employees?|utent[ei]|benutzer|usuarios?)$/],
  [
    'companies',
    /^(?:compan(?:y|ies)|accounts?|organi[sz]ations?|aziend[ae]|firmen|unternehmen|entreprises?|empresas?)$/,
  ],
  ['stages', /^(?:stages?|phasen?|fasi)$/],
  [
    'deals',
    /^(?:deals?|opportunit(?:y|ies)|potentials?|pipelines?|projekte?|trattativ[ae]|affari?|geschaft\w*|verkauf\w*|vendit[ae])$/,
  ],
  [
    'comments',
    /^(?:notes?|comment(?:s|i|o)?|notiz(?:en)?|activit(?:y|ies)|attivita|tasks?|calls?|e?mails?|meetings?|events?|appointments?|interactions?|engagements?|phonecalls?|todos?|aufgaben?|anrufe?|chiamat[ae])$/,
  ],
  [
    'leads',
    /^(?:contacts?|leads?|persons?|people|prospects?|part(?:y|ies)|kontakte?|contatt[oi]|clients?|client[ei]|customers?|kunden?|anagrafic\w*)$/,
  ],
  [
    'unknown',
    /^(?:products?|(?:line)?items?|lines?|payments?|pagament[io]|zahlung(?:en)?|installments?|loans?|contracts?|contratt[io]|vertrage?|vertraege|subscriptions?|transactions?|bills?|fattur[ae]|rechnung(?:en)?|orders?|invoices?|quotes?|prices?|costs?|shipments?|tickets?|cases?|campaigns?|forms?|lists?|propert(?:y|ies)|documents?|files?|attachments?|status(?:es)?|tags?|roles?)$/,
  ],
];

/** Of a word in lower case. */
export function kindOfNoun(word: string): ExportKind | undefined {
  return NOUNS.find(([, nouns]) => nouns.test(word))?.[0];
}

export interface Kind {
  readonly kind: ExportKind;
  /** Why its records become no events, if the kind does not say it. */
  readonly why?: string;
}

/** What a table is. `references`: of all tables. */
export function kindOf(table: Table, references: readonly Reference[]): Kind {
  const words = foldHeader(table.list ?? basename(table.from.path).replace(/(?:\.\w+)+$/, '')).split(' ');
  if (table.list !== undefined) return inRecords(table, words);
  if (isHistory(table, words)) return { kind: 'history' };
  const nouns = words.flatMap((word) => kindOfNoun(word) ?? []);
  const named = nouns.at(-1) ?? kindOfNoun(ownNoun(table) ?? '');
  if (named !== 'comments' && named !== 'users' && isLinks(table, references)) return { kind: 'links' };
  if (named === 'unknown') return { kind: 'unknown', why: NO_PLACE };
  if (named === 'deals') return dealsOr(table, references, nouns.length > 0);
  if (named !== undefined && EVIDENCE[named]?.some((role) => has(table, role)) !== false) return { kind: named };
  return byColumns(table, references);
}

/** A list inside records is of interest where it has texts. */
function inRecords({ columns }: Table, words: readonly string[]): Kind {
  const isText =
    roleOf('content', columns) !== undefined ||
    (words.some((word) => kindOfNoun(word) === 'comments') && roleOf('subject', columns) !== undefined);
  if (isText && !columns.some(({ email, phone }) => email || phone)) return { kind: 'comments' };
  return { kind: 'unknown', why: NO_PLACE };
}

const NO_PLACE = 'the service has no place for such records';

/** One of these columns is needed; otherwise the name of the file is not trusted. */
const EVIDENCE: Readonly<Partial<Record<ExportKind, readonly ColumnRole[]>>> = {
  leads: ['email', 'phone', 'first_name', 'last_name', 'full_name', 'company'],
  users: ['email', 'full_name', 'first_name', 'last_name'],
  companies: ['company'],
  stages: ['stage', 'label'],
};

function has({ columns }: Table, role: ColumnRole): boolean {
  return columns.some((column) => fits(role, column));
}

/** Payments, contracts and orders have amounts too: a deal has a stage or an outcome, and is not a part of another deal. */
function dealsOr(table: Table, references: readonly Reference[], byName: boolean): Kind {
  const parent = dealsOf(table, references, byName);
  if (parent !== undefined) return { kind: 'unknown', why: `its records belong to deals, by \`${parent}\`` };
  const columns = table.columns;
  const stage = roleOf('stage', columns)?.column;
  const isStage = stage !== undefined && (byName || /stage|fase|phase|etap|stufe/.test(foldHeader(stage.name)));
  const isSold = isStage || roleOf('outcome', columns) !== undefined;
  const isNamed =
    byName && /deal|opportunit|potential|trattativ|affar|geschaft/.test(foldHeader(basename(table.from.path)));
  if (isSold || (isNamed && (has(table, 'amount') || has(table, 'title')))) return { kind: 'deals' };
  return { kind: 'unknown', why: 'it has no stage and no outcome, as deals have' };
}

/** The column with the ids of deals that are records of another export, besides the own id of these records. */
function dealsOf({ columns, rows }: Table, references: readonly Reference[], byName: boolean): string | undefined {
  const kindIn = (name: string): ExportKind | undefined => kindOfNoun(nounOf(name) ?? '');
  const ids = columns.filter(
    ({ name, filled }) => kindIn(name) === 'deals' && !/pipeline/i.test(name) && filled > rows / 2,
  );
  const refers = (column: ExportColumn): boolean =>
    references.some((each) => each.from === column && shareOf(each) > 0.9);
  const hasOwn = columns.some(
    ({ unique, whole, name }) => unique && whole && isIdName(name) && [undefined, 'unknown'].includes(kindIn(name)),
  );
  return ids.find((column) => (!column.unique && refers(column)) || (hasOwn && !(byName && column.unique)))?.name;
}

function byColumns(table: Table, references: readonly Reference[]): Kind {
  const { columns } = table;
  const score = (...roles: ColumnRole[]): number => roles.filter((role) => has(table, role)).length;
  const content = roleOf('content', columns);
  const isProse = content !== undefined && (content.column.length > 25 || content.column.html);
  if (has(table, 'stage') && !has(table, 'amount') && columns.some(isPosition)) return { kind: 'stages' };
  const deals = score('amount') === 0 ? 0 : 1 + score('stage', 'title', 'owner') + (roleOf('outcome', columns) ? 2 : 0);
  const leads = 2 * Number(columns.some(({ email }) => email)) + score('phone', 'first_name', 'last_name');
  if (deals >= 2 && deals >= leads) return dealsOr(table, references, false);
  if (leads >= 2) return { kind: 'leads' };
  if (isProse) return { kind: 'comments' };
  if (isActivity(table, references)) return { kind: 'comments' };
  return { kind: 'unknown', why: 'it is not recognised as people, deals, comments or a list of names' };
}

/** A date, what kind of activity it was, and whose. */
function isActivity({ columns }: Table, references: readonly Reference[]): boolean {
  return (
    columns.some(({ date }) => date !== undefined) &&
    columns.some((column) => isFew(column) && isActivityKind(column)) &&
    references.some(({ from }) => columns.includes(from))
  );
}

/** A column that says what kind of activity a record is, or how it ended. */
export function isActivityKind({ name, words }: ExportColumn): boolean {
  const header = foldHeader(name);
  return (
    words &&
    /(?:^| )(?:type|kind|typ|tipo|art|outcome|esito|result|direction)$/.test(header) &&
    !/parent|related|target|linked|mime|object|record/.test(header)
  );
}

/** A position in a list, such as that of a stage. */
function isPosition({ name }: ExportColumn): boolean {
  return /(?:^| )(?:order|sort order|position|probability|reihenfolge|ordine)(?: |$)/.test(foldHeader(name));
}

/** What the first id column of a table is the id of: `activity` for `activity_id`. */
function ownNoun({ columns }: Table): string | undefined {
  const first = columns.find(({ unique, whole, name }) => unique && whole && isIdName(name));
  return first && nounOf(first.name);
}

/** What a column has the ids of: `deal` for `Deal IDs`. */
function nounOf(name: string): string | undefined {
  return /(\w+) ids?$/.exec(foldHeader(name))?.[1];
}

/** Old and new values of a field. The service has only the present ones. */
function isHistory({ columns }: Table, words: readonly string[]): boolean {
  if (words.some((word) => /^(?:history|audit|changelog|storico|verlauf|historique|historial)$/.test(word)))
    return roleOf('content', columns) === undefined;
  const names = columns.map(({ name }) => foldHeader(name));
  const changed = names.filter((name) => name.startsWith('old ')).map((name) => name.slice('old '.length));
  return changed.some((name) => names.includes(`new ${name}`));
}

/** Pairs of ids of other records, such as the contacts of deals, with hardly anything else: no activity, no text. */
function isLinks(table: Table, references: readonly Reference[]): boolean {
  const columns = table.columns.filter(({ filled }) => filled > 0);
  const kinds = new Set(
    columns.flatMap((column): (string | Table)[] => {
      const noun = nounOf(column.name);
      const kind = noun === undefined ? undefined : kindOfNoun(noun);
      if (noun === 'pipeline' || ['users', 'stages', 'comments'].includes(kind!)) return [];
      if (kind !== undefined) return [kind === 'unknown' ? noun! : kind];
      // By content: codes, which no other column has by chance.
      const found = references.find((each) => each.from === column && column.code && shareOf(each) > 0.9);
      return found ? [found.to.table] : [];
    }),
  );
  const substance = ['amount', 'title', 'stage', 'content', 'email', 'first_name', 'full_name'] as const;
  const isRecord = substance.some((role) => has(table, role)) || columns.some(isActivityKind);
  return kinds.size >= 2 && !isRecord;
}
