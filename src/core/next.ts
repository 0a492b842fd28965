/**
 * The next step for one record: wanted - known -> next step. Pure: no I/O, no clock.
 *
 * 1. `maybe` there: create it again under the same id, with what is wanted now. That settles it, whatever became of the first request.
 * 2. Not there: create it; or, where the mapping only updates it, update it, and `if_missing` decides what follows a 422.
 * 3. There: the fields that are not certain to be as wanted. Those that the service shows are read back first. What is ours and
 *    what `if_changed` allows goes as one update with exactly these fields; custom fields go as a whole.
 * 4. Somebody else's (409): `if_exists` decides.
 * 5. Fields that were sent and that the input no longer has cannot be cleared: they are reported as emptied.
 */
import {
  ABSENT,
  isAlike,
  isEmptied,
  UNKNOWN,
  valuesOf,
  wholeOf,
  type Body,
  type Hash,
  type Known,
  type ShownField,
  type ShownFields,
} from './known.ts';

/** What the present input wants of a record. */
export interface Wanted {
  /** `create`: this migration makes the record. `update`: the record exists already, and its fields are set. */
  readonly mode: 'create' | 'update';
  /** The hash of mode and data. */
  readonly content: string;
  readonly fields: ReadonlyMap<string, Hash>;
  readonly ifExists: 'reject' | 'skip' | 'update';
  readonly ifMissing: 'reject' | 'skip' | 'create';
  /** Of a field by its name, also of one that the input no longer has. */
  readonly policyOf: (field: string) => FieldPolicy;
}

interface FieldPolicy {
  readonly ifChanged: 'report' | 'ignore' | 'update';
  readonly ifEdited: 'keep' | 'overwrite';
}

/** `id`: of a request that goes out once more; otherwise it has a new one. */
export type Step =
  | { readonly kind: 'create'; readonly id?: string | undefined; readonly fields: Body }
  | { readonly kind: 'update'; readonly id?: string | undefined; readonly fields: Body }
  /** Read the record back, then ask again with what it shows. */
  | { readonly kind: 'read' }
  /** `skipped`: it stays as it is, since it is somebody else's (`exists`) or not there (`missing`). */
  | { readonly kind: 'end'; readonly skipped?: 'exists' | 'missing' };

/**
 * For a field whose value is not certainly the wanted one:
 * - `sent`: it goes out. `overwritten`: it goes out over somebody's edit.
 * - `reported`, `ignored`: it has changed, and `if_changed` does not send it.
 * - `uncertain`: a request that set it got no answer, and no update may set it.
 * - `kept`: somebody has edited it, and the input has changed too. `edited`: only somebody has.
 * - `not_comparable`: the service shows it in a form that nobody can interpret.
 * - `emptied`: it was sent, and the input no longer has it.
 */
export type Verdict =
  'sent' | 'overwritten' | 'reported' | 'ignored' | 'uncertain' | 'kept' | 'edited' | 'not_comparable' | 'emptied';

export interface Next {
  readonly step: Step;
  readonly verdicts: ReadonlyMap<string, Verdict>;
}

const NONE: ReadonlyMap<string, Verdict> = new Map();

/**
 * `shown`: what the service shows of the record, where it was read back (pass the result of `seen` as `known` then); undefined if it was
 * not. `isShown`: whether the service shows a field at all and the record can be read.
 */
export function next(wanted: Wanted, known: Known, isShown: (field: string) => boolean, shown?: ShownFields): Next {
  if (known.exists === 'maybe') return only({ kind: 'create', id: known.create?.id, fields: all(wanted) });
  if (known.exists === 'no') return only(toBegin(wanted, known));
  const isStrange = known.whose === 'other' && wanted.mode === 'create' && known.serviceId === undefined;
  if (isStrange && wanted.ifExists === 'reject') return only({ kind: 'create', fields: all(wanted) });
  if (isStrange && wanted.ifExists === 'skip') return only({ kind: 'end', skipped: 'exists' });
  return toRepair(wanted, known, isShown, shown);
}

/** Rule 2. */
function toBegin(wanted: Wanted, known: Known): Step {
  const fields = all(wanted);
  if (wanted.mode === 'create') return { kind: 'create', fields };
  const wasRefused = known.missing === wanted.content;
  if (wasRefused && wanted.ifMissing === 'skip') return { kind: 'end', skipped: 'missing' };
  if (wasRefused && wanted.ifMissing === 'create') return { kind: 'create', fields };
  const { open } = known;
  const isSame = open?.kind === 'update' && isSubset(open.fields, fields) && isSubset(fields, open.fields);
  return { kind: 'update', id: isSame ? open.id : undefined, fields };
}

