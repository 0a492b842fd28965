/** The figures of `verify`: whether the service shows what was sent. */
import { comparedFields, ENTITIES, kindOf, type ComparedField } from '../../kinds/index.ts';
import type { Entity } from '../../model.ts';
import { valueText } from '../../mapping/values/result.ts';
import type { Likeness } from '../../plan/account/fields.ts';
import { isLikelyForm } from '../../plan/account/forms.ts';
import type { StoredVerification, VerifiedRecords } from '../files/documents.ts';
import { counted, enumerated, numberText } from '../words/numbers.ts';
import { capital, fieldWords } from '../words/terms.ts';
import { column, LIMITS, present, sectionOf, type Cells, type Figures, type Mood, type Section } from './figures.ts';

/**
 * `edited`: the service has a different value, and the record was updated after our last write. `changed`: the service
 * has a different value, and the input or the mapping has changed since the value was sent.
 */
export type FieldVerdict = Likeness | 'edited' | 'changed';

/** What is said of a field of several records; the gravest first. What is equal, or was not shown, is no difference. */
const DIFFERENCES = {
  different: 'not as it was sent',
  changed: 'changed in the input or the mapping since it was sent',
  other_form: 'shown in a form that cannot be compared',
  edited: 'edited in the service after it was sent',
  normalised: 'the same value in another form',
} as const satisfies Partial<Record<FieldVerdict, string>>;

export const VERDICTS: Readonly<Record<FieldVerdict, string>> = {
  same: 'same',
  ...DIFFERENCES,
  not_comparable: 'not comparable',
};

export interface FieldDifference {
  readonly entity: Entity;
  readonly external_id: string;
  readonly service_id: string;
  /** Empty if the whole record is missing or could not be read. */
  readonly field: string;
  readonly verdict: FieldVerdict | 'missing' | 'refused';
  readonly expected: string;
  /** Of a record that was refused: what the service said; of a missing one: what it was merged into, if the service says. */
  readonly actual: string;
  /** ISO 8601; empty if the service does not return it. */
  readonly written_at: string;
  readonly updated_at: string;
}

/** Lists every difference. */
export const VERIFY_FILE = 'verify.csv';

/** As `--json` prints it. */
export interface Verification extends StoredVerification {
  /** The first difference of each field and kind. */
  readonly first_differences: readonly FieldDifference[];
}

/** The gravest first. Only the last one is a success. */
const ENDINGS = {
  missing: ['MISSING', 'failed'],
  different: ['DIFFERENT', 'failed'],
  other_form: ['UNCLEAR', 'partly'],
  refused: ['NOT READ', 'partly'],
  not_compared: ['NOT VERIFIED', 'failed'],
  none_equal: ['NOT VERIFIED', 'failed'],
  same: ['VERIFIED', 'done'],
} as const satisfies Readonly<Record<string, readonly [word: string, mood: Mood]>>;
type VerificationEnd = keyof typeof ENDINGS;

export function endingOf(results: readonly VerifiedRecords[]): VerificationEnd {
  const sum = (key: 'missing' | 'refused' | 'equal'): number => results.reduce((total, each) => total + each[key], 0);
  const verdicts = results.flatMap(({ fields }) => Object.values(fields).flatMap((counts) => Object.keys(counts)));
  const has = (...names: readonly FieldVerdict[]): boolean => names.some((name) => verdicts.includes(name));
  const found = {
    missing: sum('missing') > 0,
    different: has('different', 'changed'),
    other_form: has('other_form'),
    refused: sum('refused') > 0,
    not_compared: !has('same', 'normalised', 'edited'),
    none_equal: sum('equal') === 0,
    same: true,
  } satisfies Record<VerificationEnd, boolean>;
  return (Object.keys(ENDINGS) as VerificationEnd[]).find((reason) => found[reason])!;
}

/** `names`: of stages, pipelines and users, by their ids in lower case. */
export function verificationFigures(found: Verification, names: ReadonlyMap<string, string>): Figures {
  const [word, mood] = ENDINGS[found.exit.reason as VerificationEnd];
  const [result = '', ...details] = verificationTexts(found);
  return {
    verdict: { word, text: `: ${result}`, mood, details },
    sections: present([comparedSection(found), differencesSection(found, names), notComparedSection(found)]),
  };
}

/**
 * `a sample of 50 of 900 records: 46 of 46 records match in every field that can be read back. Not readable: title of deals.`; why a kind is
 * not shown, and with what they were compared.
 */
