import { isUpdate, KINDS, kindOfType, PERSON, type Kind } from '../kinds/index.ts';
import type { EventType } from '../model.ts';

interface Policy {
  /** The first one is the default. */
  readonly choices: readonly string[];
  readonly appliesTo: (type: EventType) => boolean;
  /** When it decides, for the reference. */
  readonly doc: string;
}

const isUpdatable = (type: EventType): boolean => kindOfType(type).isUpdatable;

const mayLackParent = ({ parents, needsParent = false }: Kind): boolean => parents.length > 0 && !needsParent;

/** Parents that one record can name together; the one that counts otherwise comes first. */
const RIVALS = KINDS.flatMap(({ parents }) => (parents.length > 1 ? parents.map(({ kind }) => kind).toReversed() : []));

/** What an entry can decide about special cases. The schema of mapping files and the reference are derived from it. */
export const POLICIES = {
  if_exists: {
    choices: ['reject', 'skip', 'update'],
    appliesTo: (type) => !isUpdate(type),
    doc: 'the record already exists in the service, created by someone else (409); `update` (leads and deals only) overwrites it',
  },
  if_changed: {
    /** Or a list of fields. */
    choices: ['report', 'ignore', 'update'],
    appliesTo: () => true,
    doc: 'the record was sent before, and its content in the export has changed since; a list sends only those fields',
  },
  if_missing: {
    choices: ['reject', 'skip', 'create'],
    appliesTo: isUpdate,
    doc: 'the record to update does not exist (422)',
  },
  if_parent_missing: {
    choices: ['block', 'send', 'omit', 'skip'],
    appliesTo: (type) => kindOfType(type).parents.length > 0,
    doc: 'the parent is neither in the input nor acknowledged; `omit` (deals only) sends the event without it, `skip` leaves the record out and lists it in `left_out.csv`',
  },
  if_both: {
    choices: ['reject', ...RIVALS],
    appliesTo: (type) => kindOfType(type).parents.length > 1,
    doc: 'a comment names both a lead and a deal: which one to keep',
  },
  if_edited: {
    choices: ['keep', 'overwrite'],
    appliesTo: isUpdatable,
    doc: 'a field that `if_changed` would send has been edited in the service since it was sent',
  },
  if_contact_exists: {
    choices: ['report', 'reject', 'ignore'],
    appliesTo: (type) => type === `${PERSON}/created`,
    doc: 'the account has a lead with the same e-mail address or phone number that this migration did not create; `ignore` does not check',
  },
  duplicates: {
    choices: ['reject', 'first', 'last'],
    appliesTo: () => true,
    doc: 'multiple records have the same external id but different content',
  },
} as const satisfies Readonly<Record<string, Policy>>;

type ChoiceOf<Name extends keyof typeof POLICIES> =
  (typeof POLICIES)[Name]['choices'][number] | (Name extends 'if_changed' ? readonly string[] : never);

/** An entry's policies with the defaults filled in. */
export type Policies = { readonly [Name in keyof typeof POLICIES]: ChoiceOf<Name> };

/** Those that an entry sets. */
export type PoliciesGiven = { readonly [Name in keyof Policies]?: Policies[Name] | undefined };

/** Those that `defaults` sets: choices only, since lists of fields belong to one type. */
export type DefaultPolicies = {
  readonly [Name in keyof typeof POLICIES]?: string | undefined;
};

export const POLICY_NAMES = Object.keys(POLICIES) as (keyof Policies)[];

/** The choices that entries of this type have: not every kind can be updated, or be sent without its parent. */
export function choicesOf(name: keyof Policies, type: EventType): readonly string[] {
  const kind = kindOfType(type);
  return POLICIES[name].choices.filter(
    (choice) => (choice !== 'update' || kind.isUpdatable) && (choice !== 'omit' || mayLackParent(kind)),
  );
}

/** What the entry sets, else what `defaults` of the mapping sets where entries of this type have that choice, else the first choice. */
export function policiesOf(
  entry: PoliciesGiven & { readonly type: EventType },
  defaults: DefaultPolicies = {},
): Policies {
  const { type } = entry;
  const general = (name: keyof Policies): string | undefined => {
    const choice = defaults[name];
    const applies = choice !== undefined && POLICIES[name].appliesTo(type) && choicesOf(name, type).includes(choice);
    return applies ? choice : undefined;
  };
  const chosen = POLICY_NAMES.map((name) => [name, entry[name] ?? general(name) ?? POLICIES[name].choices[0]]);
  return Object.fromEntries(chosen) as Policies;
}
