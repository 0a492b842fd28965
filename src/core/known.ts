/**
 * The values that the service may have of one record, given every request and answer so far. Pure: no I/O, no clock.
 *
 * | of a record | is |
 * | --- | --- |
 * | `exists` | `no`; `maybe`: a request to create it got no definite answer; `yes` |
 * | `whose` | `ours`; or somebody `other`'s: 409 under an id that was not processed, or a record that only updates name |
 * | `fields` | for each field the *set* of values that it may have; one element: it is certain |
 * | `create` | the id under which it was first tried to be created, kept until there is a definite answer, and every body that went out under it; none after `purge` |
 * | `open` | the last request without a definite answer |
 *
 * Only three things change it: `opened`, before a request goes out; `answered`; and `seen`, when the record was read back. A state that is
 * older than another one, which is lost, is `doubted` once.
 */

/** A value as 24 hexadecimal digits: 12 of the value exactly, 12 of its normal form (see `store/field-hashes`). */
export type Hash = string;
/** The field has no value. */
export const ABSENT: Hash = '-';
/** The field may have any value. */
export const UNKNOWN: Hash = '?';

/** Values by field; a field that is missing has none. */
export type Body = Readonly<Record<string, Hash>>;

export interface Request {
  readonly kind: 'create' | 'update';
  /** The envelope id. */
  readonly id: string;
  readonly fields: Body;
}

export interface Known {
  readonly exists: 'no' | 'maybe' | 'yes';
  readonly whose: 'ours' | 'other';
  readonly fields: Readonly<Record<string, readonly Hash[]>>;
  readonly create?: { readonly id: string; readonly bodies: readonly Body[] } | undefined;
  readonly open?: Request | undefined;
  readonly serviceId?: string | undefined;
  /** What updates without an answer may have set, should the record turn out to be somebody else's. */
  readonly others?: Known['fields'] | undefined;
  /** The content of the update that the service refused because there is no such record. */
  readonly missing?: string | undefined;
}

export const NOTHING_KNOWN: Known = { exists: 'no', whose: 'ours', fields: {} };

export type RequestEnd =
  | {
      readonly kind: 'acknowledged';
      /** The service had processed this id before. */
      readonly deduplicated: boolean;
      /** An earlier attempt of this run under this id may have arrived. */
      readonly mayHaveArrived: boolean;
      readonly serviceId: string;
    }
  /** Definite: the request was not processed. */
  | { readonly kind: 'refused'; readonly why: 'exists' | 'missing' | 'other' }
  /** It may have been processed, or may still be. */
  | { readonly kind: 'none' };

/** What a field may have. */
export function valuesOf({ exists, whose, fields }: Known, field: string): readonly Hash[] {
  return (
    (Object.hasOwn(fields, field) ? fields[field] : undefined) ?? [
      exists === 'no' || whose === 'other' ? UNKNOWN : ABSENT,
    ]
  );
}

/**
 * Custom fields are one field: it is not published whether an update merges or replaces them, so they go as a whole.
 * Returns the name of the whole for `custom_params.origin`, and the field itself for others.
 */
export function wholeOf(field: string): string {
  const dot = field.indexOf('.');
  return dot < 0 ? field : field.slice(0, dot);
}

/** Before the request goes out: each field may have the new value from now on. */
export function opened(known: Known, request: Request): Known {
  if (request.kind === 'create') {
    const earlier = known.exists === 'maybe' ? (known.create?.bodies ?? [anyBody(known)]) : [];
    const bodies = earlier.some((body) => isSameBody(body, request.fields)) ? earlier : [...earlier, request.fields];
    const create = { id: request.id, bodies };
    const others = known.exists === 'maybe' ? known.others : known.fields;
    return { exists: 'maybe', whose: 'ours', fields: anyOf(bodies), create, open: request, others };
  }
  const fields: Record<string, readonly Hash[]> = { ...known.fields };
  for (const [field, value] of Object.entries(request.fields)) fields[field] = union(valuesOf(known, field), value);
  const wholes = new Set(Object.keys(request.fields).map(wholeOf));
  for (const field of Object.keys(known.fields)) {
    const isLeftOut = !Object.hasOwn(request.fields, field) && wholes.has(wholeOf(field));
    if (isLeftOut) fields[field] = union(valuesOf(known, field), ABSENT);
  }
  return { ...known, whose: known.exists === 'no' ? 'other' : known.whose, fields, open: request };
}

interface Setting {
  /** The hash of what is wanted. */
  readonly content: string;
  /** Whether the service shows a field. */
  readonly isShown: (field: string) => boolean;
  /** This checkpoint took over from one that is lost (`--adopt`): it does not know every body that went out under an id. */
  readonly isAdopted: boolean;
}

/** After the request was answered. `before`: what was known before it was opened. */
export function answered(
  before: Known,
  request: Request,
  answer: RequestEnd,
  { content, isShown, isAdopted }: Setting,
): Known {
  if (answer.kind === 'none') return opened(before, request);
  if (answer.kind === 'refused') return refused(before, answer.why, content);
  const { serviceId } = answer;
  if (request.kind === 'update') {
    const fields = { ...opened(before, request).fields, ...certain(request.fields) };
    const whose = before.exists === 'yes' ? before.whose : 'other';
    return { exists: 'yes', whose, fields, serviceId };
  }
  const made = { exists: 'yes', whose: 'ours', serviceId } as const;
  if (!answer.deduplicated) return { ...made, fields: certain(request.fields) };
  // It is as one of the bodies that went out under this id.
  const { fields: possible } = opened(before, request);
  if (!isAdopted && isOwnRepeat(before, request, answer)) return { ...made, fields: possible };
  // Sent by a checkpoint that is lost: the record is ours, and what the service shows of it has yet to be read back. What it does not
  // show counts as sent under this id: as one of the bodies that are known.
  const fields = Object.entries(possible).map(([field, set]) => [field, isShown(field) ? union(set, UNKNOWN) : set]);
  return { ...made, fields: Object.fromEntries(fields) as Known['fields'] };
}

