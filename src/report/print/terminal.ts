/** Figures on a terminal of a certain width: the verdict, then each section as a table that fits. Pure. */
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';
import { DecimalSum, grouped } from '../../decimal.ts';
import {
  isAmount,
  type Cell,
  type CellColumn,
  type Figures,
  type Cells,
  type Limit,
  type Section,
} from '../figures/figures.ts';
import { cutTo, padded, wrapped } from './layout.ts';
import { counted, numberText } from '../words/numbers.ts';
import { oneLine, visible } from '../words/visible.ts';
import type { ScreenLine, Span } from './console.ts';

/** A result fits on a screen of so many lines. */
export const SCREEN_LINES = 30;

interface Screen {
  readonly columns: number;
  /** Every row of every list, however long. */
  readonly isWhole?: boolean;
}

/** The lines: at most as many as it may have, if the lists can be cut that far. Each list says how many rows are cut. */
export function screenOf(
  { verdict, sections, lines: most = SCREEN_LINES }: Figures,
  { columns, isWhole = false }: Screen,
): ScreenLine[] {
  const top = headLines(verdict, columns);
  const caps = sections.map(({ rows, limit }) => (isWhole || !limit ? rows.length : limit.most));
  const first = sections.findIndex((section) => section.columns.some(({ kind }) => kind === 'hint'));
  // Kept: from one attempt to the next, one section changes, and the width of texts is slow to compute.
  const kept = new Map<string, ScreenLine[]>();
  let press: Press = 0;
  const linesOf = (at: number, hints: number): ScreenLine[] => {
    const key = `${at} ${caps[at]} ${hints} ${press}`;
    const lines =
      kept.get(key) ??
      sectionLines(sections[at]!, columns, {
        cap: caps[at]!,
        hints,
        hasCodes: press < 2 || !sections[at]!.limit?.needed,
      });
    kept.set(key, lines);
    return lines;
  };
  for (let hints = Infinity, gaps: Gaps = 'all'; ;) {
    const partsWith = (shown: number) =>
      sections.map((_, at) => linesOf(at, at === first || shown === Infinity ? shown : 0));
    const linesWith = (shown: number) => joined([top, ...partsWith(shown)], sections, gaps);
    const lines = linesWith(hints);
    const longest = longestCut(sections, partsWith(hints), caps, press);
    if (isWhole || lines.length <= most || (press === 3 && longest === undefined)) {
      // As many as there is room for.
      while (hints < caps[first]! && linesWith(hints + 1).length <= most) hints += 1;
      return linesWith(hints);
    }
    // How to fix a thing is said in the files, too, but that of the first cause is worth more than a row, and a row more than a blank line.
    if (hints > 1 || gaps === 'all') {
      [hints, gaps] = [1, hints > 1 ? 'all' : 'titles'];
      continue;
    }
    if (longest !== undefined) caps[longest] = Math.min(caps[longest]!, sections[longest]!.rows.length) - 1;
    else if (press < 2) [hints, press] = [0, press === 0 ? 1 : 2];
    else if (gaps !== 'none') gaps = 'none';
    else press = 3;
  }
}

/** Between which sections there are blank lines: `titles`, only before those with a title. */
type Gaps = 'all' | 'titles' | 'none';

/** How far lists are cut: to what is wanted; to what is needed; so, and without codes below causes; to one row, and the causes last. */
type Press = 0 | 1 | 2 | 3;

function longestCut(
  sections: readonly Section[],
  parts: readonly (readonly ScreenLine[])[],
  caps: readonly number[],
  press: Press,
): number | undefined {
  const candidates = sections.flatMap(({ rows, limit }, at) => {
    const least = limit && leastOf(limit, press);
    return least !== undefined && Math.min(caps[at]!, rows.length) > least ? [at] : [];
  });
  const isNeeded = (at: number): number => (press === 3 && (sections[at]!.limit!.needed ?? 0) > 0 ? 1 : 0);
  return candidates.sort(
    (one, other) => isNeeded(one) - isNeeded(other) || parts[other]!.length - parts[one]!.length,
  )[0];
}

/** The row that sums up those that are cut stays. */
function leastOf({ least, needed = Math.min(least, 1), isSummed = false }: Limit, press: Press): number {
  return [least, needed, needed, isSummed ? 0 : Math.min(needed, 1)][press]!;
}

