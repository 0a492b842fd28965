/** Guesses the role of a column of an unknown CRM's export, from its name (in several languages) and its values. */
import { basename } from 'node:path';
import type { ExportColumn, Export } from './head.ts';
import { kindOfNoun, type ExportKind } from './nouns.ts';
import { foldHeader } from './value-text.ts';

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
  'company',
  'subject',
  'happened',
  'label',
] as const;
export type ColumnRole = (typeof ROLES)[number];

interface RolePattern {
  /** Of headers in the form of `foldHeader`, best first; the first column that fits is used. */
  readonly names: readonly RegExp[];
  /** Whether the values fit the role; a few may not. */
  readonly fits?: (column: ExportColumn) => boolean;
}

const ROLE_PATTERNS: Readonly<Record<ColumnRole, RolePattern>> = {
  id: {
    names: [
      /^(?:(?:record|contact|lead|person|deal|opportunity|customer|client|note|activity|company|account|user|owner|stage|cliente|contatto|trattativa|kunden?|kontakt|vorgangs?) ?)?(?:id|guid|uuid|key|nr|nummer|no|numero|codice|code|cod)$|^(?:id|codice|cod|code) (?:cliente|contatto|trattativa|contact|lead|deal|nota|client|opportunit\w*)$|^identifi\w+$/,
    ],
  },
  email: {
    names: [/\be ?mail\b|\bemail\b|^mail$|posta elettronica|courriel|correo/],
    fits: ({ facts }) => facts.email,
  },
  phone: {
    names: [/phone|\btel\b|telefon|mobil|\bcell|handy|gsm|movil|fon\b/],
    fits: ({ facts }) => facts.phone || facts.damaged > 0,
  },
  first_name: { names: [/^(?:first|given) ?name$|^firstname$|^nome$|^vorname$|^prenom$|^nombre$|^voornaam$/] },
  last_name: {
    names: [
      /^(?:last|sur|family) ?name$|^surname$|^cognome$|^nachname$|^apellidos?$|^achternaam$|^nom(?: de famille)?$/,
    ],
  },
  full_name: {
    names: [
      /^(?:full ?|display |contact |contact person |person )?name$|^nominativo$|^nome completo$|^nom complet$|^naam$|^kontakt(?:person)?$|^ragione sociale$/,
      /^(?:lead|customer|client|rep|user|owner|agent|employee) name$|^sales (?:agent|rep|person)$/,
    ],
  },
  company: {
    names: [
      /^(?:company|account|organi[sz]ation|firm|azienda|firma|unternehmen|societe|empresa)(?: name)?$|^name$|^nome$|^ragione sociale$/,
    ],
  },
  amount: {
    names: [
      /amount|\bvalue\b|valore|importo|betrag|montant|importe|prezzo|price|\bwert\b|summe|total/,
      /revenue|umsatz|ricavo|fatturato|\bbudget\b/,
    ],
    fits: ({ facts }) => facts.number !== undefined,
  },
  currency: { names: [/./], fits: ({ facts }) => facts.currency },
  stage: {
    names: [/stage|\bfase\b|\bstato\b|phase|etape|etapa|stufe/, /status/],
    fits: ({ facts }) => facts.distinct <= 60,
  },
  pipeline: { names: [/pipeline|imbuto|funnel/] },
  owner: {
    names: [
      /owner|owned by|assigned|assegnat|responsab|proprietari|commerciale|verantwortlich|besitzer|betreuer|inhaber|sales ?(?:rep|person|agent)|seller|account manager|vendeur|venditore|\bagente?\b/,
    ],
    fits: ({ name }) => !isIdName(name),
  },
  created: {
    names: [
      /creat|inseri[tm]|creazione|erstell|angelegt|\bcree\b|alta|added|add time|^data$|^date$|^datum$|activity date/,
      /^engage date$/,
    ],
    fits: ({ facts }) => facts.date !== undefined,
  },
  happened: {
    names: [
      /(?:activity|call|meeting|note|event|interaction|start|done|sent) ?(?:date|time|at|on)|^timestamp$/,
      /creat|inseri[tm]|creazione|erstell|angelegt|\bcree\b|alta|added|add time/,
      /^(?!.*(?:modif|updat|chang)).*\b(?:date|data|datum|at|on|due|deadline)\b/,
    ],
    fits: ({ facts }) => facts.date !== undefined,
  },
  label: { names: [/^label$|^name$|^nome$|^bezeichnung$/] },
  subject: { names: [/subject|^(?!job ).*title|oggetto|titel|betreff|titre|asunto|^topic$/] },
  content: {
    names: [
      /content|body|^notes?$|^nota$|testo|\btext\b|comment|commento|bemerkung|inhalt|description|descrizione|message/,
      /\bnotes?\b|summary|feedback/,
    ],
  },
  author: {
    names: [
      /author|autore|created by|autor|verfasser|^user name$|^owner$|^operatore$/,
      /owner|assigned to|logged by|\b(?:user|agent|rep|sender)\b/,
    ],
    fits: ({ name, facts }) => !isIdName(name) && facts.length <= 60,
  },
  title: {
    names: [
      /title|subject|oggetto|(?:deal|opportunity|potential) ?name|nome trattativa|^trattativa$|titel|betreff|titre|asunto|bezeichnung/,
      /^name$|^nome$|^topic$/,
    ],
  },
};

