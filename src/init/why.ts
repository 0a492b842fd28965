/** `init --why COLUMN`: the facts, rows and sums that decided about a column. */
import { UserError } from '../errors.ts';
import { didYouMean } from '../problem.ts';
import type { Facts } from './decide/decide.ts';
import type { Column } from './facts/facts.ts';
import { kindsOf, type KindAnswers } from './decide/kinds.ts';
import { POINTS, ROLES, type RecordKind, type Role } from './know/roles.ts';
import { reasonsFor, sumOf, type Reason } from './decide/score.ts';

/** `name`: a column, or `source.column` where several files have it. Throws a `UserError` if no file has it. */
export function why(name: string, facts: Facts, answers: KindAnswers): string[] {
  const { tables, references } = facts;
  const columns = tables.flatMap((table) => table.columns);
  const nameIn = ({ table, name: own }: Column): string => `${table.source}.${own}`;
  const found = columns.filter((column) => column.name === name || nameIn(column) === name);
  if (found.length === 0) {
    const names = columns.map((column) => column.name);
    const hint = didYouMean(name, names) ?? `the columns are ${names.slice(0, 12).join(', ')}, …`;
    throw new UserError(`no export has a column \`${name}\``, { hint });
  }
  const kinds = kindsOf(tables, references, answers);
  return found.flatMap((column) => {
    const own = kinds.get(column.table)!;
    const able: readonly RecordKind[] = own.length > 0 ? own.map(({ kind }) => kind) : ['lead', 'deal', 'comment'];
    const facts = Object.entries(column.is).filter(([, share]) => share > 0);
    return [
      `${nameIn(column)}: ${column.filled} of ${column.table.records} records, ${column.distinct} distinct values`,
      `  words of its header: ${[...column.meaning.concepts].join(', ') || 'none that is known'}`,
      `  facts: ${facts.map(([fact, share]) => `${fact} ${numberOf(share)}`).join(', ')}`,
      ...references
        .filter(({ from }) => from === column)
        .map(({ to, found: n, of }) => `  ${n} of ${of} values are in ${nameIn(to)}`),
      ...own.map(({ kind, reasons }) => `  its records are ${kind}s: ${sumText(reasons)}`),
      ...able.flatMap((kind) =>
        rolesOf(column, kind, own.find((each) => each.kind === kind)?.assignment.taken.entries()),
      ),
    ];
  });
}

function rolesOf(
  column: Column,
  kind: RecordKind,
  taken: Iterable<[Role, { readonly column: Column }]> = [],
): string[] {
  const has = new Set([...taken].flatMap(([role, each]) => (each.column === column ? [role] : [])));
  return (Object.keys(ROLES) as Role[]).flatMap((role) => {
    if (!ROLES[role].kinds.includes(kind)) return [];
    const { reasons, veto } = reasonsFor(role, column, kind);
    if (veto !== undefined) return sumOf(reasons) >= POINTS.set ? [`  ${kind}, ${role}: impossible (${veto})`] : [];
    if (sumOf(reasons) < POINTS.named && !has.has(role)) return [];
    return [`  ${kind}, ${role}: ${sumText(reasons)}${has.has(role) ? '; taken' : ''}`];
  });
}

const numberOf = (value: number): string => String(Math.round(value * 100) / 100);
const sumText = (reasons: readonly Reason[]): string =>
  `${numberOf(sumOf(reasons))} = ${reasons.map(({ what, points }) => `${numberOf(points)} (${what})`).join(' + ')}`;