/** A blank line before each section with a title, and before the first of several without one; none before a list in one line. */
function joined(parts: readonly (readonly ScreenLine[])[], sections: readonly Section[], gaps: Gaps): ScreenLine[] {
  return parts.flatMap((lines, at) => {
    const section = sections[at - 1];
    const isFirst = at === 1 || sections[at - 2]?.title !== '';
    const isApart =
      section !== undefined && (section.title === '' ? isFirst && gaps === 'all' : lines.length > 1 && gaps !== 'none');
    return isApart && lines.length > 0 ? [[], ...lines] : [...lines];
  });
}

function headLines({ word, text, mood, details }: Figures['verdict'], columns: number): ScreenLine[] {
  return [
    ...broken(`${word}${clean(text)}`, columns, mood),
    ...details.flatMap((detail) => broken(`  ${clean(detail)}`, columns)),
  ];
}

interface Room {
  readonly cap: number;
  /** How many rows show theirs. */
  readonly hints: number;
  /** Also where they do not fit beside their rows. */
  readonly hasCodes: boolean;
}

function sectionLines(section: Section, columns: number, room: Room): ScreenLine[] {
  const { rows, totals, notes } = section;
  const { cap } = room;
  // A line saying that one row is cut would be as long as the row, unless the title can say it.
  const isDispensable = cap === 0 && section.limit?.needed === 0;
  const most = rows.length - cap < 2 && !isDispensable ? rows.length : cap;
  const shown = rows.slice(0, most);
  const left = rows.slice(most);
  const isSummed = section.limit?.isSummed === true;
  if (most === 0 && left.length > 0 && !isSummed) {
    const [first = '', ...more] = wrapped(`${section.title}  ${moreText(section, left)}`, columns).split('\n');
    const { title } = section;
    return [
      [{ text: title, style: 'heading' }, { text: first.slice(title.length) }],
      ...more.map((text): ScreenLine => [{ text }]),
    ];
  }
  const body = [...shown, ...(isSummed && left.length > 0 ? [moreRow(section, left)] : []), ...totals];
  const lines = body.length === 0 ? titleOnly(section, columns) : tableLines(section, body, columns, room);
  const more = isSummed || left.length === 0 ? [] : broken(`  ${moreLine(section, left, columns - INDENT)}`, columns);
  return [...lines, ...more, ...notes.flatMap((note) => broken(`  ${clean(note)}`, columns))];
}

function titleOnly({ title }: Section, columns: number): ScreenLine[] {
  return title === '' ? [] : broken(clean(title), columns, 'heading');
}

/** The row about rows that are cut: their number and their sums. */
function moreRow({ columns, rows, limit }: Section, left: readonly Cells[]): Cells {
  return columns.map(({ kind }, at): Cell => {
    if (at === 0) return counted(left.length, left.length === rows.length ? limit!.noun : `more ${limit!.noun}`);
    return kind === 'number' || kind === 'amount' ? sumOf(left.map((row) => row[at] ?? null)) : null;
  });
}

/** Where to find the rows that are cut, and as many of their codes as the line has room for. */
function moreLine(section: Section, left: readonly Cells[], width: number): string {
  const text = moreText(section, left, 'more ');
  const at = section.columns.findIndex(({ kind }) => kind === 'code');
  if (at < 0 || section.limit!.others) return text;
  const codes = [...new Set(left.map((row) => row[at]).filter((code) => typeof code === 'string'))];
  for (let shown = codes.length; shown > 0; shown -= 1) {
    const line = `${text}: ${codes.slice(0, shown).join(', ')}${shown < codes.length ? ', …' : ''}`;
    if (stringWidth(line) <= width) return line;
  }
  return text;
}

/** A row with a `count` is about as many of the nouns. */
function moreText({ columns, limit }: Pick<Section, 'columns' | 'limit'>, left: readonly Cells[], more = ''): string {
  const { noun, others, rest } = limit!;
  const at = columns.findIndex(({ head }) => head === 'count' || head === 'rows');
  const countOf = (rows: readonly Cells[]): number =>
    at < 0 ? rows.length : (sumOf(rows.map((row) => row[at] ?? null)) as number);
  const [other, own] = [true, false].map((isOther) =>
    left.filter((row) => !others?.rows.includes(row) !== isOther),
  ) as [Cells[], Cells[]];
  const kinds = own.length > 1 && countOf(own) > own.length ? ` of ${counted(own.length, 'kind')}` : '';
  return [
    ...(other.length === 0 ? [] : [`${counted(countOf(other), `${more}${others!.noun}`)} ${others!.what}`]),
    ...(own.length === 0 ? [] : [`${counted(countOf(own), `${more}${noun}`)}${kinds} in ${rest}`]),
  ].join(', ');
}

