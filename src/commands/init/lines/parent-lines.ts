/** The lines of an entry that refer to the record that a record belongs to. */
import { isDeepStrictEqual } from 'node:util';
import { kindOf } from '../../../kinds/index.ts';
import { ofText } from '../../../report/words/numbers.ts';
import { isAlternatives, type ValueSpec } from '../../../mapping/spec.ts';
import { columnsOf } from '../matrix/assign.ts';
import { countOf, holderOf, isUnique, valueIn, type Column } from '../columns.ts';
import { isId } from '../matrix/content.ts';
import { NONE, quoted } from '../evidence.ts';
import type { EntryDraft } from '../guess.ts';
import { idValue, joinsTo, prefixed, type Join } from '../relations/joins.ts';
import { isSure } from '../relations/references.ts';
import { firstOf, idOfType, joined, lookupIn } from '../relations/lookups.ts';
import { isStaff, NAMES, type RecordKind } from '../matrix/roles.ts';
import { namesNoun } from '../words.ts';
import { FINAL } from './comment-lines.ts';
import type { Context, Made } from './field-lines.ts';
import { foundIn, isName, splitBy, typedBy, type TypedTarget } from './typed-parents.ts';
import { plainComment, type Line } from './yaml.ts';

/** Ways to the records of a kind, best first. Of rows that are a person and a deal, whose ids these are tells the deal. */
function joinsToKind({ draft, known }: Context, kind: string): Join[] {
  const isDeal = (each: EntryDraft): boolean => {
    const [best] = each.twin && each.kind === 'deal' && draft.kind === 'comment' ? joinsTo(draft, each, known) : [];
    return best?.byId === true && best.share > 0.9;
  };
  const rows = kind === 'lead' ? known.drafts.filter(isDeal).map(({ table }) => table) : [];
  const joins = known.drafts
    .filter((each) => each.kind === kind && each.table !== draft.table && !rows.includes(each.table))
    .flatMap((target) => joinsTo(draft, target, known).map((each) => ({ ...each, target })));
  // Of a person and a firm, the person is meant.
  const people = joins.filter(({ target, score, isOne }) => isOne && score > 0.6 && hasNames(target));
  const isFirm = ({ target, share }: (typeof joins)[number]): boolean =>
    !hasNames(target) && people.some((each) => each.share >= share);
  return joins.sort((a, b) => Number(isFirm(a)) - Number(isFirm(b)) || b.score - a.score);
}

function hasNames({ kind, roles }: EntryDraft): boolean {
  return kind === 'lead' && columnsOf(roles, ...NAMES).length > 0;
}

/** Without the ids in a column that are more likely those of another kind of records; the same ids are not both. */
function withoutRivals(joins: readonly Join[], others: readonly Join[]): Join[] {
  const isLess = (each: Join, other: Join): boolean =>
    other.end === each.end &&
    each.share + other.share > 1 &&
    (other.share > each.share + 0.02 || (other.share >= each.share - 0.02 && other.score > each.score));
  return joins.filter((each) => !others.some((other) => isLess(each, other)));
}

/**
 * The parents of a record: the one of the same row or that has its list, in columns of their own, in one column with their type, or
 * in one told apart by value.
 */
export function parentLines(context: Context): Line[] {
  const { draft, known } = context;
  if (draft.notes) {
    const { of } = draft.notes;
    const record = known.drafts.find((each) => each.kind === of && each.table === draft.table);
    const { field } = kindOf(draft.kind).parents.find(({ kind }) => kind === of)!;
    return [{ key: field, value: (record && idValue(record)) ?? NONE, comment: `check: the ${of} of the same row` }];
  }
  const parents = kindOf(draft.kind).parents.toReversed();
  const isNote = kindOf(draft.kind).isNote === true;
  // Of a card that is a person and a deal, the deal.
  const [above] = parents.flatMap(
    ({ kind }) => known.drafts.find((each) => each.table === draft.table.parent && each.kind === kind) ?? [],
  );
  const ofHolder = holderLine(context);
  if (ofHolder) return [ofHolder];
  const ofAbove = above && { key: parents.find(({ kind }) => kind === above.kind)!.field, ...aboveLine(above) };
  if (isNote && ofAbove) return [ofAbove];
  const joins = parents.map(({ kind }) => joinsToKind(context, kind));
  const linesBy = (some: readonly Join[][]): Line[] =>
    parents.map(({ field: key, kind }, at) => ({ key, ...parentLine(context, kind, some[at]!, ofAbove) }));
  const own = joins.map((each, at) => withoutRivals(each, joins.filter((_, other) => other !== at).flat()));
  const found = (isNote ? typedLines(context, joins) : undefined) ?? linesBy(own);
  // What nothing tells apart is named as both.
  const lines = found.every(({ off }) => off) ? linesBy(joins) : found;
  const ofThread = isNote && lines.every(({ off }) => off) ? threadLines(context) : [];
  // One of the parents is enough.
  const isOne = lines.some(({ off }) => !off);
  const all = lines.map((line) => (isOne && line.value === NONE ? { ...line, comment: plainComment(line) } : line));
  return ofThread.length > 0 ? ofThread : all;
}

