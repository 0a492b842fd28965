/** The sentences about what becomes of files, lists and columns. */
import { kindOfType } from '../../kinds/index.ts';
import { counted, enumerated, numberText, ofText } from '../../report/words/numbers.ts';
import type { Column, Table } from './columns.ts';
import { quoted } from './evidence.ts';
import { isOpen, plainComment, type Entry, type Line, type SkipCount } from './lines/yaml.ts';
import { partOf, type Export } from './open-export.ts';
import { MAX_COLUMNS, type RecordType } from './raw-table.ts';
import type { EntryFate } from './trial.ts';

/** Fields by what records become: `owner_name` of `deals`. */
export type Lookups = Map<string, Set<string>>;

/** As messages name it: an array of a JSON document like a file. */
export function nameOf({ from }: Table): string {
  return from.type && from.type.as !== 'records' ? `${fileText(from)} (${typeText(from.type)})` : fileText(from);
}

export function fileText({ path, settings, family }: Export): string {
  const part = partOf(settings);
  const name = part === undefined || part === '.' || part === '$' ? path : `${path}#${part}`;
  return family ? `${name} and ${numberText(family.members.length - 1)} more with the same columns` : name;
}

export function typeText({ from, is }: RecordType): string {
  if (typeof is === 'string') return `${is === 'present' ? 'with' : 'without'} \`${from}\``;
  return `of \`${from}\` ${enumerated(is, 'or')}`;
}

export function exportText(table: Table, read: number | undefined): string {
  const { from, columns, rows, whole } = table;
  const more = columns.length < MAX_COLUMNS ? [] : [`only the first ${numberText(MAX_COLUMNS)} columns were read`];
  const reasons = [...from.reasons, ...more].map((reason) => `; ${reason}`).join('');
  const count = read ?? rows + from.sample.unreadable;
  const isAll = whole || read !== undefined;
  return `${fileText(from)}: ${from.source.description}, ${isAll ? '' : 'the first '}${counted(count, 'record')} read${reasons}`;
}

export function entryText({ type, refused }: Entry, fate: EntryFate | undefined): string {
  const [one, many] = kindOfType(type).words;
  if (refused !== undefined) return `not used for ${many}: ${refused}`;
  if (!fate) return `its records become ${many}`;
  const failed = fate.failed > 0 ? ` (${numberText(fate.failed)} cannot be sent: ${fate.codes.join(', ')})` : '';
  const rows = fate.records <= fate.events ? '' : `${numberText(fate.records)} are `;
  return `${rows}${counted(fate.events, one)}${failed}`;
}

/** `looked up by deals (owner_name) and comments (when, lead_external_id)`. */
export function lookedUpText(fields: Lookups): string {
  const texts = [...fields].map(([type, keys]) => `${type} (${[...keys].join(', ')})`);
  return `looked up by ${enumerated(texts, 'and')}`;
}

export function notCarriedText(columns: readonly Column[], why = '', mark = ''): string | undefined {
  return columns.length === 0 ? undefined : `${mark}not carried${why}: ${columns.map(quoted).join(', ')}`;
}

export function emptyText({ columns, rows, whole }: Table): string | undefined {
  // `partner_id` is false where `partner_id[1]` has no value.
  const isWhole = ({ name }: Column): boolean =>
    columns.some((each) => each.name.startsWith(`${name}[`) || each.name.startsWith(`${name}.`));
  const empty = columns.filter((column) => column.filled === 0 && !isWhole(column));
  const where = whole ? 'in all records' : `in the first ${numberText(rows)} records`;
  return empty.length === 0 ? undefined : `empty ${where}: ${empty.map(quoted).join(', ')}`;
}

/** More than a tenth is more than an oversight. */
export function isMany(part: number, of: number): boolean {
  return part > of * 0.1;
}

export function whenLine(line: Line, taken: number | undefined, total: number | undefined): Line {
  const { comment } = line;
  const skips = skipsOf(line);
  // Records of other types have entries of their own.
  if (comment === undefined) return line;
  if (taken === undefined || total === undefined) return { ...line, comment: `check: ${plainComment(line)}` };
  const count = Math.max(0, total - taken);
  const reasons = withRest(skips, count);
  const isLost = reasons.some((each) => each.why.endsWith('in no export') && each.count !== 0);
  const mark = isOpen(line) || isLost || isMany(count, total) ? 'check: ' : '';
  return { ...line, comment: `${mark}skips ${ofText(count, total)}: ${reasonsText(reasons)}` };
}

function skipsOf(when: Line | undefined): readonly SkipCount[] {
  if (when?.comment === undefined) return [];
  return when.skips ?? [{ why: plainComment(when) }];
}

/** The one reason that was not counted skips the rest of `all`. */
function withRest(skips: readonly SkipCount[], all: number): SkipCount[] {
  const rest = all - skips.reduce((sum, { count = 0 }) => sum + count, 0);
  const isOne = rest >= 0 && skips.filter(({ count }) => count === undefined).length === 1;
  return skips.map((each) => (isOne ? { ...each, count: each.count ?? rest } : each));
}

/** `5 without a text, 3 whose lead or deal is in no export`; a single reason needs no number. */
function reasonsText(skips: readonly SkipCount[]): string {
  const some = skips.filter(({ count }) => count !== 0);
  if (some.length < 2) return (some[0] ?? skips[0]!).why;
  return some
    .map(({ why, count }) => (count === undefined ? why : `${numberText(count)} ${why.replace(/^records /, '')}`))
    .join(', ');
}

/** Nothing where an entry takes all records. */
export function whySkipped(entries: readonly Entry[], all: number): string {
  const live = entries.filter(({ refused }) => refused === undefined);
  const whenOf = ({ settings }: Entry): Line | undefined => settings.find(({ key, off }) => key === 'when' && !off);
  if (live.some((entry) => entry.table.list === undefined && !whenOf(entry))) return '';
  const skips = live.flatMap((entry): SkipCount[] => {
    const { list } = entry.table;
    return [...skipsOf(whenOf(entry)), ...(list === undefined ? [] : [{ why: `records without \`${list}\`` }])];
  });
  const whys = new Map(skips.map((each) => [each.why, live.length === 1 ? each : { why: each.why }]));
  return whys.size > 0 ? `: ${reasonsText(withRest([...whys.values()], all))}` : '';
}
