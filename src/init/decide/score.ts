/** How well a column fits a role, by the table of roles, and which columns take which roles. */
import type { Column, Table } from '../facts/facts.ts';
import type { Concept } from '../facts/headers.ts';
import { NOUNS } from '../know/words.ts';
import { LEVELS, POINTS, ROLES, type RecordKind, type Role, type RoleRow } from '../know/roles.ts';

/** One reason for or against a role. */
export interface Reason {
  readonly what: string;
  readonly points: number;
}

export const sumOf = (reasons: readonly Reason[]): number => reasons.reduce((sum, { points }) => sum + points, 0);

export interface Rated {
  readonly column: Column;
  readonly points: number;
  /** Of the header alone. */
  readonly header: number;
}

/** The column that has a role, and the next one that it might be. */
export interface Taken extends Rated {
  readonly next: Rated | undefined;
}

/** The roles of the records of a table, if they are of a kind; `near`: candidates for those that no column takes. */
export interface Assignment {
  readonly kind: RecordKind;
  readonly taken: ReadonlyMap<Role, Taken>;
  readonly near: ReadonlyMap<Role, readonly Rated[]>;
}

/** What speaks for and against a role; `veto`: the fact that makes it impossible. */
export function reasonsFor(role: Role, column: Column, kind: RecordKind): { reasons: Reason[]; veto?: string } {
  const { needs, never, signs }: RoleRow = ROLES[role];
  const { is, table, filled } = column;
  const lacks = needs.find(([fact, level]) => is[fact] < LEVELS[level]);
  const has = never.find(([fact, level]) => is[fact] >= LEVELS[level]);
  const veto = filled === 0 ? 'no value' : lacks ? `needs ${lacks[0]}` : has ? `never ${has[0]}` : undefined;
  const mute = table.isMute ? [{ what: 'no header says anything', points: POINTS.mute }] : [];
  const facts = signs.flatMap(([what, points]) => (is[what] === 0 ? [] : [{ what, points: points * is[what] }]));
  return { reasons: [headerReason(ROLES[role], column, kind), ...mute, ...facts], ...(veto !== undefined && { veto }) };
}

/** Of the words of a header that no pattern explains, each that means something else costs. Words that name the records are explained. */
function headerReason({ header, against }: RoleRow, { meaning, table }: Column, kind: RecordKind): Reason {
  const own: readonly Concept[] = [kind, ...table.nouns].flatMap((noun) => NOUNS[noun]);
  const unknown = Math.min(POINTS.unknown, meaning.words.filter(({ size }) => size === 0).length) * POINTS.foreign;
  let best: Reason = { what: 'header', points: Number.NEGATIVE_INFINITY };
  for (const [words, points] of [['', 0] as const, ...header]) {
    const used = words.split(' ').filter(Boolean) as Concept[];
    if (!used.every((concept) => meaning.concepts.has(concept))) continue;
    const rest = meaning.words.filter((word) => ![...used, ...own].some((concept) => word.has(concept)));
    const foreign = rest.filter((word) => [...word].some((concept) => against.has(concept))).length;
    const sum = points + POINTS.against * foreign + (points > 0 ? unknown : 0);
    if (sum > best.points) best = { what: `header: ${words || 'no word for it'}`, points: sum };
  }
  return best;
}

function ratedFor(role: Role, column: Column, kind: RecordKind): Rated | undefined {
  const { reasons, veto } = reasonsFor(role, column, kind);
  if (veto !== undefined) return undefined;
  return { column, points: sumOf(reasons), header: reasons[0]!.points };
}

/** Columns of a role that are compared with each other. */
const MOST_CANDIDATES = 5;

/**
 * The best sum of points with one role per column; an id may be anything else, too. `given`: what the user says; undefined means none.
 * `isFree`: whether a column is of these records.
 */
export function assign(
  table: Table,
  kind: RecordKind,
  isFree: (column: Column) => boolean = () => true,
  given: ReadonlyMap<Role, Column | undefined> = new Map(),
): Assignment {
  const roles = (Object.keys(ROLES) as Role[]).filter((role) => ROLES[role].kinds.includes(kind));
  const able = table.columns.filter((column) => column.pair === undefined && isFree(column));
  const scores = new Map(
    roles.map((role) => {
      const found = able.flatMap((column) => ratedFor(role, column, kind) ?? []);
      return [role, found.filter(({ points }) => points >= POINTS.named).sort((a, b) => b.points - a.points)] as const;
    }),
  );
  const chosen = new Map<Role, Rated>();
  for (const [role, column] of given)
    if (column) chosen.set(role, { column, points: POINTS.sure, header: POINTS.sure });
  const open = roles.filter((role) => role !== 'id' && !given.has(role));
  for (const [role, candidate] of bestSum(
    open.map((role) => [role, setOf(scores.get(role)!)] as const),
    usedIn(chosen),
  ))
    chosen.set(role, candidate);
  const [id] = given.has('id') ? [] : setOf(scores.get('id')!);
  if (id) chosen.set('id', id);
  const used = usedIn(chosen);
  const taken = new Map<Role, Taken>();
  const near = new Map<Role, readonly Rated[]>();
  for (const role of roles) {
    const own = chosen.get(role);
    const others = scores
      .get(role)!
      .filter(({ column }) => column !== own?.column && (role === 'id' || !used.has(column)));
    if (own) taken.set(role, { ...own, next: others[0] });
    near.set(role, others.slice(0, MOST_CANDIDATES));
  }
  return { kind, taken, near };
}

const setOf = (list: readonly Rated[]): Rated[] =>
  list.filter(({ points }) => points >= POINTS.set).slice(0, MOST_CANDIDATES);
const usedIn = (chosen: ReadonlyMap<Role, Rated>): Set<Column> =>
  new Set([...chosen.values()].map(({ column }) => column));

/** By trying all ways, the most promising first. */
function bestSum(lists: readonly (readonly [Role, readonly Rated[]])[], taken: ReadonlySet<Column>): Map<Role, Rated> {
  const able = lists.filter(([, list]) => list.length > 0).sort(([, a], [, b]) => b[0]!.points - a[0]!.points);
  const rest = able.map(([, list]) => list[0]!.points);
  for (let at = rest.length - 2; at >= 0; at -= 1) rest[at]! += rest[at + 1]!;
  let best: { sum: number; chosen: readonly (readonly [Role, Rated])[] } = { sum: -1, chosen: [] };
  const used = new Set(taken);
  const go = (at: number, sum: number, chosen: readonly (readonly [Role, Rated])[]): void => {
    if (sum + (rest[at] ?? 0) <= best.sum) return;
    if (at === able.length) {
      best = { sum, chosen };
      return;
    }
    const [role, list] = able[at]!;
    for (const each of list) {
      if (used.has(each.column)) continue;
      used.add(each.column);
      go(at + 1, sum + each.points, [...chosen, [role, each]]);
      used.delete(each.column);
    }
    go(at + 1, sum, chosen);
  };
  go(0, 0, []);
  return new Map(best.chosen);
}

/** Whether nothing speaks against what was taken: its header says so, and no other column comes near. */
export function isSure({ points, header, next, column }: Taken): boolean {
  const isAlone = !next || points - next.points >= POINTS.near || next.column.filled < column.filled * LEVELS.half;
  return header > 0 && points >= POINTS.sure && isAlone;
}
