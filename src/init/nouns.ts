/** The kinds of exports, and the nouns for them. */
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
