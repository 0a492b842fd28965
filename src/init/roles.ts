/**
 * The table of roles: what the values of a column must be to have a role, and which names decide between columns that could
 * have it. Both the lines of the mapping and their comments are written from what `roleOf` finds.
 */
import { numberText } from '../numbers.ts';
import { isFew, type ExportColumn } from './columns.ts';
import { foldHeader } from './value-text.ts';

/** A column with its role, and why it has it. */
export interface Finding {
  readonly column: ExportColumn;
  readonly why: string;
  /** No header names it: only its content does. */
  readonly unnamed: boolean;
}

interface RoleSpec {
  /** What the values must be. */
  readonly holds: (column: ExportColumn) => boolean;
  /** Of headers in the form of `foldHeader`, best first. */
  readonly names: readonly RegExp[];
  readonly not?: RegExp;
  /** Better left to another column, if there is one: ids where names are wanted. */
  readonly avoid?: (column: ExportColumn) => boolean;
  /** Without a fitting header, the column for which this is highest; none below 0. Without it, a header is needed. */
  readonly byContent?: (column: ExportColumn) => number;
  readonly why: (column: ExportColumn) => string;
}

const ANY = (): boolean => true;
/** Mostly different texts, which tell records apart. */
const isText = ({ date, email, distinct, filled, length }: ExportColumn): boolean =>
  !date && !email && length <= 200 && distinct >= Math.min(filled, 30) / 5;
/** Longer texts, mostly different. */
const isProse = (column: ExportColumn): boolean => column.words && !column.person && !isFew(column);

const RECORDS = ({ filled, table }: ExportColumn): string =>
  `${numberText(filled)} of ${numberText(table.rows)} records`;
const TEXTS = ({ distinct, filled }: ExportColumn): string =>
  `${numberText(distinct)} different texts in ${numberText(filled)} records`;

function valuesText(column: ExportColumn): string {
  const { distinct } = column;
  const shown = [...column.few().keys()]
    .slice(0, 4)
    .map((value) => (value.length > 30 ? `${value.slice(0, 29)}…` : value));
  return `${numberText(distinct)} ${distinct === 1 ? 'value' : 'values'}: ${shown.join(', ')}${distinct > shown.length ? ', …' : ''}`;
}

function datesText({ values, date }: ExportColumn): string {
  if (date?.formats[0]?.startsWith('unix')) return 'times in seconds or milliseconds since 1970';
  const years = values.flatMap((value) => /(?:19|20)\d\d/.exec(value)?.[0] ?? []).sort();
  const [first, last] = [years[0], years.at(-1)];
  return first === undefined ? 'dates' : first === last ? `dates of ${first}` : `dates of ${first} to ${last}`;
}

const SUBJECTS = [/subject|^(?!job ).*title|oggetto|titel|betreff|titre|asunto|^topic$/, /^name$|^summary$/];

/** Dates of what has not happened yet, and of later changes. */
const NOT_CREATED =
  /\b(?:due|deadline|next|expected|forecast|close[ds]?|closing|end|scheduled|remind\w*|follow|modif\w*|updat\w*|chang\w*|last|birth\w*|expir\w*|scadenza|prossim\w*|chiusur\w*|modific\w*|ultim\w*|fallig\w*|nachste\w*|geandert|echeance|prochain\w*|vencimiento|proxim\w*)\b/;
const PERSONAL = /\b(?:deal|company|account|organi[sz]ation|product|pipeline|stage|owner|file)\b/;

