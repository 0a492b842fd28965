/** The score matrix, columns x roles: the assignment with the best sum is taken. What a table is follows from it, last. */
import { isComplete, isNamed, isUnique, type Column, type Table } from './columns.ts';
import { isByChance, isCalledAlike, namesTable, shareOf, type Reference } from './lines/references.ts';
import { headerScore, ROLES_OF, scoreOf, type RecordKind, type Role } from './roles.ts';
import { fold } from './words.ts';

/** The column of a role, and those that come near it. */
export interface RoleFound {
  readonly column: Column;
  readonly score: number;
  readonly others: readonly RoleCandidate[];
}

export interface RoleCandidate {
  readonly column: Column;
  readonly score: number;
}

export interface Assignment {
  readonly kind: RecordKind;
  readonly roles: ReadonlyMap<Role, RoleFound>;
  /** Of the roles that are left open: the columns that may have them, best first. */
  readonly candidates: ReadonlyMap<Role, readonly RoleCandidate[]>;
}

/** From here on a column has its role; below, the role is left open. */
const MIN_SCORE = 0.36;
/** From here on it needs no check. */
export const SURE = 0.62;
/** Columns below are no candidates. */
const MIN_CANDIDATE = 0.15;
const MAX_CANDIDATES = 6;

export function assign(table: Table, kind: RecordKind, references: readonly Reference[]): Assignment {
  const scores = new Map<Role, RoleCandidate[]>();
  for (const role of ROLES_OF[kind]) {
    const able = table.columns.map((column) => ({ column, score: scoreIn(role, column, kind, references) }));
    const sorted = able.filter(({ score }) => score >= MIN_CANDIDATE).sort((a, b) => b.score - a.score);
    scores.set(role, sorted.slice(0, MAX_CANDIDATES));
  }
  const taken = new Map<Role, Column>();
  const [id] = scores.get('id')!;
  if (id && id.score >= MIN_SCORE) taken.set('id', id.column);
  // A name, a title or an address that is the id is that, too.
  const isKeyOnly =
    id && id.score >= MIN_SCORE && !(id.column.is.words > 0.8 && id.column.is.code < 0.5) && id.column.is.email < 0.5;
  const rest = ROLES_OF[kind].filter((role) => role !== 'id');
  const columns = [...new Set(rest.flatMap((role) => scores.get(role)!.map(({ column }) => column)))].filter(
    (column) => !(isKeyOnly && column === id.column),
  );
  const matrix = rest.map((role) => {
    const own = new Map(scores.get(role)!.map(({ column, score }) => [column, score]));
    return columns.map((column) => ((own.get(column) ?? 0) >= leastOf(role, column) ? own.get(column)! : 0));
  });
  bestSum(matrix).forEach((at, row) => {
    if (at !== undefined && matrix[row]![at]! > 0) taken.set(rest[row]!, columns[at]!);
  });
  settle(kind, taken, scores);
  const used = new Set(taken.values());
  const roles = new Map<Role, RoleFound>();
  const candidates = new Map<Role, RoleCandidate[]>();
  for (const [role, sorted] of scores) {
    const column = taken.get(role);
    const others = sorted.filter((each) => !used.has(each.column)).slice(0, 3);
    if (column)
      roles.set(role, { column, score: sorted.find((each) => each.column === column)?.score ?? MIN_SCORE, others });
    else
      candidates.set(
        role,
        (others.length > 0 ? others : sorted.filter((each) => each.column !== id?.column).slice(0, 2)).filter((each) =>
          isShared(role, each.column),
        ),
      );
  }
  return { kind, roles, candidates };
}

