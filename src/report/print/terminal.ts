/** Figures on a terminal of a certain width: the verdict, then each section as a table that fits. Pure. */
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';
import { grouped } from '../../decimal.ts';
import { isAmount, type Cell, type CellColumn, type Cells, type Figures, type Section } from '../figures/figures.ts';
import { cutTo, padded, wrapped } from './layout.ts';
import { numberText } from '../words/numbers.ts';
import { oneLine, visible } from '../words/visible.ts';
import type { Console, ScreenLine, Span } from './console.ts';

const INDENT = 2;
const GAP = 2;
/** No column of text is narrower: before that, whole columns are left out. */
const NARROWEST = 12;

/** For people, to keep: on stdout, or with `json`, which has stdout for itself, on stderr. */
export function showFigures(console: Console, figures: Figures, { json }: { readonly json: boolean }): void {
  if (json) console.say(screenOf(figures, console.columns));
  else console.show(screenOf(figures, console.shownColumns));
}

/** A blank line stands before each section with a title, and before the first of several without one. */
export function screenOf({ verdict, sections }: Figures, columns: number): ScreenLine[] {
  const { word, text, mood, details } = verdict;
  const hinted = sections.find((section) => section.columns.some(({ kind }) => kind === 'hint'));
  const [first = '', ...rest] = wrapped(`${word}${clean(text)}`, columns).split('\n');
  return [
    [
      { text: word, style: mood },
      { text: first.slice(word.length), style: 'heading' },
    ],
    ...rest.map((line): ScreenLine => [{ text: line, style: 'heading' }]),
    ...details.flatMap((detail) => broken(`  ${clean(detail)}`, columns)),
    ...sections.flatMap((section, at): ScreenLine[] => {
      const isApart = section.title !== '' || at === 0 || sections[at - 1]!.title !== '';
      return [...(isApart ? [[]] : []), ...sectionLines(section, { width: columns, isHinted: section === hinted })];
    }),
  ];
}

interface Screen {
  readonly width: number;
  /** Whether the first row says how to fix it. */
  readonly isHinted: boolean;
}

function sectionLines(section: Section, screen: Screen): ScreenLine[] {
  const { rows, totals, notes, limit } = section;
  // Where a single row is left out, the line that says so would be as long.
  const most = !limit || rows.length <= limit.most + 1 ? rows.length : limit.most;
  const left = rows.length - most;
  const more = limit && left > 0 ? [`${numberText(left)} more in ${limit.rest}`] : [];
  return [
    ...tableLines(section, [...rows.slice(0, most), ...totals], screen),
    ...[...more, ...notes].flatMap((note) => broken(`  ${clean(note)}`, screen.width)),
  ];
}

function tableLines({ title, columns }: Section, body: readonly Cells[], { width, isHinted }: Screen): ScreenLine[] {
  // How to fix a thing is said in the files, too.
  const texts = body.map((row, index) =>
    columns.map(({ kind }, at) => (kind === 'hint' && (index > 0 || !isHinted) ? '' : cellText(row[at] ?? null, kind))),
  );
  const plan = planOf(columns, texts, title, width);
  const isBeside = columns.some(({ head }) => head !== '') && stringWidth(title) <= plan.widths[0]! + INDENT;
  const heads = columns.map(({ head }) => head);
  return [
    ...(title === '' || isBeside ? [] : broken(clean(title), width, 'heading')),
    ...(heads.some((head) => head !== '') && body.length > 0
      ? [headLine(columns, isBeside ? title : `${' '.repeat(INDENT)}${heads[0]!}`, plan)]
      : []),
    ...texts.flatMap((row) => rowLines(columns, row, plan, width)),
  ];
}

/** Where the cells of a table go: side by side, or below their row. Others have no room. */
interface Plan {
  readonly beside: readonly number[];
  readonly below: readonly number[];
  readonly widths: readonly number[];
}

/** A hint and a command always: a line with a command alone can be copied. */
const ORDER_BELOW = ['hint', 'command', 'code', 'place', 'path'] as const;