const ROLES = {
  email: {
    holds: ({ email }) => email,
    names: [/\be ?mail\d?\b|^mail$|posta elettronica|courriel|correo/],
    avoid: ({ name }) => /\b(?:owner|created|assigned|user|company|account|rep)\b/.test(foldHeader(name)),
    byContent: ({ filled }) => filled,
    why: RECORDS,
  },
  phone: {
    holds: ({ phone, damaged }) => phone || damaged > 0,
    names: [/phone|\btel\b|telefon|mobil|\bcell|handy|gsm|movil|fon\b/, /^phones?\b|\bnumber\b/],
    not: /\bfax\b|\bids?$/,
    byContent: ({ values }) => (values.some((value) => /^(?:\+|00)\d{2}/.test(value)) ? 1 : -1),
    why: RECORDS,
  },
  first_name: {
    holds: isName,
    names: [/^(?:first|given) ?name$|^firstname$|^nome$|^vorname$|^prenom$|^nombre$|^voornaam$/],
    why: RECORDS,
  },
  last_name: {
    holds: isName,
    names: [
      /^(?:last|sur|family) ?name$|^surname$|^cognome$|^nachname$|^apellidos?$|^achternaam$|^nom(?: de famille)?$/,
    ],
    why: RECORDS,
  },
  full_name: {
    holds: isName,
    names: [
      /^(?:full ?|display |contact |contact person |person |lead )?name$|^nominativo$|^nome completo$|^nom complet$|^naam$|^kontakt(?:person)?$|^ragione sociale$/,
      /^(?:customer|client|rep|user|agent|employee) name$|^sales (?:agent|rep|person)$|^(?:person|contact|lead)$/,
    ],
    not: PERSONAL,
    byContent: (column) =>
      column.person && !isFew(column) && !PERSONAL.test(foldHeader(column.name)) ? column.distinct : -1,
    why: RECORDS,
  },
  company: {
    holds: isName,
    names: [
      /^(?:company|account|organi[sz]ation|firm|azienda|firma|unternehmen|societe|empresa)(?: name)?$|^name$|^nome$|^ragione sociale$/,
    ],
    why: TEXTS,
  },
  amount: {
    holds: ({ number, code }) => number !== undefined && !code,
    names: [
      /amount|\bvalue\b|valore|importo|betrag|montant|importe|prezzo|price|wert\b|summe|total/,
      /revenue|umsatz|ricavo|fatturato|\bbudget\b|deal size/,
    ],
    not: /\bids?$|weighted|ponderat|gewichtet|\btax|discount|probab|quantity|count\b|\bpaid\b|\bcosts?\b|year|number of/,
    avoid: ({ name }) => /\bbase\b|actual|expected/.test(foldHeader(name)),
    why: ({ values }) => `numbers such as ${values.slice(0, 2).join(', ')}`,
  },
  currency: {
    holds: ({ currency }) => currency,
    names: [/currency|valuta|wahrung|devise|moneda/],
    byContent: ({ filled }) => filled,
    why: valuesText,
  },
  stage: {
    holds: ({ distinct, date, email }) => distinct <= 60 && !date && !email,
    names: [/stage|\bfase\b|phase|etape|etapa|stufe|pipeline step|milestone/, /\bstato\b|status/],
    not: /forecast|\b(?:created|date|changed|moved|order|time|probability|lead status)\b/,
    avoid: isIdLike,
    why: valuesText,
  },
  outcome: {
    holds: isOutcome,
    names: [/status|outcome|result|esito|\bstato\b|ergebnis|statut|estado|state\b|won/],
    not: /stage|fase|phase|etap|stufe|milestone|reason/,
    byContent: (column) => (hasOnlyOutcomes(column) ? column.filled : -1),
    why: valuesText,
  },
  pipeline: {
    holds: ({ distinct }) => distinct <= 60,
    names: [/pipeline|imbuto|funnel|sales process/],
    not: /stage|phase/,
    avoid: isIdLike,
    why: valuesText,
  },
  owner: {
    holds: ({ date, number, phone, name }) => !date && !number && !phone && !isIdName(name),
    names: [
      /owner|owned by|assigned|assegnat|responsab|responsible|proprietari|commerciale|verantwortlich|besitzer|betreuer|inhaber|sales ?(?:rep|person|agent)|seller|account manager|vendeur|venditore|\bagente?\b/,
      /^(?:user|rep|agent|manager|benutzer|utente)(?: (?:name|e ?mail))?$/,
    ],
    not: /team|group|type|phone/,
    why: valuesText,
  },
  created: {
    holds: ({ date }) => date !== undefined,
    names: [
      /creat|inseri[tm]|creazione|erstell|angelegt|\bcree\b|alta|added|add time|^data$|^date$|^datum$|activity date/,
      /^engage date$|\b(?:opened?|start(?:ed)?) (?:date|on|at)$|date entered/,
    ],
    not: NOT_CREATED,
    why: datesText,
  },
  happened: {
    holds: ({ date }) => date !== undefined,
    names: [
      /(?:activity|call|meeting|note|event|interaction|start|started|done|sent|completed) ?(?:date|time|at|on)|^date (?:start|sent|held)|^timestamp$/,
      /creat|inseri[tm]|creazione|erstell|angelegt|\bcree\b|alta|added|add time|date entered/,
      /\b(?:date|data|datum|at|on|time|fecha)\b/,
    ],
    not: NOT_CREATED,
    why: datesText,
  },
  label: { holds: ANY, names: [/^label$|^name$|^nome$|^bezeichnung$/], why: valuesText },
  subject: {
    holds: (column) => isText(column) && !isFew(column),
    names: SUBJECTS,
    why: TEXTS,
  },
  content: {
    holds: (column) => (column.words || column.html) && !isFew(column),
    names: [
      /content|body|^notes?$|^nota$|testo|\btext\b|comment|commento|bemerkung|inhalt|description|descrizione|message/,
      /\bnotes?\b|summary|feedback|transcript|snippet|detail/,
    ],
    byContent: (column) => (isProse(column) && column.length > 25 ? column.length : -1),
    why: TEXTS,
  },
  author: {
    holds: ({ name, length, date, number }) => !isIdName(name) && length <= 60 && !date && !number,
    names: [
      /author|autore|created by|autor|verfasser|^user name$|^owner$|^operatore$/,
      /owner|assigned to|logged by|\b(?:user|agent|rep|sender)\b/,
    ],
    why: valuesText,
  },
  title: {
    holds: isText,
    names: [
      /title|subject|oggetto|(?:deal|opportunity|potential) ?name|nome trattativa|titel|betreff|titre|asunto|bezeichnung|argomento/,
      /^(?:deal|opportunity|potential|trattativa|topic|name|nome|negocio|oportunidad|affaire|vorgang)$/,
    ],
    not: /job|salutation|^contact|owner/,
    byContent: (column) =>
      column.words &&
      !column.person &&
      column.distinct >= column.filled * 0.6 &&
      column.filled >= column.table.rows / 2 &&
      !PERSONAL.test(foldHeader(column.name))
        ? column.distinct
        : -1,
    why: TEXTS,
  },
} satisfies Readonly<Record<string, RoleSpec>>;

