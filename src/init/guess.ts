/** Guesses what the records of an unknown CRM's export are, and the role of each column. */
import type { ExportColumn, Export } from './head.ts';
import { kindOf } from './kinds.ts';
import type { ExportKind } from './nouns.ts';
import { columnFor, fits, idColumn, isIdName, type ColumnRole } from './roles.ts';

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
  comments: ['id', 'content', 'subject', 'author', 'happened'],
  users: ['id', 'email', 'full_name', 'first_name', 'last_name'],
  companies: ['id', 'company'],
  stages: ['id', 'stage', 'label'],
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
    const column = role === 'id' ? idColumn(found, kind) : columnFor(role, rest);
    if (!column) continue;
    roles.set(role, column);
    // An id that is an e-mail address, a name or a title is also that.
    if (role !== 'id' || isIdName(column.name) || fits('id', column)) taken.add(column);
  }
  settleNames(roles);
  return { export: found, kind, roles };
}

/** A first or last name without the other one is the full name (`nome` without `cognome`). */
function settleNames(roles: Map<ColumnRole, ExportColumn>): void {
  const [first, last] = [roles.get('first_name'), roles.get('last_name')];
  const only = first && last ? undefined : (first ?? last);
  if (!only) return;
  if (!roles.has('full_name')) roles.set('full_name', only);
  roles.delete('first_name');
  roles.delete('last_name');
}
