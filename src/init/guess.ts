/** Guesses what the records of an unknown CRM's export are, and the role of each column. */
import type { ExportColumn, Export } from './head.ts';
import { kindOf, type ExportKind } from './kinds.ts';
import { columnFor, idColumn, type ColumnRole } from './roles.ts';
import { foldHeader } from './value-text.ts';

export interface Guess {
  readonly export: Export;
  readonly kind: ExportKind;
  readonly roles: ReadonlyMap<ColumnRole, ExportColumn>;
}

export interface NamedGuess extends Guess {
  /** Its name in `sources`. */
  readonly source: string;
  /** Added to its ids, which are also those of records of another export, and why. */
  readonly prefix: { readonly text: string; readonly why: string } | undefined;
  /** Written above its entry. */
  readonly note?: string;
}

const ROLES_OF: Readonly<Record<ExportKind, readonly ColumnRole[]>> = {
  leads: ['id', 'email', 'phone', 'first_name', 'last_name', 'full_name', 'created'],
  deals: ['id', 'amount', 'currency', 'stage', 'pipeline', 'owner', 'created', 'title'],
  comments: ['id', 'content', 'title', 'author', 'created'],
  users: ['id', 'email', 'full_name', 'first_name', 'last_name'],
  companies: ['id', 'company'],
  stages: ['id', 'stage', 'title'],
  links: [],
  history: [],
  unknown: [],
};

/** `kind`: if it is known. */
export function guess(found: Export, kind: ExportKind = kindOf(found)): Guess {
  const roles = new Map<ColumnRole, ExportColumn>();
  const taken = new Set<ExportColumn>();
  for (const role of ROLES_OF[kind]) {
    const rest = found.columns.filter((each) => !taken.has(each));
    const column = role === 'id' ? idColumn(found) : columnFor(role, rest);
    if (!column) continue;
    roles.set(role, column);
    taken.add(column);
  }
  if (kind === 'leads') settleNames(roles);
  return { export: found, kind, roles };
}

/** `nome` with a `cognome` column is a first name; without one, it is the full name. */
function settleNames(roles: Map<ColumnRole, ExportColumn>): void {
  const first = roles.get('first_name');
  if (!first || roles.has('last_name') || !/^(?:nome|nom|nombre)$/.test(foldHeader(first.name))) return;
  roles.delete('first_name');
  if (!roles.has('full_name')) roles.set('full_name', first);
}