function scoreIn(role: Role, column: Column, kind: RecordKind, references: readonly Reference[]): number {
  if (role === 'id') return isOfParent(column, kind, references) ? 0 : idScore(column, kind, references);
  // One member may own all records, but not where another column tells them apart.
  const isSame = SHARED.includes(role) && column.distinct === 1 && column.filled > 6;
  const score = scoreOf(role, column, kind) * (isSame ? 0.6 : 1);
  if (role === 'amount' && score > 0 && references.some((each) => each.from === column && isOfIds(each))) return 0;
  const noun = REFERRED[role];
  if (noun === undefined || column.meaning.concepts.has(role === 'stage' ? 'pipeline' : 'created')) return score;
  // However many stages there are, the ids of a table of stages are stages; the ids and addresses of users are members.
  const isOf = references.some(
    (each) =>
      each.from === column &&
      each.to.table.nouns.includes(noun) &&
      isKey(each.to) &&
      shareOf(each) > 0.8 &&
      !isByChance(each) &&
      headerScore(role, column, kind) > -0.3,
  );
  return isOf && !isSame ? 1 - (1 - score) * 0.3 : score;
}

/** Ids of other records are no amounts. */
function isOfIds({ from, to, ...rest }: Reference): boolean {
  return (
    shareOf({ from, to, ...rest }) > 0.9 &&
    isKey(to) &&
    (to.meaning.concepts.has('id') || to.meaning.concepts.has('number') || isCalledAlike(from, to)) &&
    !from.meaning.concepts.has('amount') &&
    !isByChance({ from, to, ...rest })
  );
}

/** Tables to whose ids the columns of a role may refer. */
const REFERRED: Readonly<Partial<Record<Role, Table['nouns'][number]>>> = {
  stage: 'stages',
  owner: 'users',
  author: 'users',
};

/** Without being unique, a column is an id only where its header or other tables say so. */
function idScore(column: Column, kind: RecordKind, references: readonly Reference[]): number {
  const { concepts } = column.meaning;
  // The id of its parent, even if each has only one comment.
  const isForeign = concepts.has('person') || concepts.has('customer') || concepts.has('deal');
  if (kind === 'comments' && isForeign && !concepts.has('text') && !concepts.has('happened')) return 0;
  if (kind === 'comments' && column.distinct < column.filled * 0.9) return 0;
  const more = referred(column, references);
  if (!isUnique(column) && more === 0 && headerScore('id', column, kind) < 0.85) return 0;
  return scoreOf('id', column, kind, more);
}

/** Content is all that an unknown header leaves. */
function leastOf(role: Role, { meaning, table }: Column): number {
  if (!isNamed(table)) return 0.2;
  return meaning.concepts.size === 0 && BY_CONTENT.includes(role) ? 0.3 : MIN_SCORE;
}

/** Roles that every deal has, so that a column that nothing speaks against may be shown as theirs, to be checked. */
const BY_CONTENT: readonly Role[] = ['title', 'owner', 'created'];

const SHARED: readonly Role[] = ['stage', 'pipeline', 'owner', 'author'];

/** A constant, or what is different in most records, is no candidate for what records have in common. */
function isShared(role: Role, column: Column): boolean {
  if (!SHARED.includes(role)) return true;
  return column.distinct > 1 && column.distinct <= column.filled * 0.8;
}

/** `Contact Id` of deals, where contacts have it too: it is theirs, even if each of them has only one deal. */
function isOfParent(column: Column, kind: RecordKind, references: readonly Reference[]): boolean {
  const { concepts } = column.meaning;
  const isForeign = kind !== 'leads' && concepts.has('person') && !concepts.has('deal');
  return (
    isForeign &&
    references.some(
      (each) =>
        each.from === column &&
        each.by.apply.length === 0 &&
        shareOf(each) >= 0.8 &&
        isKey(each.to) &&
        fold(each.to.name) === fold(column.name),
    )
  );
}

/** How sure others refer to a column: the best of the shares. */
export function referred(column: Column, references: readonly Reference[]): number {
  const shares = references
    .filter(
      (each) => each.to === column && (!isKey(each.from) || namesTable(each.from, column.table)) && !isByChance(each),
    )
    .map(shareOf);
  const most = Math.max(0, ...shares);
  return most < 0.8 ? 0 : 0.5 * most;
}

/** The ids of other records refer to nothing. */
function isKey(column: Column): boolean {
  return isUnique(column) && isComplete(column);
}