/** Of records that name both parents: the deal, unless it is mostly one of another person, such as the seller of what somebody visits. */
export function keptParent(context: Context, lines: readonly Line[]): Made {
  const { draft } = context;
  const { parents } = kindOf(draft.kind);
  const value = parents.at(-1)!.kind;
  // An id means nothing without its table: the best way by a column tells whose ids it has.
  const wayTo = (own: EntryDraft, kind: string, written?: unknown): Join | undefined =>
    joinsToKind({ ...context, draft: own }, kind).find(
      ({ byId, end, value: way }) =>
        byId && !isStaff(end) && (written === undefined || isDeepStrictEqual(way, written)),
    );
  const [person, deal] = ['lead', 'deal'].map((kind) => {
    const field = parents.find((each) => each.kind === kind)?.field;
    return wayTo(draft, kind, lines.find(({ key }) => key === field)?.value ?? NONE);
  });
  const theirs = person && deal && wayTo(deal.target, 'lead');
  if (theirs?.target !== person?.target || !theirs) return { value };
  const [own, { table, key }] = [draft.table, deal.target];
  const both = `from ${own.sql} a join ${table.sql} b on a.${deal.end.sql} = b.${key!.column!.sql} where a.${person.end.sql} is not null`;
  const all = countOf(own, both);
  const others = countOf(own, `${both} and a.${person.end.sql} <> b.${theirs.end.sql}`);
  if (others <= all / 2) return { value };
  const comment = `check: in ${ofText(others, all)} with a person and a deal, the deal belongs to another person`;
  return { value: 'lead', comment };
}

/** The element that has the list, of a list in the elements of one. */
function holderLine({ draft: { table, kind }, known }: Context): Line | undefined {
  const holder = holderOf(table, known.tables);
  if (holder?.list === undefined) return undefined;
  for (const { kind: of, field } of kindOf(kind).parents.toReversed()) {
    const draft = known.drafts.find((each) => each.kind === of && each.table === holder);
    const id = draft && idValue(draft);
    if (id === undefined) continue;
    const { from, ...rest } = typeof id === 'string' ? { from: id } : (id as { from?: unknown });
    if (typeof from !== 'string') continue;
    const value = Object.keys(rest).length > 0 ? { from: `..${from}`, ...rest } : `..${from}`;
    return { key: field, value, comment: 'check: the id of the record that contains it' };
  }
  return undefined;
}

/** Messages in a list of a conversation, which is a comment itself or nothing, have its parents. */
function threadLines({ draft, known }: Context): Line[] {
  const { parent } = draft.table;
  const own = known.drafts.filter((each) => each.table === parent);
  if (!parent || own.some((each) => !kindOf(each.kind).isNote)) return [];
  const thread = own[0] ?? { ...draft, table: parent, roles: new Map(), candidates: new Map() };
  return parentLines({ draft: thread, known, used: new Set() }).flatMap((line): Line[] => {
    const value = line.off ? undefined : fromAbove(line.value as ValueSpec);
    return value === undefined ? [] : [{ ...line, value, comment: 'check: from the record that contains it' }];
  });
}

/** The same value, read from the element of a list; undefined if that cannot be written. */
function fromAbove(value: ValueSpec): ValueSpec | undefined {
  if (typeof value === 'string') return `$.${value}`;
  const { from, template, lookup } = value;
  if (template !== undefined) return { ...value, template: template.replaceAll('{', '{$.') };
  if (lookup) {
    const own = fromAbove(lookup.with);
    return own && { ...value, lookup: { ...lookup, with: own } };
  }
  if (from === undefined) return undefined;
  const all = (isAlternatives(from) ? from : [from]).map(fromAbove);
  if (all.includes(undefined)) return undefined;
  return { ...value, from: all.length === 1 ? all[0] : (all as ValueSpec[]) };
}