function planOf(columns: readonly CellColumn[], texts: readonly string[][], title: string, width: number): Plan {
  const widths = columns.map(({ head }, at) =>
    Math.max(at === 0 ? 0 : stringWidth(head), ...texts.map((row) => stringWidth(row[at]!))),
  );
  const least = columns.map(({ kind }, at) =>
    kind === 'text' || kind === 'value' ? Math.min(widths[at]!, NARROWEST) : widths[at]!,
  );
  let beside = [...columns.keys()];
  const below: number[] = [];
  const missing = (own: readonly number[]): number =>
    INDENT + beside.reduce((sum, at) => sum + own[at]! + GAP, -GAP) - width;
  for (const kind of ORDER_BELOW) {
    if (kind !== 'hint' && kind !== 'command' && missing(widths) <= 0) break;
    below.push(...beside.filter((at) => columns[at]!.kind === kind));
    beside = beside.filter((at) => columns[at]!.kind !== kind);
  }
  while (missing(least) > 0 && beside.length > 2) beside.pop();
  // The widest text gives way first.
  for (let over = missing(widths); over > 0; over -= 1) {
    const widest = beside.filter((at) => widths[at]! > least[at]!).sort((a, b) => widths[b]! - widths[a]!)[0];
    if (widest === undefined) break;
    widths[widest]! -= 1;
  }
  // Where there is room, the title stands above the first column.
  const more = stringWidth(title) - INDENT - widths[0]!;
  if (columns.some(({ head }) => head !== '') && more > 0 && more <= -missing(widths)) widths[0]! += more;
  return { beside, below: below.sort((a, b) => a - b), widths };
}

function headLine(columns: readonly CellColumn[], first: string, { beside, widths }: Plan): ScreenLine {
  const rest = beside.slice(1).map((at) => ' '.repeat(GAP) + aligned(columns[at]!.head, widths[at]!, columns[at]!));
  return trimmed([
    { text: padded(first, widths[beside[0]!]! + INDENT), style: 'heading' },
    { text: rest.join(''), style: 'dim' },
  ]);
}

function rowLines(
  columns: readonly CellColumn[],
  row: readonly string[],
  { beside, below, widths }: Plan,
  width: number,
): ScreenLine[] {
  const cells = beside.map((at) => {
    const { kind } = columns[at]!;
    if (kind === 'value') return [cutTo(row[at]!, widths[at]!)];
    return kind === 'text' || kind === 'label' ? brokenCell(row[at]!, widths[at]!) : [row[at]!];
  });
  const lines = Array.from({ length: Math.max(...cells.map(({ length }) => length)) }, (_, line): ScreenLine => {
    const spans = beside.flatMap((at, index): Span[] => [
      { text: ' '.repeat(index === 0 ? INDENT : GAP) },
      { text: aligned(cells[index]![line] ?? '', widths[at]!, columns[at]!), style: styleOf(columns[at]!) },
    ]);
    return trimmed(spans);
  });
  const hang = ' '.repeat(INDENT * 2);
  const placed = below.filter((at) => row[at] !== '').map((at) => ({ kind: columns[at]!.kind, text: row[at]! }));
  const under = placed.filter(({ kind }) => kind !== 'command' && kind !== 'hint').map(({ text }) => text);
  return [
    ...lines,
    ...(under.length === 0 ? [] : broken(hang + under.join('   '), width, 'dim')),
    ...placed.flatMap(({ kind, text }): ScreenLine[] => {
      if (kind === 'hint') return broken(`${hang}hint: ${text}`, width, 'dim');
      return kind === 'command' ? [[{ text: hang }, { text, style: 'command' }]] : [];
    }),
  ];
}

/** `Closed Won -> Sales / Won` is broken before its arrow. */
function brokenCell(text: string, width: number): string[] {
  const [from, ...to] = stringWidth(text) <= width ? [text] : text.split(' -> ');
  return [from!, ...to.map((each) => `-> ${each}`)].flatMap((part) =>
    wrapAnsi(part, width, { hard: true }).split('\n'),
  );
}

function styleOf({ kind }: CellColumn): Span['style'] {
  return kind === 'code' || kind === 'place' ? 'dim' : kind === 'command' ? 'command' : undefined;
}

function aligned(text: string, width: number, { kind }: CellColumn): string {
  return padded(text, width, kind === 'number' || kind === 'amount' ? 'start' : 'end');
}

function trimmed(spans: readonly Span[]): ScreenLine {
  const last = spans.findLastIndex(({ text }) => text.trim() !== '');
  return spans.slice(0, last + 1).map((span, at) => (at === last ? { ...span, text: span.text.trimEnd() } : span));
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