/** The best column for a role. */
export function columnFor(role: ColumnRole, columns: readonly ExportColumn[]): ExportColumn | undefined {
  for (const names of ROLE_PATTERNS[role].names) {
    const found = columns.find((column) => fitsName(role, names, column));
    if (found) return found;
  }
  return undefined;
}

export function fits(role: ColumnRole, column: ExportColumn): boolean {
  return ROLE_PATTERNS[role].names.some((names) => fitsName(role, names, column));
}

function fitsName(role: ColumnRole, names: RegExp, column: ExportColumn): boolean {
  const test = ROLE_PATTERNS[role].fits;
  return column.facts.filled > 0 && names.test(foldHeader(column.name)) && (test === undefined || test(column));
}

export function isIdName(name: string): boolean {
  return /(?:^| )ids?$/.test(foldHeader(name));
}

/** A column of phone numbers by name and values, since ids have similar values. */
export function isPhone(column: ExportColumn): boolean {
  return fits('phone', column) && column.facts.phone;
}

/** The longest id, such as a UUID with a prefix. */
const MAX_ID = 60;

/**
 * A column named like an id with unique values, best of all one named as the file: `payment_id` of payments, which
 * may also have a `deal_id`. Otherwise any possible id column, but none that is named as the id of another kind of
 * records; otherwise the e-mail address, the name or the title, if they are unique.
 */
export function idColumn({ path, columns, rows }: Export, kind?: ExportKind): ExportColumn | undefined {
  const file = foldHeader(basename(path));
  const own = columns.filter(({ name }) => {
    const noun = kindOfNoun(stemOf(name) ?? '');
    return kind === undefined || noun === undefined || noun === kind || noun === 'unknown';
  });
  const whole = own.filter(({ facts }) => facts.filled === rows);
  const named = whole.filter(
    (column) => column.facts.unique && (column.facts.email || fits('full_name', column) || fits('title', column)),
  );
  const isNamed = (name: string): boolean => {
    const stem = stemOf(name);
    return stem === '' || (stem !== undefined && (file.includes(stem) || kindOfNoun(stem) === kind));
  };
  return (
    whole.find(({ name, facts }) => facts.unique && isNamed(name)) ??
    whole.find((column) => fits('id', column) && column.facts.unique) ??
    own.find((column) => fits('id', column)) ??
    whole.find(({ name, facts }) => facts.unique && facts.length <= MAX_ID && stemOf(name) !== undefined) ??
    (kind === 'comments' ? undefined : (named.find(({ facts }) => facts.email) ?? named[0]))
  );
}

/** What the name of an id column is the id of: `contact` for `Contact ID` and `CONTACTID`, empty for `Id`. */
function stemOf(name: string): string | undefined {
  const [, spaced, joined] = /^(?:(.+) )?(?:id|nr|no|number|code|codice)$|^(\w+)id$/.exec(foldHeader(name)) ?? [];
  if (joined !== undefined) return kindOfNoun(joined) === undefined ? undefined : joined;
  return /(?:^|[ _])(?:id|nr|no|number|code|codice)$/.test(foldHeader(name)) ? (spaced ?? '') : undefined;
}
