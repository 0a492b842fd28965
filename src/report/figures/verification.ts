/** The figures of `verify`: whether the service shows what was sent. */
import type { ExitCode } from '../../errors.ts';
import { comparedFields, ENTITIES, kindOf, type ComparedField } from '../../kinds/index.ts';
import type { Entity } from '../../model.ts';
import { valueText } from '../../mapping/values/result.ts';
import type { Likeness } from '../../plan/account/fields.ts';
import { isLikelyForm } from '../../plan/account/forms.ts';
import type { StoredVerification } from '../files/documents.ts';
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
export const VERDICT_NAMES = Object.keys(VERDICTS) as readonly FieldVerdict[];

export type FieldCounts = Record<FieldVerdict, number>;

export interface EntityResult {
  /** Acknowledged in the checkpoint. */
  readonly acknowledged: number;
  /** Acknowledged, but their service id is unknown, so that they cannot be read back. */
  readonly without_id: number;
  /** In the sample, but without a valid event in the current input. */
  not_in_input: number;
  /** Requested from the service, missing ones included. */
  read_back: number;
  missing: number;
  /** Without a difference in any field that was shown. */
  equal: number;
  /** The service has them, or may have them, and does not let this key read them (403). */
  refused: number;
  readonly not_shown: string | null;
  readonly fields: Readonly<Record<string, FieldCounts>>;
}

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

/** As `--json` prints it. */
export interface Verification {
  readonly migration: string;
  readonly base_url: string;
  readonly exit: { readonly code: ExitCode; readonly reason: keyof typeof ENDINGS };
  readonly sample: number | 'all';
  readonly finished_at: string;
  readonly entities: Readonly<Record<Entity, EntityResult>>;
  /** The first differences of each field and kind. */
  readonly first_differences: readonly FieldDifference[];
  readonly requests: number;
  /** The plan that was compared with: that of the run, or where there is none, of the dry run. */
  readonly plan: StoredVerification['plan'];
  readonly files: { readonly verify: string };
}

const ENDINGS = {
  same: ['VERIFIED', 'done', undefined],
  different: ['DIFFERENT', 'failed', undefined],
  missing: ['MISSING', 'failed', undefined],
  other_form: ['UNCLEAR', 'partly', 'No record differs, but some values are shown in a form that cannot be compared.'],
  refused: ['NOT READ', 'partly', undefined],
} as const satisfies Readonly<Record<string, readonly [word: string, mood: Mood, why: string | undefined]>>;

/** `names`: of stages, pipelines and users, by their ids in lower case. */
export function verificationFigures(found: Verification, names: ReadonlyMap<string, string>): Figures {
  const [word, mood, why] = ENDINGS[found.exit.reason];
  const stored = storedOf(found);
  const [result = '', ...rest] = verificationTexts(stored);
  return {
    verdict: { word, text: `: ${result}`, mood, details: [...(why === undefined ? [] : [why]), ...rest] },
    sections: present([comparedSection(stored), differencesSection(found, names), notComparedSection(found)]),
  };
}

/** Counts and names of fields alone: what the checkpoint keeps. */
export function storedOf({ entities, finished_at: at, plan, exit }: Verification): StoredVerification {
  const records = Object.entries(entities).map(([entity, each]) => {
    const { acknowledged, read_back: read, equal, missing, not_shown } = each;
    const hidden = Object.entries(each.fields).filter(([, counts]) =>
      VERDICT_NAMES.every((verdict) => (verdict === 'not_comparable') === counts[verdict] > 0),
    );
    const counts = { acknowledged, read_back: read, equal, missing, different: read - equal - missing };
    return [entity, { ...counts, not_shown, not_readable: hidden.map(([name]) => name) }];
  });
  return { at, plan, reason: exit.reason, records: Object.fromEntries(records) as StoredVerification['records'] };
}

