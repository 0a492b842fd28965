/** The mapping and the exports of one day of a history, as files. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  changesPoliciesOn,
  commentOn,
  DEAL_COLUMNS,
  LEAD_COLUMNS,
  policiesOn,
  type Cells,
  type Comment,
  type History,
  type Letter,
  type Policies,
  type Row,
} from './history.ts';

/** The columns that a mistaken mapping takes for these. */
const MISTAKEN: Readonly<Record<string, string>> = { name: 'city', title: 'origin' };

function leadData(isMismapped: boolean, hasCustom = true): string {
  const name = isMismapped ? MISTAKEN.name : 'name';
  const custom = hasCustom ? ', custom_params: { city: city }' : '';
  return `{ external_id: id, full_name: ${name}, email: { from: email, on_error: reject }${custom} }`;
}

function dealData(isMismapped: boolean, hasCustom = true): string {
  const title = isMismapped ? MISTAKEN.title : 'title';
  const custom = hasCustom ? ', custom_fields: { origin: origin }' : '';
  return `{ external_id: id, title: ${title}, amount: amount, stage_name: stage, lead_external_id: lead${custom} }`;
}

const STAGES: Readonly<Record<string, string>> = { a: 'New', b: 'Won', c: 'Lost' };
const PARENTS: Readonly<Record<string, string>> = { a: 'L1', b: 'L2', c: 'L0' };

/** The column whose cells the mapping of a day takes for this one. */
export function columnOn({ days }: History, day: number, column: string): string {
  return (days[day]?.isMismapped && MISTAKEN[column]) || column;
}

/** What a cell contains. */
export function textOf(column: string, letter: Letter): string {
  if (letter === '') return '';
  if (letter === '!') return 'none';
  switch (column) {
    case 'email':
      return `${letter}@Example.test`;
    case 'amount':
      return `${letter.charCodeAt(0)}.5`;
    case 'stage':
      return STAGES[letter]!;
    case 'lead':
      return PARENTS[letter]!;
    default:
      return `${column} ${letter}`;
  }
}

/** A table of the history, as a source of the mapping; a second source continues it where the history has `cuts`. */
export const TABLES = {
  leads: 'leads',
  leadChanges: 'lead_changes',
  deals: 'deals',
  dealChanges: 'deal_changes',
} as const;
export type Table = keyof typeof TABLES;
export type SourceName = (typeof TABLES)[Table] | `more_${(typeof TABLES)[Table]}`;

/** The source that has the nth row of a table on a day. */
export function sourceOf({ cuts }: History, day: number, table: Table, nth: number): SourceName {
  return cuts && nth >= cuts[day]! ? `more_${TABLES[table]}` : TABLES[table];
}

export function columnsOf(source: SourceName): readonly string[] {
  return source.includes('lead') ? LEAD_COLUMNS : DEAL_COLUMNS;
}

export function contentOf(comment: 'a' | 'b'): string {
  return `Called ${comment}`;
}

/** In a combined comment; what it is where the mapping no longer combines. */
export const BETWEEN_PARTS = '\n--\n';

export function writeDay(cwd: string, history: History, day: number): void {
  const { comments, days } = history;
  const mapping = {
    lead: policiesOn(history, day, 'lead'),
    leadChanges: changesPoliciesOn(history, day, 'lead'),
    deal: policiesOn(history, day, 'deal'),
    dealChanges: changesPoliciesOn(history, day, 'deal'),
    comment: history.mapping.comment,
    hasCustom: history.changed === undefined,
  };
  mkdirSync(cwd, { recursive: true });
  const write = (name: string, text: string): void => writeFileSync(join(cwd, name), text);
  const prefixes = history.cuts ? ['', 'more_'] : [''];
  const habits = { isMismapped: days[day]?.isMismapped ?? false, isCombined: history.combines?.[day] ?? false };
  write('mapping.yaml', mappingText(mapping, habits, prefixes));
  for (const [table, name] of Object.entries(TABLES) as [Table, SourceName][]) {
    for (const source of prefixes.map((prefix) => `${prefix}${name}` as SourceName)) {
      const rows = history[table].filter((_, nth) => sourceOf(history, day, table, nth) === source);
      write(`${source}.csv`, csv(rows, columnsOf(source), day));
    }
  }
  write('comments.csv', commentsCsv(comments, day));
}

