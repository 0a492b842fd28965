/** What a pilot covers, as the survey and the summary say it. */
import { counted } from '../numbers.ts';

/** The kinds of features that a pilot covers: the words before the name of one, and their plurals. */
const FEATURE_KINDS = {
  entry: { one: 'entry', many: 'entries' },
  when: { one: '`when` at', many: 'answers of `when`' },
  map: { one: '`map` at', many: 'keys of `map`' },
  date: { one: 'date format at', many: 'date formats' },
  from: { one: '`from` at', many: 'alternatives of `from`' },
  default: { one: '`default` at', many: 'defaults' },
  stage: { one: 'stage', many: 'stages' },
  pipeline: { one: 'pipeline', many: 'pipelines' },
  owner: { one: 'owner', many: 'owners' },
  parent: { one: '', many: 'kinds of parents' },
  omission: { one: 'omission in', many: 'omissions' },
  warning: { one: 'warning', many: 'warnings' },
  value: { one: '', many: 'special values' },
  field: { one: 'field', many: 'fields' },
} as const;
export type FeatureKind = keyof typeof FEATURE_KINDS;

/** What the records chosen by `--pilot` use of all that the records of the input use. */
export interface PilotCounts {
  /** Records of the exports that were chosen; their parents come in addition. */
  readonly records: number;
  /** Events of these records and of their parents. */
  readonly events: number;
  /** By kind: how many features the chosen records have, of those that occur. */
  readonly features: Readonly<Partial<Record<FeatureKind, { readonly covered: number; readonly occurring: number }>>>;
}

/** A feature in words: `stage \`Won\``. */
export function featureText(kind: FeatureKind, name: string): string {
  return `${FEATURE_KINDS[kind].one} ${name}`.trimStart();
}

/** The features in words; fields, which are many, come last. */
export function featureTexts(features: readonly { readonly kind: FeatureKind; readonly name: string }[]): string[] {
  const kinds = Object.keys(FEATURE_KINDS);
  return features
    .toSorted((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind))
    .map(({ kind, name }) => featureText(kind, name));
}

/** One line about what is covered and, if there is such, one about what occurs but is not covered. */
export function pilotLines({ records, events, features }: PilotCounts, missed: readonly string[]): string[] {
  const kinds = (Object.keys(FEATURE_KINDS) as FeatureKind[]).flatMap((kind) => {
    const { covered, occurring } = features[kind] ?? { covered: 0, occurring: 0 };
    return occurring === 0 ? [] : [`${covered} of ${occurring} ${FEATURE_KINDS[kind].many}`];
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