/** Of amounts in several currencies there is no sum. */
function sumOf(cells: readonly Cell[]): Cell {
  const amounts = cells.filter(isAmount);
  if (amounts.length === 0) return cells.reduce<number>((sum, cell) => sum + (typeof cell === 'number' ? cell : 0), 0);
  if (new Set(amounts.map(({ currency }) => currency)).size > 1) return null;
  const sum = new DecimalSum();
  for (const { amount } of amounts) sum.add(amount);
  return { amount: sum.toString(), currency: amounts[0]!.currency };
}

const INDENT = 2;
const GAP = 2;
/** No column of text is narrower: before that, whole columns are left out. */
const NARROWEST = 12;

/** Where the cells of a table go: side by side, or below their row. */
interface Plan {
  readonly beside: readonly number[];
  readonly below: readonly number[];
  readonly widths: readonly number[];
  /** Columns for which there is no room at all. */
  readonly dropped: readonly number[];
}

function tableLines(section: Section, body: readonly Cells[], columns: number, room: Room): ScreenLine[] {
  const { title } = section;
  const texts = body.map((row, index) =>
    section.columns.map(({ kind }, at) =>
      kind === 'hint' && index >= room.hints ? '' : cellText(row[at] ?? null, kind),
    ),
  );
  const heads = section.columns.map(({ head }) => head);
  let plan = planOf(section, texts, heads, columns);
  const place = section.columns.findIndex(({ kind }) => kind === 'place');
  if (!room.hasCodes && plan.below.includes(place) && section.columns[0]!.kind === 'text') {
    // Behind its text, a place takes a line of its own only where that is full.
    for (const row of texts) [row[0], row[place]] = [[row[0]!, row[place]!].join('  ').trim(), ''];
    plan = planOf(section, texts, heads, columns);
  }
  const hasHeads = heads.some((head) => head !== '');
  const isBeside = hasHeads && title !== '' && stringWidth(title) <= plan.widths[plan.beside[0]!]! + INDENT;
  const top = [
    ...(isBeside ? [] : titleOnly(section, columns)),
    ...(hasHeads
      ? [headLine(section.columns, heads, isBeside ? title : `${' '.repeat(INDENT)}${heads[0]!}`, plan)]
      : []),
  ];
  const below = plan.below.filter((at) => room.hasCodes || section.columns[at]!.kind !== 'code');
  const lost = plan.dropped.map((at) => heads[at]!).filter((head) => head !== '');
  return [
    ...top,
    ...texts.flatMap((row) => rowLines(section.columns, row, { ...plan, below }, columns)),
    ...(lost.length === 0 ? [] : [[{ text: `  a wider terminal shows ${lost.join(', ')}, too` }]]),
  ];
}

/** A hint and a command always: a line with a command alone can be copied. */
const ORDER_BELOW = ['hint', 'command', 'code', 'place', 'path'] as const;

function planOf(section: Section, texts: readonly string[][], heads: readonly string[], columns: number): Plan {
  const natural = section.columns.map((_, at) =>
    Math.max(at === 0 ? 0 : stringWidth(heads[at]!), ...texts.map((row) => stringWidth(row[at]!))),
  );
  let beside = section.columns.map((_, at) => at);
  const below: number[] = [];
  const dropped: number[] = [];
  const widthOf = (widths: readonly number[]): number =>
    INDENT + beside.reduce((sum, at) => sum + widths[at]!, 0) + GAP * Math.max(0, beside.length - 1);
  const move = (at: number, to: number[]): void => {
    beside = beside.filter((each) => each !== at);
    to.push(at);
  };
  for (const kind of ORDER_BELOW) {
    if (kind !== 'hint' && kind !== 'command' && widthOf(natural) <= columns) break;
    for (const [at, column] of section.columns.entries()) if (column.kind === kind) move(at, below);
  }
  const isText = (at: number): boolean => ['text', 'value'].includes(section.columns[at]!.kind);
  const least = natural.map((width, at) => (isText(at) ? Math.min(width, NARROWEST) : width));
  while (widthOf(least) > columns && beside.length > 2) move(beside.at(-1)!, dropped);
  const widths = [...natural];
  // The widest text gives way first.
  while (widthOf(widths) > columns) {
    const widest = beside.filter((at) => widths[at]! > least[at]!).sort((a, b) => widths[b]! - widths[a]!)[0];
    if (widest === undefined) break;
    widths[widest]! -= 1;
  }
  // Where there is room, the title is above the first column, if the others have headings.
  const isTitled = heads.some((head) => head !== '');
  const missing = isTitled ? stringWidth(section.title) - INDENT - widths[beside[0]!]! : 0;
  if (missing > 0 && widthOf(widths) + missing <= columns) widths[beside[0]!]! += missing;
  return { beside, below: below.sort((a, b) => a - b), widths, dropped: dropped.reverse() };
}