/** Rules 3 and 5. */
function toRepair(
  wanted: Wanted,
  known: Known,
  isShown: (field: string) => boolean,
  shown: ShownFields | undefined,
): Next {
  const verdicts = new Map<string, Verdict>();
  for (const [field, value] of wanted.fields) {
    const verdict = judge(field, value, wanted.policyOf(field), known, isShown(field), shown);
    if (verdict === 'unread') return only({ kind: 'read' });
    if (verdict !== undefined) verdicts.set(field, verdict);
  }
  for (const [field, set] of Object.entries(known.fields)) {
    if (wanted.fields.has(field) || !isEmptied(set) || wanted.policyOf(field).ifChanged === 'ignore') continue;
    if (isShown(field) && shown === undefined) return only({ kind: 'read' });
    verdicts.set(field, 'emptied');
  }
  const toSend = [...verdicts]
    .filter(([, verdict]) => verdict === 'sent' || verdict === 'overwritten')
    .map(([field]) => field);
  if (toSend.length === 0) return { step: { kind: 'end' }, verdicts };
  return { step: updateOf(toSend, wanted, known, verdicts), verdicts };
}

/** Undefined if the field is as wanted. */
function judge(
  field: string,
  value: Hash,
  { ifChanged, ifEdited }: FieldPolicy,
  known: Known,
  isShown: boolean,
  shown: ShownFields | undefined,
): Verdict | 'unread' | undefined {
  const set = valuesOf(known, field);
  const what = shown && Object.hasOwn(shown, field) ? shown[field] : undefined;
  if (set.length === 1 && set[0] === value) return what && isEdit(what, set) ? 'edited' : undefined;
  // A field of somebody else's record that we never set is set, whatever its value is.
  if (known.whose === 'other' && !Object.hasOwn(known.fields, field)) return 'sent';
  const isUncertain = set.includes(value) || set.includes(UNKNOWN);
  if (ifChanged === 'ignore' && !set.includes(value)) return 'ignored';
  if (ifChanged !== 'update' && !isUncertain) return 'reported';
  if (isShown && shown === undefined) return 'unread';
  if (what?.kind === 'not_comparable') {
    return ifChanged === 'update' && ifEdited === 'overwrite' ? 'overwritten' : 'not_comparable';
  }
  if (what && isEdit(what, known.whose === 'other' ? set : set.filter((hash) => hash !== UNKNOWN))) {
    if (ifChanged !== 'update') return 'reported';
    if (ifEdited === 'overwrite') return 'overwritten';
    // After a newer state was lost, nobody knows whether a person has set it or we have.
    const isDoubted = known.whose === 'ours' && set.length > 1 && set.includes(UNKNOWN);
    return isDoubted ? 'reported' : 'kept';
  }
  if (ifChanged === 'update') return 'sent';
  return isUncertain ? 'uncertain' : 'reported';
}

/** Whether the service shows what none of these values explains. */
function isEdit(what: ShownField, set: readonly Hash[]): boolean {
  if (set.includes(UNKNOWN)) return false;
  if (what.kind === 'empty') return !set.includes(ABSENT);
  return what.kind === 'value' && !set.some((hash) => isAlike(hash, what.hash));
}

/** One update with these fields; custom fields as a whole. A request that is open and still wanted goes out once more instead. */
function updateOf(
  toSend: readonly string[],
  wanted: Wanted,
  known: Known,
  verdicts: ReadonlyMap<string, Verdict>,
): Step {
  const wholes = new Set(toSend.map(wholeOf));
  const fields = Object.fromEntries([...wanted.fields].filter(([field]) => wholes.has(wholeOf(field))));
  const { open } = known;
  const isWanted =
    open?.kind === 'update' &&
    isSubset(open.fields, all(wanted)) &&
    isSubset(fields, open.fields) &&
    Object.keys(open.fields).every((field) => Object.hasOwn(fields, field) || !verdicts.has(field));
  return isWanted ? { kind: 'update', id: open.id, fields: open.fields } : { kind: 'update', fields };
}

function all({ fields }: Wanted): Body {
  return Object.fromEntries(fields);
}

function only(step: Step): Next {
  return { step, verdicts: NONE };
}

/** Whether every value of `one` is in `other`. */
function isSubset(one: Body, other: Body): boolean {
  return Object.entries(one).every(([field, value]) => Object.hasOwn(other, field) && other[field] === value);
}
