/** Firms that are among the people of a table, and whether these can do without them. */
import { countOf, countsOf, isOneOf, once, plainColumns, type Column, type Table } from '../columns.ts';
import { columnsOf } from '../matrix/assign.ts';
import { TRUE } from '../evidence.ts';
import type { EntryDraft } from '../guess.ts';
import { isOfFirm } from '../matrix/roles.ts';
import type { Reference } from './references.ts';
import { typeOf } from './typed.ts';

export interface Firms {
  /** The column that tells them from people, and its values for them. */
  readonly flag: Column;
  readonly values: readonly string[];
  readonly count: number;
  /** In SQL, whether a record of the table is one. */
  readonly isFirm: string;
}

/** Of the records of another table, those that name a firm and no person may be lost: no more than this share. */
const MOST_LOST = 0.15;

/** The firms among people, where hardly any record of another table is about a firm alone. */
export const firmsAmong = once((draft: EntryDraft, references: readonly Reference[]): Firms | undefined => {
  const found = draft.kind === 'lead' ? (flagged(draft) ?? named(draft)) : undefined;
  return found && !areNeeded(found, draft, references) ? found : undefined;
});

/** A flag says so, and none of them has a first or last name. */
function flagged({ table, roles }: EntryDraft): Firms | undefined {
  const names = columnsOf(roles, 'first', 'last');
  const flag = plainColumns(table).find((each) => each.is.flag > 0.9 && isOfFirm(each));
  const values = flag ? [...countsOf(flag).keys()].filter((value) => TRUE.test(value)) : [];
  if (!flag || values.length === 0 || names.length === 0) return undefined;
  const firms = firmsBy(flag, values, table);
  const some = names.map(({ sql }) => `${sql} is not null`).join(' or ');
  return firms && countOf(table, `from ${table.sql} where ${firms.isFirm} and (${some})`) === 0 ? firms : undefined;
}

/** Their names are the companies of the others, and a column of two or three values tells them apart. */
function named({ table, roles }: EntryDraft): Firms | undefined {
  const full = roles.get('full')?.column;
  const company = plainColumns(table).find((each) => each !== full && isOfFirm(each) && each.is.words > 0.8);
  if (!full || !company || full.table !== table) return undefined;
  const types = plainColumns(table).filter(({ distinct }) => distinct > 1 && distinct <= 4);
  for (const type of types) {
    for (const value of countsOf(type).keys()) {
      const firms = firmsBy(type, [value], table);
      const own = firms && `from ${table.sql} where ${firms.isFirm}`;
      if (!own || countOf(table, `${own} and ${company.sql} is not null`) > 0) continue;
      const all = `from (select distinct ${company.sql} name from ${table.sql} where ${company.sql} is not null)`;
      const known = countOf(table, `${all} where name in (select ${full.sql} ${own})`);
      if (known > 1 && known >= company.distinct / 2) return firms;
    }
  }
  return undefined;
}

function firmsBy(flag: Column, values: readonly string[], table: Table): Firms | undefined {
  const isFirm = `coalesce(${isOneOf(flag, values)}, false)`;
  const count = countOf(table, `from ${table.sql} where ${isFirm}`);
  return count < table.rows / 2 ? { flag, values, count, isFirm } : undefined;
}

/** Whether too many records of another table are about firms alone. */
function areNeeded(firms: Firms, { table, key, roles }: EntryDraft, references: readonly Reference[]): boolean {
  const own = references.filter(
    ({ from, to, by }) =>
      from.table !== table && (to === key?.column || to === roles.get('full')?.column) && by.apply.length === 0,
  );
  return [...new Set(own.map(({ from }) => from.table))].some((other) => {
    const names = (isFirm: string): string =>
      own
        .filter(({ from }) => from.table === other)
        .map(({ from, to }) => {
          const type = typeOf(from, references);
          const values = (['lead', 'company'] as const).flatMap((noun) => type?.values.get(noun) ?? []);
          const typed = type ? `${isOneOf(type.column, values)} and ` : '';
          return `coalesce(${typed}${from.sql} in (select ${to.sql} from ${table.sql} where ${isFirm}), false)`;
        })
        .join(' or ');
    const alone = `(${names(firms.isFirm)}) and not (${names(`not ${firms.isFirm}`)})`;
    return countOf(other, `from ${other.sql} where ${alone}`) > other.rows * MOST_LOST;
  });
}

/** The share of what refers to people that refers to firms among them. */
export function shareOfFirms({ from, to, found }: Reference, { isFirm }: Firms): number {
  const firms = `select ${to.sql} from ${to.table.sql} where ${isFirm}`;
  return countOf(from.table, `from ${from.table.sql} where ${from.sql} in (${firms})`) / found;
}