/** A first or a last name alone is the full name; an outcome alone is the stage. */
function settle(kind: RecordKind, taken: Map<Role, Column>, scores: ReadonlyMap<Role, readonly RoleCandidate[]>): void {
  if (kind === 'leads') {
    const [first, last, full] = [taken.get('first'), taken.get('last'), taken.get('full')];
    // Beside a first name, a column of single names is the last name, whatever it is called (`Prénom`, `Nom`), and the reverse.
    if (full && full.is.spaced < 0.4 && (first === undefined) !== (last === undefined)) {
      taken.set(first ? 'last' : 'first', full);
      taken.delete('full');
    } else if (!(first && last)) {
      const only = first ?? last;
      if (only && (!full || scoreOfTaken(scores, 'full', full) < SURE)) taken.set('full', only);
      taken.delete('first');
      taken.delete('last');
    } else taken.delete('full');
    sameAs(taken, scores);
  }
  const outcome = taken.get('outcome');
  if (kind === 'deals' && outcome && !taken.has('stage') && outcome.is.words > 0.8) {
    taken.set('stage', outcome);
    taken.delete('outcome');
  }
}

/** Names of something else than the person. */
const NO_NAME = ['company', 'email', 'phone', 'address', 'owner', 'user', 'first', 'surname', 'title'] as const;

/** Where the address is the `Parent Email`, the person is the `Parent Name`, not the child. */
function sameAs(taken: Map<Role, Column>, scores: ReadonlyMap<Role, readonly RoleCandidate[]>): void {
  const firstWord = (column: Column | undefined): string | undefined => {
    const [word, ...more] = fold(column?.name ?? '').split(' ');
    return more.length > 0 ? word : undefined;
  };
  const who = firstWord(taken.get('email') ?? taken.get('phone'));
  const own = [taken.get('full'), taken.get('first'), taken.get('last')].flatMap((each) => each ?? []);
  const isName = ({ meaning: { concepts } }: Column): boolean =>
    concepts.has('name') && !NO_NAME.some((each) => concepts.has(each));
  const same = scores.get('full')!.find(({ column }) => firstWord(column) === who && isName(column));
  if (who === undefined || !same || own.length === 0 || own.some((each) => firstWord(each) === who)) return;
  for (const role of ['first', 'last'] as const) taken.delete(role);
  taken.set('full', same.column);
}

function scoreOfTaken(scores: ReadonlyMap<Role, readonly RoleCandidate[]>, role: Role, column: Column): number {
  return scores.get(role)?.find((each) => each.column === column)?.score ?? 0;
}

/** The column of each row, so that the sum is the greatest and no column is used twice (the Hungarian algorithm). */
export function bestSum(matrix: readonly (readonly number[])[]): (number | undefined)[] {
  const rows = matrix.length;
  const columns = Math.max(rows, matrix[0]?.length ?? 0);
  const cost = (row: number, column: number): number => -(matrix[row - 1]?.[column - 1] ?? 0);
  const [u, v] = [new Array<number>(rows + 1).fill(0), new Array<number>(columns + 1).fill(0)];
  const rowOf = new Array<number>(columns + 1).fill(0);
  for (let row = 1; row <= rows; row += 1) {
    rowOf[0] = row;
    let at = 0;
    const least = new Array<number>(columns + 1).fill(Infinity);
    const from = new Array<number>(columns + 1).fill(0);
    const done = new Array<boolean>(columns + 1).fill(false);
    do {
      done[at] = true;
      let delta = Infinity;
      let next = 0;
      for (let column = 1; column <= columns; column += 1) {
        if (done[column]) continue;
        const reduced = cost(rowOf[at]!, column) - u[rowOf[at]!]! - v[column]!;
        if (reduced < least[column]!) [least[column], from[column]] = [reduced, at];
        if (least[column]! < delta) [delta, next] = [least[column]!, column];
      }
      for (let column = 0; column <= columns; column += 1) {
        if (done[column]) {
          u[rowOf[column]!]! += delta;
          v[column]! -= delta;
        } else least[column]! -= delta;
      }
      at = next;
    } while (rowOf[at] !== 0);
    for (; at !== 0; at = from[at]!) rowOf[at] = rowOf[from[at]!]!;
  }
  const found = new Array<number | undefined>(rows).fill(undefined);
  for (let column = 1; column <= columns; column += 1) if (rowOf[column] !== 0) found[rowOf[column]! - 1] = column - 1;
  return found;
}