/** Whether `deduplicated` is explained by what this checkpoint has sent itself. */
export function isOwnRepeat(before: Known, request: Request, answer: { readonly mayHaveArrived: boolean }): boolean {
  return answer.mayHaveArrived || before.exists === 'maybe' || before.open?.id === request.id;
}

function refused(before: Known, why: 'exists' | 'missing' | 'other', content: string): Known {
  const others = before.exists === 'maybe' ? before.others : before.fields;
  if (why === 'exists') return { exists: 'yes', whose: 'other', fields: others ?? {} };
  const wasOurs = before.exists === 'yes' && before.whose === 'ours';
  // No earlier update without an answer can have set anything, for there is no such record.
  if (why === 'missing' && !wasOurs) return { ...NOTHING_KNOWN, missing: content };
  return before;
}

/** A field as the service shows it now; a field that is missing is not shown. */
export type ShownField =
  { readonly kind: 'empty' } | { readonly kind: 'value'; readonly hash: Hash } | { readonly kind: 'not_comparable' };
export type ShownFields = Readonly<Record<string, ShownField>>;

/**
 * The values that are certain after the record was read back. A value that is neither known nor wanted is an edit by somebody, and changes
 * nothing.
 */
export function seen(known: Known, wanted: ReadonlyMap<string, Hash>, shown: ShownFields): Known {
  const fields: Record<string, readonly Hash[]> = { ...known.fields };
  // What a lost checkpoint has sent and the service does not show counts as sent.
  for (const [field, set] of Object.entries(fields)) {
    const sent = set.filter((hash) => hash !== UNKNOWN);
    if (known.whose === 'ours' && sent.length > 0 && !Object.hasOwn(shown, field)) fields[field] = sent;
  }
  for (const [field, what] of Object.entries(shown)) {
    // A field of somebody else's record that we never set is not ours.
    if (known.whose === 'other' && !Object.hasOwn(known.fields, field)) continue;
    const set = valuesOf(known, field);
    const value = wanted.get(field);
    if (set.length === 1 && set[0] === (value ?? ABSENT)) continue;
    // A record that we did not make shows a value that we never sent: so nothing of ours has arrived.
    const isOpen = known.whose === 'other' && set.includes(UNKNOWN);
    if (what.kind === 'empty' && (isOpen || set.includes(ABSENT) || value === undefined)) fields[field] = [ABSENT];
    if (what.kind !== 'value') continue;
    const own = set.filter((hash) => isAlike(hash, what.hash));
    const isOnlyWanted = own.every((hash) => hash === value);
    if (value !== undefined && isAlike(value, what.hash) && (isOnlyWanted || exactOf(value) === exactOf(what.hash))) {
      fields[field] = [value];
    } else if (own.length > 0) fields[field] = own;
    else if (isOpen) delete fields[field];
  }
  return { ...known, fields };
}

/**
 * The knowledge of an older state, where a newer one was lost: each field may have another value by now, and no update is certainly the
 * last one. What is deduplicated under the id of its creation may be another body (`Setting.isAdopted`).
 */
export function doubted(known: Known): Known {
  const fields = Object.entries(known.fields).map(([field, set]) => [field, union(set, UNKNOWN)]);
  return { ...known, fields: Object.fromEntries(fields) as Known['fields'], open: undefined, others: undefined };
}

/** Whether the record is exactly as wanted, as far as anybody can know. */
export function isAsWanted(known: Known, wanted: ReadonlyMap<string, Hash>): boolean {
  if (known.exists !== 'yes') return false;
  for (const [field, value] of wanted) {
    const set = valuesOf(known, field);
    if (set.length !== 1 || set[0] !== value) return false;
  }
  return Object.entries(known.fields).every(([field, set]) => wanted.has(field) || !isEmptied(set));
}

/** Whether a field that was sent, and that the input does not have, may still have its value. */
export function isEmptied(set: readonly Hash[]): boolean {
  return set.some((hash) => hash !== ABSENT);
}

/** Whether two values are the same in their normal form. */
export function isAlike(one: Hash, other: Hash): boolean {
  return one.length > 1 && one.slice(12) === other.slice(12);
}

function exactOf(hash: Hash): string {
  return hash.slice(0, 12);
}

function certain(body: Body): Known['fields'] {
  return Object.fromEntries(Object.entries(body).map(([field, value]) => [field, [value]]));
}

/** A body that went out and that is not known any more. */
function anyBody({ fields }: Known): Body {
  return Object.fromEntries(Object.keys(fields).map((field) => [field, UNKNOWN]));
}

/** The fields of a record that is as one of these bodies. */
function anyOf(bodies: readonly Body[]): Known['fields'] {
  const names = new Set(bodies.flatMap((body) => Object.keys(body)));
  const sets = [...names].map((name) => [
    name,
    [...new Set(bodies.map((body) => (Object.hasOwn(body, name) ? body[name]! : ABSENT)))],
  ]);
  return Object.fromEntries(sets) as Known['fields'];
}

function union(set: readonly Hash[], value: Hash): readonly Hash[] {
  return set.includes(value) ? set : [...set, value];
}

function isSameBody(one: Body, other: Body): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}
