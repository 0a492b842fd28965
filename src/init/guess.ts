/** Guesses the role of each column of an unknown CRM's export, from its name (in several languages) and its values. */
import { basename } from 'node:path';
import type { ExportColumn, Export } from './head.ts';
import { foldHeader } from './value-text.ts';

export type ExportKind = 'leads' | 'deals' | 'comments' | 'users' | 'unknown';

export const ROLES = [
  'id',
  'email',
  'phone',
  'first_name',
  'last_name',
  'full_name',
  'amount',
  'currency',
  'stage',
  'pipeline',
  'owner',
  'created',
  'content',
  'author',
  'title',
] as const;
export type ColumnRole = (typeof ROLES)[number];

export interface Guess {
  readonly export: Export;
  readonly kind: ExportKind;
  readonly roles: ReadonlyMap<ColumnRole, ExportColumn>;
}

interface RolePattern {
  readonly names: RegExp;
  /** Whether the values fit the role; a few may not. */
  readonly fits?: (column: ExportColumn) => boolean;
}

/** Names in the form of `foldHeader`; the first column that fits is used. */
const ROLE_PATTERNS: Readonly<Record<ColumnRole, RolePattern>> = {
  id: {
    names:
      /^(?:(?:record|contact|lead|person|deal|opportunity|customer|client|note|activity|cliente|contatto|trattativa|kunden?|kontakt|vorgangs?) ?)?(?:id|guid|uuid|key|nr|nummer|no|numero|codice|code|cod)$|^(?:id|codice|cod|code) (?:cliente|contatto|trattativa|contact|lead|deal|nota|client|opportunit\w*)$|^identifi\w+$/,
  },
  email: { names: /\be ?mail\b|\bemail\b|^mail$|posta elettronica|courriel|correo/, fits: ({ facts }) => facts.email },
  phone: {
    names: /phone|\btel\b|telefon|mobil|\bcell|handy|gsm|movil|fon\b/,
    fits: ({ facts }) => facts.phone || facts.damaged > 0,
  },
  first_name: { names: /^(?:first|given) ?name$|^firstname$|^nome$|^vorname$|^prenom$|^nombre$|^voornaam$/ },
  last_name: {
    names: /^(?:last|sur|family) ?name$|^surname$|^cognome$|^nachname$|^apellidos?$|^achternaam$|^nom(?: de famille)?$/,
  },
  full_name: {
    names:
      /^(?:full |display |contact |contact person |person )?name$|^nominativo$|^nome completo$|^nom complet$|^naam$|^kontakt(?:person)?$|^ragione sociale$/,
  },
  amount: {
    names: /amount|\bvalue\b|valore|importo|betrag|montant|importe|prezzo|price|\bwert\b|summe|total/,
    fits: ({ facts }) => facts.number !== undefined,
  },
  currency: { names: /./, fits: ({ facts }) => facts.currency },
  stage: {
    names: /stage|\bfase\b|\bstato\b|status|phase|etape|etapa|stufe/,
    fits: ({ facts }) => facts.distinct <= 60,
  },
  pipeline: { names: /pipeline|imbuto|funnel/ },
  owner: {
    names:
      /owner|assigned|assegnat|responsab|proprietari|commerciale|verantwortlich|besitzer|betreuer|inhaber|sales ?rep|vendeur|venditore|\bagente?\b/,
    fits: ({ name }) => !/(?:^| )id$/.test(foldHeader(name)),
  },
  created: {
    names:
      /creat|inseri[tm]|creazione|erstell|angelegt|\bcree\b|alta|added|add time|^data$|^date$|^datum$|activity date/,
    fits: ({ facts }) => facts.date !== undefined,
  },
  content: {
    names:
      /content|body|^notes?$|^nota$|testo|\btext\b|comment|commento|bemerkung|inhalt|description|descrizione|message/,
  },
  author: { names: /author|autore|created by|autor|verfasser|^user name$|^owner$|^operatore$/ },
  title: {
    names:
      /title|subject|oggetto|(?:deal|opportunity|potential) name|nome trattativa|^trattativa$|titel|betreff|titre|asunto|^name$|^nome$|bezeichnung/,
  },
};