/** `46 of 46 records match in every field that can be read back.`, what cannot be, and with what they were compared. */
export function verificationTexts({ records, plan }: StoredVerification): string[] {
  const parts = ENTITIES.flatMap((entity) => (records[entity] ? [{ entity, ...records[entity] }] : []));
  const sum = (key: 'read_back' | 'equal'): number => parts.reduce((total, each) => total + each[key], 0);
  const fields = parts.flatMap(({ entity, not_readable: hidden }) =>
    hidden.map((field) => `${fieldWords(field)} of ${kindOf(entity).words[1]}`),
  );
  const unseen = parts.filter((each) => each.not_shown !== null);
  const digest = plan.digest === null ? '' : ` (${plan.digest})`;
  return [
    `${numberText(sum('equal'))} of ${counted(sum('read_back'), 'record')} ${sum('read_back') === 1 ? 'matches' : 'match'} in every field that can be read back.`,
    ...(fields.length > 0 ? [`Not readable: ${enumerated(fields, 'and')} (not shown by the service).`] : []),
    ...unseen.map(
      ({ entity, acknowledged, not_shown: why }) =>
        `Not readable: ${counted(acknowledged, kindOf(entity).words[0])} (${why!}).`,
    ),
    `Compared with the plan ${plan.is_dry_run ? 'of a dry run' : 'that was sent'}${digest}.`,
  ];
}

export function comparedSection({ records }: StoredVerification): Section {
  return sectionOf({
    id: 'verified',
    title: 'Compared with the service',
    columns: [
      column('label'),
      column('number', 'sent'),
      column('number', 'read back'),
      column('number', 'equal'),
      column('number', 'different'),
      column('number', 'missing'),
    ],
    rows: ENTITIES.flatMap((entity): Cells[] => {
      const each = records[entity];
      if (!each || each.acknowledged === 0) return [];
      const name = capital(kindOf(entity).words[1]);
      return [[name, each.acknowledged, each.read_back, each.equal, each.different, each.missing]];
    }),
  });
}

/** One row for each field and kind of difference, with its first example; the gravest first. */
function differencesSection(
  { entities, first_differences: first }: Verification,
  names: ReadonlyMap<string, string>,
): Section {
  const exampleOf = (entity: Entity, field: string, verdict: FieldDifference['verdict']): string => {
    const found = first.find((each) => each.entity === entity && each.field === field && each.verdict === verdict);
    return found ? exampleText(found, names) : '';
  };
  const all = Object.entries<EntityResult>(entities);
  const whole = all.flatMap(([entity, { missing, refused }]): Cells[] => {
    const several = kindOf(entity).words[1];
    return [
      [`${several}: no longer in the service`, missing, exampleOf(entity, '', 'missing')],
      [`${several}: this key is not allowed to read them`, refused, exampleOf(entity, '', 'refused')],
    ];
  });
  const fields = (Object.keys(DIFFERENCES) as (keyof typeof DIFFERENCES)[]).flatMap((verdict) =>
    all.flatMap(([entity, { fields: counts, read_back: read, missing }]) =>
      comparedFields(entity).map(({ name }): Cells => {
        const count = counts[name]![verdict];
        const isForm = verdict === 'other_form' && isLikelyForm({ read: read - missing, unexplained: count });
        const text = `${kindOf(entity).words[1]}, ${fieldWords(name)}: ${DIFFERENCES[verdict]}`;
        const why = isForm ? '; with so many, the service probably writes it in another form' : '';
        return [text + why, count, exampleOf(entity, name, verdict)];
      }),
    ),
  );
  return sectionOf({
    id: 'differences',
    title: 'DIFFERENCES',
    columns: [column('text'), column('number', 'records'), column('place')],
    rows: [...whole, ...fields].filter(([, count]) => count !== 0),
    limit: LIMITS.differences,
  });
}

/** `lead 5: sent `A`, shown `B`` */
function exampleText(difference: FieldDifference, names: ReadonlyMap<string, string>): string {
  const { entity, external_id: id, verdict, expected, actual } = difference;
  const record = `${entity} ${id}`;
  if (verdict === 'missing' || verdict === 'refused') return [record, actual].filter((part) => part !== '').join(': ');
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
  const rows = Object.entries<EntityResult>(entities).flatMap(([entity, each]): Cells[] => {
    const several = kindOf(entity).words[1];
    if (each.not_shown !== null) return [];
    const { without_id: without, not_in_input: gone, acknowledged, read_back: read, refused } = each;
    return [
      [
        sample === 'all' ? `${several}: not in the list of the service` : `${several}: not in the sample of ${sample}`,
        acknowledged - without - gone - read - refused,
      ],
      [`${several}: without a known service id (skipped or replayed)`, without],
      [`${several}: without a valid event in the current input`, gone],
      ...comparedFields(entity).map((field): Cells => {
        const { not_comparable: count, ...others } = each.fields[field.name]!;
        const isPart = Object.values(others).some((other) => other > 0);
        return [`${several}, ${fieldWords(field.name)}: ${whyNotComparable(field)}`, isPart ? count : 0];
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
