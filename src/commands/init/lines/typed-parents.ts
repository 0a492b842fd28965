/** Ids of several kinds of records in one column, and of which records each is. */
import { columnsOf } from '../matrix/assign.ts';
import { countOf, countsOf, fillOf, isOneOf, isUnique, type Column } from '../columns.ts';
import { isId } from '../matrix/content.ts';
import type { EntryDraft } from '../guess.ts';
import { kindOf } from '../../../kinds/index.ts';
import { isCompanyId, namesOf, type Reference } from '../relations/references.ts';
import { isCalledType, isShortFor, typeOf, typesBeside, wordsOf, type ParentType } from '../relations/typed.ts';
import { fold } from '../words.ts';

/** Records of some types have the ids of a draft's records, or what those have in a column (`by`). */
export interface TypedTarget {
  readonly draft: EntryDraft;
  readonly by: Column | undefined;
  readonly values: string[];
}

interface Drafted {
  readonly drafts: readonly EntryDraft[];
  readonly references: readonly Reference[];
}

/** Whose ids a column has, by the type beside it: undefined where each is of its own. */
interface Split {
  readonly type: Column | undefined;
  readonly targets: readonly TypedTarget[];
}

/** By a column whose words name the kinds; not where nearly all ids are of one kind anyway. `joins`: to each kind by this column. */
export function typedBy(
  id: Column,
  known: Drafted,
  joins: readonly (readonly { readonly share: number }[])[],
): Split | undefined {
  const type = typeOf(id, known.references);
  if (!type) return undefined;
  const targets = targetsOf(type, id, known);
  const isBoth = joins.length > 1 || (joins.length > 0 && type.values.size > 1);
  if (!isBoth && !isWhole(id, type.column, targets)) return undefined;
  const values = targets.flatMap((each) => each.values);
  const typed = countOf(id.table, `from ${id.table.sql} where ${isOneOf(type.column, values)}`);
  // Ids that nearly all are of one kind need no type, least of all that of somebody else.
  const isOne = new Set(targets.map(({ draft }) => draft)).size === 1;
  if (joins.flat().some(({ share }) => share > 0.9 && (isOne || typed < id.filled * 0.9))) return undefined;
  return { type: type.column, targets };
}

/** By a column of any values, or by nothing where the kinds have no ids in common. */
export function splitBy(id: Column, known: Drafted): Split | undefined {
  const isSplit = (targets: readonly TypedTarget[]): boolean =>
    new Set(targets.map(({ draft }) => draft.kind)).size > 1;
  const types = typesBeside(id).filter(
    (each) => fillOf(each) >= fillOf(id) && (isId(each) || isCalledType(each) || each.length <= MAX_CODE),
  );
  for (const column of types.sort((a, b) => Number(isCalledType(b)) - Number(isCalledType(a)))) {
    const targets = targetsOf({ column, values: new Map(), words: wordsOf(column, known.references) }, id, known);
    const isAll = targets.flatMap(({ values }) => values).length === column.distinct;
    if (isAll && isSplit(targets) && Math.min(...countsOf(column).values()) >= MIN_OF_TYPE)
      return { type: column, targets };
  }
  const targets = known.drafts
    .map((draft): TypedTarget => ({ draft, by: undefined, values: [] }))
    .filter((each) => !kindOf(each.draft.kind).isNote && foundIn(id, undefined, each) > 0);
  const found = targets.reduce((all, each) => all + foundIn(id, undefined, each), 0);
  return id.filled >= MIN_IDS && found === id.filled && isSplit(targets) ? { type: undefined, targets } : undefined;
}

const MIN_OF_TYPE = 3;
/** Characters. */
const MAX_CODE = 4;
const MIN_IDS = 8;

/**
 * Whose ids the records of each type have: of several exports of people, those of the one that the type is called after. A type of no
 * known name is of the only records whose ids all of its own are; codes of types may leave one of two kinds to the last of them.
 */