const ROLES_OF: Readonly<Record<ExportKind, readonly ColumnRole[]>> = {
  leads: ['id', 'email', 'phone', 'first_name', 'last_name', 'full_name', 'created'],
  deals: ['id', 'amount', 'currency', 'stage', 'pipeline', 'owner', 'created', 'title'],
  comments: ['id', 'content', 'author', 'created'],
  users: ['id', 'email', 'full_name', 'first_name', 'last_name'],
  unknown: [],
};

const FILE_NAMES: readonly (readonly [ExportKind, RegExp])[] = [
  ['users', /user|owner|utent|benutzer|usuario/i],
  ['deals', /deal|opportun|trattativ|potential|affar|gesch(?:ä|ae)ft|verkauf|vendit|pipeline/i],
  ['comments', /note|comment|activit|task|commenti|notiz|attivit/i],
  ['leads', /contact|lead|person|people|kontakt|contatt|client|kund|anagrafic/i],
];

export function guess(found: Export): Guess {
  const kind = kindOf(found);
  const roles = new Map<ColumnRole, ExportColumn>();
  const taken = new Set<ExportColumn>();
  for (const role of ROLES_OF[kind]) {
    const column = role === 'id' ? idColumn(found) : found.columns.find((each) => !taken.has(each) && fits(role, each));
    if (!column) continue;
    roles.set(role, column);
    taken.add(column);
  }
  if (kind === 'leads') settleNames(roles);
  return { export: found, kind, roles };
}

function fits(role: ColumnRole, column: ExportColumn): boolean {
  const { names, fits: test } = ROLE_PATTERNS[role];
  return column.facts.filled > 0 && names.test(foldHeader(column.name)) && (test === undefined || test(column));
}

/** A column of phone numbers by name and values, since ids have similar values. */
export function isPhone(column: ExportColumn): boolean {
  return fits('phone', column) && column.facts.phone;
}

/** `nome` with a `cognome` column is a first name; without one, it is the full name. */
function settleNames(roles: Map<ColumnRole, ExportColumn>): void {
  const first = roles.get('first_name');
  if (!first || roles.has('last_name') || !/^(?:nome|nom|nombre)$/.test(foldHeader(first.name))) return;
  roles.delete('first_name');
  if (!roles.has('full_name')) roles.set('full_name', first);
}

/** By the name of the file, otherwise by the columns. */
function kindOf({ path, columns }: Export): ExportKind {
  const named = FILE_NAMES.find(([, names]) => names.test(basename(path)));
  if (named) return named[0];
  const has = (role: ColumnRole): number => Number(columns.some((column) => fits(role, column)));
  const scores: [ExportKind, number][] = [
    ['deals', 2 * has('amount') + has('stage')],
    ['leads', 2 * has('email') + has('phone') + has('first_name') + has('last_name')],
    ['comments', 2 * Number(columns.some((column) => fits('content', column) && column.facts.length > 20))],
  ];
  const best = scores.reduce((a, b) => (b[1] > a[1] ? b : a));
  return best[1] >= 2 ? best[0] : 'unknown';
}

/** A column named like an id with unique values; otherwise any possible id column; otherwise the e-mail address. */
export function idColumn({ columns, rows }: Export): ExportColumn | undefined {
  const whole = columns.filter(({ facts }) => facts.filled === rows);
  return (
    whole.find((column) => fits('id', column) && column.facts.unique) ??
    columns.find((column) => fits('id', column)) ??
    whole.find(
      ({ name, facts }) => facts.unique && facts.length <= 40 && /(?:^| )(?:id|nr|code|codice)$/.test(foldHeader(name)),
    ) ??
    whole.find(({ facts }) => facts.unique && facts.email)
  );
}
