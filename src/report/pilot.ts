/** What a pilot covers, as the survey and the summary say it. */
import { counted } from '../terminal/numbers.ts';

/** The kinds of features that a pilot covers: the word before the name of one, where it needs one, and what one and several are called. */
const FEATURE_KINDS = {
  source: { one: 'source', single: 'source', many: 'sources' },
  entry: { one: '', single: 'entry', many: 'entries' },
  stage: { one: 'stage', single: 'stage', many: 'stages' },
  owner: { one: 'owner', single: 'owner', many: 'owners' },
  omission: { one: '', single: 'omission', many: 'omissions' },
  warning: { one: 'warning', single: 'warning', many: 'warnings' },
  field: { one: 'field', single: 'field', many: 'fields' },
} as const;
export type FeatureKind = keyof typeof FEATURE_KINDS;

/** The share of the features of the plan that the records chosen by `--pilot` show. */
export interface PilotCounts {
  /** Records of the exports that were chosen; their parents come in addition. */
  readonly records: number;
  /** Events of these records and of their parents. */
  readonly events: number;
  /** By kind: how many features the chosen records have, of those that occur. */
  readonly features: Readonly<Partial<Record<FeatureKind, { readonly covered: number; readonly occurring: number }>>>;
}

/** A feature in words: `stage Sales / Won`, `phone_number left out: bad_phone`. */
export function featureText({ kind, name }: { readonly kind: FeatureKind; readonly name: string }): string {
  return `${FEATURE_KINDS[kind].one} ${name}`.trimStart();
}

/** The features in words; fields, which are many, come last and together. */
export function featureTexts(features: readonly { readonly kind: FeatureKind; readonly name: string }[]): string[] {
  const kinds = Object.keys(FEATURE_KINDS);
  const others = features.filter(({ kind }) => kind !== 'field');
  const fields = features.filter(({ kind }) => kind === 'field').map(({ name }) => name);
  return [
    ...others.toSorted((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind)).map(featureText),
    ...(fields.length === 0 ? [] : [`fields ${fields.join(', ')}`]),
  ];
}

/** One line about covered features and, if there are any, one about features that are not covered. */
export function pilotLines({ records, events, features }: PilotCounts, missed: readonly string[]): string[] {
  const kinds = (Object.keys(FEATURE_KINDS) as FeatureKind[]).flatMap((kind) => {
    const { covered, occurring } = features[kind] ?? { covered: 0, occurring: 0 };
    return occurring === 0
      ? []
      : [`${covered} of ${occurring} ${occurring === 1 ? FEATURE_KINDS[kind].single : FEATURE_KINDS[kind].many}`];
  });
  const shown = missed.slice(0, MOST_SHOWN);
  const more = missed.length - shown.length;
  return [
    `pilot of ${counted(records, 'record')}, ${counted(events, 'event')} with their parents: ${kinds.join(', ')}`,
    ...(shown.length === 0
      ? []
      : [`in the input but not in the pilot: ${shown.join(', ')}${more > 0 ? `, and ${more} more` : ''}`]),
  ];
}

const MOST_SHOWN = 20;