function aboveLine(draft: EntryDraft): Made {
  const id = idValue(draft);
  const value = id === undefined ? undefined : fromAbove(id);
  return { value: value ?? NONE, off: value === undefined, comment: 'check: the id of the record that contains it' };
}

/** The best join, and where that has no value another one; commented out if none is enough. */
function parentLine(context: Context, kind: string, joins: readonly Join[], above?: Made): Made {
  const { draft, known, used } = context;
  const { table } = draft;
  const isMixed = draft.kind === 'comment';
  const own = draft.twin && known.drafts.find((each) => each.kind === kind && each.table === table);
  if (own) return { value: idValue(own), comment: 'the person of the same row' };
  // The only ids that are all among theirs are theirs, although small numbers are so by chance.
  const isOnly = ({ byId, share, end }: Join): boolean =>
    !isMixed &&
    byId === true &&
    share === 1 &&
    end.distinct >= 8 &&
    end.meaning.concepts.has('id') &&
    joins.every((each) => each.end === end);
  const enough = joins.filter(
    (each) =>
      (each.score >= 0.25 && each.share >= 0.3) ||
      (isMixed && each.score >= each.share && each.share >= 0.1) ||
      isOnly(each),
  );
  const [best] = enough;
  if (!best && above) return above;
  const alone = !best && joins.every(({ columns }) => columns.some(isStaff)) && withoutTable(context, kind);
  if (alone) {
    used.add(alone);
    const comment = `check: ${ofText(alone.filled, table.rows)} have an id, but no export has a record with it`;
    return { value: alone.name, comment };
  }
  if (!best) {
    const list = [...new Set(joins.slice(0, 3).flatMap(whys))].join(', ');
    const isFew = list === '' || joins[0]!.share < 0.3;
    const what = `set this: no column ${isFew ? 'has' : 'clearly has'} the id of its ${kind}`;
    const comment = list === '' ? what : `${what}${isFew ? ' in enough records' : ''}: ${list}`;
    return { value: joins[0]?.value ?? NONE, off: true, comment };
  }
  const chosen = [best];
  // One column may have the numbers of people and of firms.
  const isOther = ({ columns, matched }: Join): boolean =>
    chosen.every(
      (each) =>
        each.columns.length > 0 && ((each.matched && matched) || !each.columns.some((one) => columns.includes(one))),
    );
  // The other side of messages and calls.
  const weaker = joins.filter((each) => isMixed && !enough.includes(each) && each.score >= each.share * 0.65);
  for (const each of [...enough.slice(1), ...weaker]) {
    const isAble = !each.isShared && each.columns.length > 0 && chosen.length < 3 && isOther(each);
    const more = isAble ? gain(draft, chosen, each) : 0;
    if (more > table.rows * 0.05 || (more > 0 && each.share > 0.95 && each.score > 0.4)) chosen.push(each);
  }
  if (chosen.length === 1 && best.score > 0.7) for (const column of best.columns) used.add(column);
  const texts = chosen.map(({ why, columns }) =>
    chosen.length > 1 && columns[0] ? `${quoted(columns[0])}: ${why}` : why,
  );
  const none = isMixed || chosen.some(({ columns }) => columns.length === 0) ? 0 : gain(draft, chosen);
  const several = [
    ...chosen.flatMap((each) => each.several ?? []),
    ...(none > table.rows * 0.1 ? [`${ofText(none, table.rows)} have none`] : []),
  ];
  const taken = new Set(chosen.flatMap(({ columns }) => columns));
  const near = enough.filter((each) => each.columns.some((column) => !taken.has(column)));
  const others = near.filter(({ columns: [own] }, at) => near.findIndex((each) => each.columns[0] === own) === at);
  const next = others.length > 0 ? `; runner-up: ${others.slice(0, 2).flatMap(whys).join(', ')}` : '';
  // Of two tables of people to which all refer, one has those who pay.
  const areTwo = near.some(({ byId, share, target }) => byId && share === 1 && target !== best.target);
  const isOne = several.length === 0 && chosen.length === 1 && !areTwo;
  const isCertain = !isMixed && isOne && best.share === 1 && best.score >= 0.95;
  return {
    value: firstOf(chosen.map(({ value }) => value)),
    comment: `${isCertain ? '' : 'check: '}${[...new Set([...texts, ...several, ...(isMixed ? [FINAL] : [])])].join('; ')}${next}`,
  };
}