function targetsOf({ column, values, words }: ParentType, id: Column, { drafts, references }: Drafted): TypedTarget[] {
  const targets: TypedTarget[] = [];
  const add = (draft: EntryDraft, value: string, by?: Column): void => {
    const known = targets.find((each) => each.draft === draft && each.by === by);
    if (known) known.values.push(value);
    else targets.push({ draft, by, values: [value] });
  };
  const people = drafts.filter(({ kind, table }) => kind === 'lead' && table.list === undefined);
  const able = drafts.filter(({ kind }) => !kindOf(kind).isNote);
  const common = commonStems(able.map(({ table }) => table.source));
  const only = (some: readonly EntryDraft[]) => (some.length === 1 ? some[0] : undefined);
  const wholes = new Map(
    [...words.keys()].map((value) => [value, able.flatMap((draft) => wholeIn(draft, value, id, column) ?? [])]),
  );
  for (const [value, text] of words) {
    const whole = wholes.get(value)!;
    const nouns = [...values].flatMap(([noun, own]) => (own.includes(value) ? [noun] : []));
    const ofNoun = able.filter(
      (draft) =>
        nouns.some((noun) => draft.kind === (noun === 'company' ? 'lead' : noun) && draft.table.nouns.includes(noun)) &&
        (whole.some((each) => each.draft === draft) ||
          shareIn(id, column, { draft, by: undefined, values: [value] }) > 0),
    );
    const called = (some: readonly EntryDraft[]) =>
      some.find(({ table }) => stems(table.source).some((stem) => !common.has(stem) && stems(text).includes(stem))) ??
      only(some.filter(({ table }) => isShortFor(text, table.source)));
    const draft =
      called(whole.map((each) => each.draft)) ??
      called(ofNoun) ??
      ofNoun[0] ??
      (nouns.length === 0 && whole.length === 1 ? whole[0]!.draft : undefined);
    if (draft) add(draft, value, whole.find((each) => each.draft === draft)?.by);
    else if (nouns.includes('company')) addByCompany(value);
  }
  const open = [...wholes].filter(([value]) => !targets.some((each) => each.values.includes(value)));
  const left = open.flatMap(([, whole]) => whole.filter(({ draft }) => !targets.some((each) => each.draft === draft)));
  if (open.length === 1 && left.length === 1 && column.is.words < 0.8 && isCalledType(column)) targets.push(left[0]!);
  return targets;

  function addByCompany(value: string): void {
    for (const { from, to } of references) {
      const person = people.find(({ table }) => table === from.table);
      if (!person || !to.table.nouns.includes('company') || !isCompanyId(from.meaning) || !isUnique(to)) continue;
      add(person, value, from);
      return;
    }
  }
}

/** What the records of a draft are called, where hardly any two are called alike. */
function namesIn({ table, roles }: EntryDraft): Column[] {
  const names = [...columnsOf(roles, 'full', 'title'), ...(roles.has('last') ? namesOf(table) : [])];
  return names.filter(({ filled, distinct }) => distinct > filled * 0.9);
}

export function isName({ table, sql }: Column, draft: EntryDraft): boolean {
  return table === draft.table && namesIn(draft).some((each) => each.sql === sql);
}

/** The ids of a record may be in another column than that of its external id, or names stand for them. */
function wholeIn(draft: EntryDraft, value: string, id: Column, type: Column): TypedTarget | undefined {
  const own = draft.roles.get('id')?.column;
  const others = draft.table.columns.filter((each) => each !== own && isUnique(each) && isId(each));
  return [undefined, ...others, ...namesIn(draft)]
    .map((by) => ({ draft, by, values: [value] }))
    .find((target) => isWhole(id, type, [target]));
}

/** Whether the records of a type have the ids of that kind: where headers say so, some may be of records that were deleted. */
function isWhole(id: Column, type: Column, targets: readonly TypedTarget[]): boolean {
  const least = id.meaning.concepts.has('parent') && type.meaning.concepts.has('type') ? 0.5 : 0.95;
  return targets.every((target) => {
    const share = shareIn(id, type, target);
    return share > 0 && share >= least;
  });
}

function shareIn(id: Column, type: Column, target: TypedTarget): number {
  return (
    foundIn(id, type, target) /
    Math.max(1, countOf(id.table, `from ${id.table.sql} where ${isOneOf(type, target.values)}`))
  );
}

/** How many have the id of such a record, and its type if there is any. */
export function foundIn(id: Column, type: Column | undefined, { draft, by, values }: TypedTarget): number {
  const target = by ?? draft.roles.get('id')?.column;
  const isTyped = type ? isOneOf(type, values) : 'true';
  return target
    ? countOf(
        id.table,
        `from ${id.table.sql} where ${isTyped} and ${id.sql} in (select ${target.sql} from ${target.table.sql})`,
      )
    : 0;
}

/** Of the words of a name: `Contacts` and `contact`. */
function stems(text: string): string[] {
  return fold(text)
    .split(' ')
    .map((word) => word.replace(/s$/, ''));
}

/** What the names of all tables have, such as that of the program, tells them not apart. */
function commonStems(sources: readonly string[]): ReadonlySet<string> {
  const [first, ...more] = [...new Set(sources)].map(stems);
  return new Set(more.length === 0 ? [] : first!.filter((stem) => more.every((own) => own.includes(stem))));
}
