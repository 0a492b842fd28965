/** Recognises what the records of an unknown CRM's export are: by their columns, and by the name of the file. */
import { basename } from 'node:path';
import type { ExportColumn, Export } from './head.ts';
import { kindOfNoun, type ExportKind } from './nouns.ts';
import { fits, idColumn, type ColumnRole } from './roles.ts';
import { foldHeader } from './value-text.ts';

export function kindOf(found: Export): ExportKind {
  const words = foldHeader(basename(found.path).replace(/(?:\.\w+)+$/, '')).split(' ');
  if (isHistory(found, words)) return 'history';
  if (isLinks(found)) return 'links';
  const named = words.flatMap((word) => kindOfNoun(word) ?? []).at(-1);
  if (named === 'unknown' || (named !== undefined && EVIDENCE[named]?.some((role) => has(found, role)) !== false))
    return named;
  return kindByColumns(found);
}

/** One of these columns is needed; otherwise the name of the file is not trusted. */
const EVIDENCE: Readonly<Partial<Record<ExportKind, readonly ColumnRole[]>>> = {
  leads: ['id', 'email', 'phone', 'first_name', 'last_name', 'full_name'],
  deals: ['amount', 'stage', 'title'],
  users: ['email', 'full_name', 'first_name', 'last_name'],
  companies: ['company'],
  stages: ['stage', 'label'],
};

function has({ columns }: Export, role: ColumnRole): boolean {
  return columns.some((column) => fits(role, column));
}

function kindByColumns(found: Export): ExportKind {
  const score = (...roles: ColumnRole[]): number => roles.filter((role) => has(found, role)).length;
  const texts = found.columns.filter((column) => fits('content', column) && column.facts.length > 20).length;
  if (has(found, 'stage') && !has(found, 'amount') && found.columns.some(isPosition)) return 'stages';
  const scores: [ExportKind, number][] = [
    ['deals', score('amount') === 0 || isPartOfDeals(found) ? 0 : 1 + score('stage', 'title', 'owner')],
    ['leads', 2 * score('email') + score('phone', 'first_name', 'last_name')],
    ['comments', 2 * texts],
  ];
  const best = scores.reduce((a, b) => (b[1] > a[1] ? b : a));
  return best[1] >= 2 ? best[0] : 'unknown';
}

/** A position in a list, such as that of a stage. */
function isPosition({ name }: ExportColumn): boolean {
  return /(?:^| )(?:order|sort order|position|probability|reihenfolge|ordine)(?: |$)/.test(foldHeader(name));
}

/** Payments and the like have the id of their deal besides their own. */
function isPartOfDeals(found: Export): boolean {
  const own = idColumn(found);
  return found.columns.some(
    (column) => column !== own && /^(?:deal|opportunity|potential) id$/.test(foldHeader(column.name)),
  );
}

/** Old and new values of a field. The service has only the present ones. */
function isHistory({ columns }: Export, words: readonly string[]): boolean {
  if (words.some((word) => /^(?:history|audit|changelog|storico|verlauf|historique|historial)$/.test(word)))
    return true;
  const names = columns.map(({ name }) => foldHeader(name));
  const changed = names.filter((name) => name.startsWith('old ')).map((name) => name.slice('old '.length));
  return changed.some((name) => names.includes(`new ${name}`));
}

/** Pairs of ids of other records, such as the contacts of deals, with hardly anything else. */
function isLinks(found: Export): boolean {
  const kinds = new Set(
    found.columns.flatMap((column) => {
      const noun = / ?(\w+) ids?$/.exec(foldHeader(column.name))?.[1];
      const kind = noun === undefined || column.facts.filled === 0 ? undefined : kindOfNoun(noun);
      if (kind === undefined || kind === 'users' || kind === 'stages') return [];
      return [kind === 'unknown' ? noun : kind];
    }),
  );
  const substance: readonly ColumnRole[] = ['amount', 'title', 'stage', 'content', 'email', 'first_name', 'full_name'];
  return kinds.size >= 2 && !substance.some((role) => has(found, role));
}