/** A row as its file has it. */
export function lineOf(id: string, columns: readonly string[], cells: Cells): string {
  return [id, ...columns.map((column) => textOf(column, cells[column] ?? ''))].join(',');
}

function csv(rows: readonly Row[], columns: readonly string[], day: number): string {
  const lines = rows.flatMap(({ id, days }) => (days[day] ? [lineOf(id, columns, days[day])] : []));
  return [`id,${columns.join(',')}`, ...lines, ''].join('\n');
}

function commentsCsv(comments: readonly Comment[], day: number): string {
  const lines = comments.flatMap((comment) => {
    const { id, lead, deal, at, days } = commentOn(comment, day);
    const content = days[day];
    if (!content) return [];
    return [[id, content === '!' ? '' : contentOf(content), at, lead, deal].join(',')];
  });
  return ['id,content,at,lead,deal', ...lines, ''].join('\n');
}

interface MappingOfDay {
  readonly lead: Policies;
  readonly leadChanges: Policies;
  readonly deal: Policies;
  readonly dealChanges: Policies;
  readonly comment: Policies;
  /** Whether the updated entries carry custom fields. */
  readonly hasCustom: boolean;
}

function mappingText(
  { lead, leadChanges, deal, dealChanges, comment, hasCustom }: MappingOfDay,
  { isMismapped, isCombined }: { readonly isMismapped: boolean; readonly isCombined: boolean },
  prefixes: readonly string[],
): string {
  const [leads, deals] = [leadData(isMismapped), dealData(isMismapped)];
  const [newLeads, newDeals] = [leadData(isMismapped, hasCustom), dealData(isMismapped, hasCustom)];
  const each = (line: (prefix: string) => string): string => prefixes.map(line).join('\n');
  return `version: 1
migration: simulated
sources:
${each((prefix) =>
  Object.values(TABLES)
    .map((name) => `  ${prefix}${name}: { path: ${prefix}${name}.csv }`)
    .join('\n'),
)}
  comments: { path: comments.csv }
events:
${each((more) => `  - { type: lead/created, source: ${more}leads, ${created(lead, 'full_name')}, if_contact_exists: ${lead.if_contact_exists}, data: ${leads} }`)}
${each((more) => `  - { type: lead/updated, source: ${more}lead_changes, ${updated(leadChanges, 'full_name')}, data: ${newLeads} }`)}
${each((more) => `  - { type: deal/created, source: ${more}deals, ${created(deal, 'title')}, if_parent_missing: ${deal.if_parent_missing}, data: ${deals} }`)}
${each((more) => `  - { type: deal/updated, source: ${more}deal_changes, ${updated(dealChanges, 'title')}, if_parent_missing: ${deal.if_parent_missing}, data: ${newDeals} }`)}
  - type: comment/created
    source: comments
    if_parent_missing: ${comment.if_parent_missing === 'omit' ? 'block' : comment.if_parent_missing}
    duplicates: ${comment.duplicates}
    occurred_at: { from: at, apply: [{ date: iso }] }
${isCombined ? `    combine: { heading: "{id} {time}", separator: "${BETWEEN_PARTS.replaceAll('\n', '\\n')}", max: 3 }\n` : ''}\
    data: { external_id: id, content: content, lead_external_id: lead, deal_external_id: deal }
`;
}

function created(policies: Policies, listed: string): string {
  const { if_exists, if_edited, duplicates, priority } = policies;
  const first = priority ? ', priority: { value: 1 }' : '';
  return `if_exists: ${if_exists}, ${changed(policies, listed)}, if_edited: ${if_edited}, duplicates: ${duplicates}${first}`;
}

function updated(policies: Policies, listed: string): string {
  return `if_missing: ${policies.if_missing}, ${changed(policies, listed)}`;
}

function changed({ if_changed: policy }: Policies, listed: string): string {
  return `if_changed: ${policy === 'listed' ? `[${listed}]` : policy}`;
}