/** What a column is recognised as by its values and its header. */
export type ColumnRole = keyof typeof ROLES;
/** The `id` is found by more than that: see `idOf`. */
export type Role = ColumnRole | 'id';

/** The best column for a role, if any: by content first, then by header. */
export function roleOf(role: ColumnRole, columns: readonly ExportColumn[]): Finding | undefined {
  const { holds, names, not, avoid, byContent, why }: RoleSpec = ROLES[role];
  const headerOf = ({ name, table }: ExportColumn): string => foldHeader(name === '.' ? (table.list ?? '') : name);
  const able = columns.filter((column) => column.filled > 0 && holds(column) && not?.test(headerOf(column)) !== true);
  const rank = (column: ExportColumn): number => names.findIndex((each) => each.test(headerOf(column)));
  const avoided = (column: ExportColumn): number => Number(avoid?.(column) ?? false);
  const [named] = able
    .filter((column) => rank(column) >= 0)
    .sort((a, b) => avoided(a) - avoided(b) || rank(a) - rank(b));
  if (named) return { column: named, why: why(named), unnamed: false };
  if (!byContent) return undefined;
  const [found] = able.filter((column) => byContent(column) >= 0).sort((a, b) => byContent(b) - byContent(a));
  return found && { column: found, why: why(found), unnamed: true };
}

/** Whether a header and the values of the column fit a role. */
export function fits(role: ColumnRole, column: ExportColumn): boolean {
  return roleOf(role, [column])?.unnamed === false;
}

export function isIdName(name: string): boolean {
  return /(?:^| )ids?$/.test(foldHeader(name));
}

/** A column of phone numbers by name and values, since ids have similar values. */
export function isPhone(column: ExportColumn): boolean {
  return column.phone && fits('phone', column);
}

function isName({ person, email, phone, date, number }: ExportColumn): boolean {
  return person || (!email && !phone && !date && !number);
}

function isIdLike({ name, code, number }: ExportColumn): boolean {
  return isIdName(name) || code || number !== undefined;
}

const WON = /\b(?:won|win|vint[oa]|acquisit[oa]|gewonnen|gagnée?|ganad[oa]|success(?:ful)?)\b/i;
const LOST = /\b(?:lost|loss|pers[oa]|verloren|perdue?|perdid[oa]|unsuccessful)\b/i;
const OTHER_OUTCOME =
  /^(?:open|apert[oa]|offen|ouverte?|abiert[oa]|closed|pending|in progress|in corso|active|abandoned|abandonnée?|deleted|canceled|cancelled|on hold|stalled|none|new)$/i;

/** Few values, won or lost among them. */
function isOutcome(column: ExportColumn): boolean {
  return (
    column.distinct <= 8 && column.words && [...column.few().keys()].some((value) => outcomeOf(value) !== undefined)
  );
}

/** Nothing that a stage could be. */
function hasOnlyOutcomes(column: ExportColumn): boolean {
  return [...column.few().keys()].every((value) => outcomeOf(value) !== undefined || OTHER_OUTCOME.test(value));
}

/** What a value of an outcome column says. */
export function outcomeOf(value: string): 'won' | 'lost' | undefined {
  return LOST.test(value) ? 'lost' : WON.test(value) ? 'won' : undefined;
}
