/** The shape of what people read of a survey, a run, a status or a verification: one value, which every printer walks. Pure. */

/** How something is shown where there are colours. */
export type Mood = 'done' | 'partly' | 'failed';

export interface Figures {
  readonly verdict: Headline;
  /** Of a screen, if its lists can be cut so far; a whole screen if absent. */
  readonly lines?: number | undefined;
  /** What matters first comes first. */
  readonly sections: readonly Section[];
}

/** How it ended, and whether anything was sent. */
export interface Headline {
  /** `DRY RUN`, `DONE`, `STOPPED`. */
  readonly word: string;
  /** Follows the word: ` of acme.yaml: nothing was sent`. */
  readonly text: string;
  readonly mood: Mood;
  /** Sentences below it: where it went, or what happens now. */
  readonly details: readonly string[];
}

/** A table. Each row has a cell for each column. */
export interface Section {
  /** Names the section in a page, and for tests. */
  readonly id: string;
  /** Empty where the rows explain themselves. */
  readonly title: string;
  readonly columns: readonly CellColumn[];
  /** The most important first. */
  readonly rows: readonly Cells[];
  /** Sums of all rows, whatever part of these is shown. */
  readonly totals: readonly Cells[];
  /** Sentences below the table. */
  readonly notes: readonly string[];
  readonly limit: Limit | undefined;
}

/** How many rows are shown where there is little room, and what is said of the others. */
export interface Limit {
  readonly most: number;
  /** Where there is too little room for that, at least so many. */
  readonly least: number;
  /** So many as long as another list can give up rows; one if absent. */
  readonly needed?: number;
  /** The noun for a row: `stage`. */
  readonly noun: string;
  /** Rows that are something else: `2 values left out`. */
  readonly others?: { readonly rows: readonly Cells[]; readonly noun: string; readonly what: string };
  /** The file or command that has all rows. */
  readonly rest: string;
  /** Whether the row of those that are left out has their sums. */
  readonly isSummed?: boolean;
}

export interface CellColumn {
  /** Empty where the title of the section is the heading. */
  readonly head: string;
  /**
   * `text` is broken between words. `number` and `amount` are right-aligned. `place` (files with lines) and `code` follow the text
   * where there is room, and are placed below it otherwise; a `hint` always is, if the screen has room for it. `label` is short. A
   * `value` of a record has one line, and ends with `…` where that is too short. `command` and `path` are copied, so never broken.
   */
  readonly kind: 'label' | 'text' | 'value' | 'number' | 'amount' | 'place' | 'code' | 'hint' | 'command' | 'path';
}

export type Cell = string | number | Amount | null;
export type Cells = readonly Cell[];

/** An exact decimal in plain notation, with its currency. */
export interface Amount {
  readonly amount: string;
  readonly currency: string | null;
}

export function isAmount(cell: Cell | undefined): cell is Amount {
  return typeof cell === 'object' && cell !== null;
}

/** A section: of notes alone, unless it has a table. */
export function sectionOf(section: Pick<Section, 'id'> & Partial<Section>): Section {
  return { title: '', columns: [], rows: [], totals: [], notes: [], limit: undefined, ...section };
}

export function column(kind: CellColumn['kind'], head = ''): CellColumn {
  return { kind, head };
}

/** Those that have something to say. */
export function present(sections: readonly (Section | undefined)[]): readonly Section[] {
  return sections.filter((each) => each !== undefined && each.rows.length + each.notes.length > 0) as Section[];
}

/** How many rows of each list a screen has room for; the page and the files have all of them. */
export const LIMITS = {
  stages: { most: 8, least: 2, noun: 'stage', rest: 'report.html', isSummed: true },
  causes: { most: 8, least: 3, needed: 3, noun: 'cause', rest: 'errors.csv' },
  checks: { most: 6, least: 0, noun: 'warning', rest: 'report.html' },
  notCompared: { most: 6, least: 0, noun: 'reason', rest: '--json' },
  skipped: { most: 4, least: 1, needed: 0, noun: 'row', rest: 'left_out.csv' },
  lacking: { most: 6, least: 1, needed: 0, noun: 'more', rest: 'report.html' },
  assumed: { most: 6, least: 2, noun: 'line', rest: 'report.html' },
  changes: { most: 7, least: 2, noun: 'kind', rest: 'changes.csv' },
  priorities: { most: 4, least: 1, noun: 'priority', rest: 'report.html', isSummed: true },
  differences: { most: 8, least: 3, noun: 'difference', rest: 'verify.csv' },
  values: { most: 12, least: 3, noun: 'field', rest: '--all' },
} as const satisfies Readonly<Record<string, Limit>>;