function headLine(
  columns: readonly CellColumn[],
  heads: readonly string[],
  first: string,
  { beside, widths }: Plan,
): ScreenLine {
  const rest = beside.slice(1).map((at) => aligned(heads[at]!, widths[at]!, columns[at]!));
  const width = widths[beside[0]!]! + INDENT;
  const lead = padded(first, width);
  const tail = rest.length === 0 ? '' : `${' '.repeat(GAP)}${rest.join(' '.repeat(GAP))}`;
  return trimmed([
    { text: lead, style: 'heading' },
    { text: tail, style: 'dim' },
  ]);
}

function rowLines(columns: readonly CellColumn[], row: readonly string[], plan: Plan, width: number): ScreenLine[] {
  const { beside, below, widths } = plan;
  const cells = beside.map((at) => {
    const { kind } = columns[at]!;
    if (kind === 'value') return [cutTo(row[at]!, widths[at]!)];
    return kind === 'text' || kind === 'label' ? brokenCell(row[at]!, widths[at]!) : [row[at]!];
  });
  const height = Math.max(...cells.map(({ length }) => length));
  const lines = Array.from({ length: height }, (_, line): ScreenLine => {
    const spans = beside.flatMap((at, index): Span[] => [
      { text: index === 0 ? ' '.repeat(INDENT) : ' '.repeat(GAP) },
      spanOf(cells[index]![line] ?? '', widths[at]!, columns[at]!),
    ]);
    return trimmed(spans);
  });
  const hang = ' '.repeat(INDENT * 2);
  const textsBelow = (isMeant: (kind: CellColumn['kind']) => boolean): string[] =>
    below.filter((at) => isMeant(columns[at]!.kind) && row[at] !== '').map((at) => row[at]!);
  const commands = textsBelow((kind) => kind === 'command');
  const hints = textsBelow((kind) => kind === 'hint');
  const under = textsBelow((kind) => kind !== 'command' && kind !== 'hint').join('   ');
  return [
    ...lines,
    ...(under === '' ? [] : broken(hang + under, width, 'dim')),
    ...hints.flatMap((hint) => broken(`${hang}hint: ${hint}`, width, 'dim')),
    ...commands.map((text): ScreenLine => [{ text: hang }, { text, style: 'command' }]),
  ];
}

/** `Closed Won -> Sales / Won` is broken before its arrow. */
function brokenCell(text: string, width: number): string[] {
  const [from, ...to] = stringWidth(text) <= width ? [text] : text.split(' -> ');
  return [from!, ...to.map((each) => `-> ${each}`)].flatMap((part) =>
    wrapAnsi(part, width, { hard: true }).split('\n'),
  );
}

function spanOf(text: string, width: number, column: CellColumn): Span {
  const style =
    column.kind === 'code' || column.kind === 'place' ? 'dim' : column.kind === 'command' ? 'command' : undefined;
  return { text: aligned(text, width, column), style };
}

function aligned(text: string, width: number, { kind }: CellColumn): string {
  return padded(text, width, kind === 'number' || kind === 'amount' ? 'start' : 'end');
}

function trimmed(spans: readonly Span[]): ScreenLine {
  const line = [...spans];
  while (line.length > 0) {
    const last = line.at(-1)!;
    const text = last.text.trimEnd();
    if (text !== '') return [...line.slice(0, -1), { ...last, text }];
    line.pop();
  }
  return line;
}

function cellText(cell: Cell, kind: CellColumn['kind']): string {
  if (cell === null) return '';
  // Its currency is said by the sums.
  if (isAmount(cell)) return grouped(cell.amount);
  if (typeof cell === 'number') return numberText(cell);
  return kind === 'command' ? cell : clean(cell);
}

function clean(text: string): string {
  return visible(oneLine(text));
}

function broken(text: string, columns: number, style?: Span['style']): ScreenLine[] {
  return wrapped(text, columns)
    .split('\n')
    .map((line) => [{ text: line, style }]);
}