function whys({ columns, why }: Join): string[] {
  return columns.map((column) => `${quoted(column)} (${why})`);
}

/** A column with ids of a kind of records that no export has: `contact_id`. */
function withoutTable({ draft: { table, roles }, known }: Context, kind: string): Column | undefined {
  return table.columns.find(
    (column) =>
      column.meaning.concepts.has('id') &&
      namesNoun(kind as RecordKind, column.meaning.concepts) &&
      column.list === undefined &&
      column.distinct > 1 &&
      roles.get('id')?.column !== column &&
      !known.references.some((each) => each.from === column && isSure(each, 0.5)),
  );
}

/** Records for which these joins have no value; those for which only another one has. */
function gain({ table }: EntryDraft, chosen: readonly Join[], other?: Join): number {
  const has = ({ matched, columns }: Join): string =>
    matched ?? columns.map(({ sql }) => `${sql} is not null`).join(' and ');
  const without = chosen.map((each) => `not coalesce((${has(each)}), 0)`).join(' and ');
  return countOf(table, `from ${table.sql} where ${without}${other ? ` and ${has(other)}` : ''}`);
}

/** One column with the ids of several kinds of records, told apart by a column beside it or by the ids alone. */
function typedLines({ draft, known, used }: Context, joins: readonly Join[][]): Line[] | undefined {
  const { table } = draft;
  const parents = kindOf(draft.kind).parents.toReversed();
  const ids = new Set(joins.flat().flatMap(({ byId, columns }) => (byId && !isStaff(columns[0]!) ? columns : [])));
  for (const { from, to, by } of known.references) {
    const isTheirs = from.table === table && by.apply.length === 0 && from !== draft.roles.get('id')?.column;
    if (!isTheirs || isStaff(from)) continue;
    if ((isUnique(to) && [from, to].every(isId)) || known.drafts.some((each) => isName(to, each))) ids.add(from);
  }
  const isParent = ({ meaning }: Column): number => Number(meaning.concepts.has('parent'));
  for (const id of [...ids].sort((a, b) => isParent(b) - isParent(a))) {
    const own = joins.map((each) => each.filter(({ columns }) => columns[0] === id)).filter((each) => each.length > 0);
    if (joins.flat().some((each) => each.columns[0] !== id && each.score > 0.6)) continue;
    const isSureOf = own.flat().some(({ score }) => score > 0.6);
    const found = typedBy(id, known, own) ?? (isSureOf ? undefined : splitBy(id, known));
    if (!found) continue;
    const { type, targets } = found;
    used.add(id);
    return parents.flatMap(({ field: key, kind }): Line[] => {
      const theirs = targets.filter((each) => each.draft.kind === kind);
      if (theirs.length === 0) return [];
      const count = theirs.reduce((sum, each) => sum + foundIn(id, type, each), 0);
      const several = theirs.find(({ by }) => by && !isUnique(by));
      const which =
        several && isName(several.by!, several.draft)
          ? 'several with the same name, the first'
          : 'the people of a company, the first';
      const some = several ? `; of ${which} is used` : '';
      const codes = type && type.is.words < 0.8 ? ` (${theirs.flatMap(({ values }) => values).join(', ')})` : '';
      const why = type ? `${quoted(type)}${codes}` : `${quoted(id)}, as no two kinds have the same ids`;
      const comment = `check: ${ofText(count, table.rows)} belong to ${kindOf(kind).words[1]} by ${why}${some}`;
      return [{ key, value: firstOf(theirs.map((target) => typedValue(type, id, target))), comment }];
    });
  }
  return undefined;
}

function typedValue(type: Column | undefined, id: Column, { draft, by, values }: TypedTarget): ValueSpec {
  const take = idValue(draft);
  const own = type ? idOfType(type, values, id) : valueIn(id);
  const match = by ?? (type ? undefined : draft.roles.get('id')?.column);
  if (match && take !== undefined)
    return lookupIn(draft.table, { match: joined(match.pair ?? [match], ' '), with: own, take }, !isUnique(match));
  return prefixed(own, draft);
}