export function verificationTexts({ entities, plan, sample, exit }: StoredVerification): string[] {
  const parts = ENTITIES.flatMap((entity) =>
    entities[entity] ? [{ ...entities[entity], words: kindOf(entity).words }] : [],
  );
  const sum = (key: 'read_back' | 'equal' | 'unreadable' | 'acknowledged'): number =>
    parts.reduce((total, each) => total + each[key], 0);
  const hidden = parts.flatMap(({ fields, words }) =>
    Object.entries(fields)
      .filter(([, counts]) => Object.keys(counts).join() === 'not_comparable')
      .map(([field]) => `${fieldWords(field)} of ${words[1]}`),
  );
  const [read, all] = [sum('read_back'), sum('acknowledged')];
  const compared = read - sum('unreadable');
  const of = sample === 'all' || read >= all ? '' : `a sample of ${numberText(read)} of ${counted(all, 'record')}: `;
  const match = `${of}${numberText(sum('equal'))} of ${counted(compared, 'record')} ${compared === 1 ? 'matches' : 'match'} in every field that can be read back.`;
  const notShown = hidden.length > 0 ? ` Not readable: ${enumerated(hidden, 'and')} (not shown by the service).` : '';
  const digest = plan.digest === null ? '' : ` (${plan.digest})`;
  return [
    `${exit.reason === 'not_compared' ? 'nothing was compared.' : match}${notShown}`,
    ...parts.flatMap(({ acknowledged, not_shown: why, words }) =>
      why === null ? [] : [`Not readable: ${counted(acknowledged, words[0])} (${why}).`],
    ),
    `Compared with the plan ${plan.is_dry_run ? 'of a dry run' : 'that was sent'}${digest}.`,
  ];
}

export function comparedSection({ entities }: StoredVerification): Section {
  return sectionOf({
    id: 'verified',
    title: 'Compared with the service',
    columns: [
      column('label'),
      ...['sent', 'read back', 'equal', 'different', 'missing'].map((head) => column('number', head)),
    ],
    rows: ENTITIES.flatMap((entity): Cells[] => {
      const { acknowledged = 0, read_back: read = 0, equal = 0, missing = 0, unreadable = 0 } = entities[entity] ?? {};
      const name = capital(kindOf(entity).words[1]);
      return acknowledged === 0
        ? []
        : [[name, acknowledged, read, equal, read - equal - missing - unreadable, missing]];
    }),
  });
}

/** One row for each field and kind of difference, with its first example; the gravest first. */
function differencesSection(
  { entities, first_differences: first }: Verification,
  names: ReadonlyMap<string, string>,
): Section {
  const verdicts = ['missing', 'refused', ...Object.keys(DIFFERENCES)];
  const rows = first
    .toSorted((one, other) => verdicts.indexOf(one.verdict) - verdicts.indexOf(other.verdict))
    .map((each): Cells => {
      const { entity, field, verdict } = each;
      const [result, several] = [entities[entity]!, kindOf(entity).words[1]];
      if (verdict === 'missing')
        return [`${several}: no longer in the service`, result.missing, exampleText(each, names)];
      if (verdict === 'refused')
        return [`${several}: this key is not allowed to read them`, result.refused, exampleText(each, names)];
      const count = result.fields[field]![verdict]!;
      const isForm =
        verdict === 'other_form' && isLikelyForm({ read: result.read_back - result.missing, unexplained: count });
      const why = isForm ? '; with so many, the service probably writes it in another form' : '';
      return [`${several}, ${fieldWords(field)}: ${VERDICTS[verdict]}${why}`, count, exampleText(each, names)];
    });
  return sectionOf({
    id: 'differences',
    title: 'DIFFERENCES',
    columns: [column('text'), column('number', 'records'), column('place')],
    rows,
    limit: LIMITS.differences,
  });
}

/** `lead 5: sent `A`, shown `B`` */
function exampleText(difference: FieldDifference, names: ReadonlyMap<string, string>): string {
  const { entity, external_id: id, verdict, expected, actual } = difference;
  const record = `${entity} ${id}`;
  if (verdict === 'missing' || verdict === 'refused') return actual === '' ? record : `${record}: ${actual}`;
  const value = (text: string): string => valueText(names.get(text.toLowerCase()) ?? text);
  return `${record}: ${verdict === 'changed' ? 'now' : 'sent'} ${value(expected)}, shown ${value(actual)}`;
}

export function whyNotComparable({ parent, checked }: ComparedField): string {
  if (checked.length === 0) return 'the service does not return it';
  return parent !== undefined
    ? 'its parent is not part of this migration, or the service does not return it'
    : 'the service left it out of its answer';
}

/** What an acknowledged record was not compared for; fields that no answer has are in the verdict. */
function notComparedSection({ entities, sample }: Verification): Section {
  const rows = Object.entries<VerifiedRecords>(entities).flatMap(([entity, each]): Cells[] => {
    const several = kindOf(entity).words[1];
    if (each.not_shown !== null) return [];
    const { without_id: without, not_in_input: gone, acknowledged, read_back: read, refused, unreadable } = each;
    const where = sample === 'all' ? 'list of the service' : `sample of ${sample}`;
    return [
      [`${several}: not in the ${where}`, acknowledged - without - gone - read - refused],
      [`${several}: without a known service id (skipped or replayed)`, without],
      [`${several}: without a valid event in the current input`, gone],
      [`${several}: the service shows none of the fields that were sent`, unreadable],
      ...comparedFields(entity).flatMap((field): Cells[] => {
        const { not_comparable: count = 0, ...others } = each.fields[field.name] ?? {};
        if (Object.keys(others).length === 0) return [];
        return [[`${several}, ${fieldWords(field.name)}: ${whyNotComparable(field)}`, count]];
      }),
    ];
  });
  return sectionOf({
    id: 'not-compared',
    title: 'Not compared',
    columns: [column('text'), column('number', 'records')],
    rows: rows.filter(([, count]) => count !== 0),
    limit: LIMITS.notCompared,
  });
}
