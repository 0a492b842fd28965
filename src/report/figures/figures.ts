/** The shape of what people read of a survey, a run, a status or a verification: one value, which every printer walks. Pure. */

/** How something is shown where there are colours. */
export type Mood = 'done' | 'partly' | 'failed';

export interface Figures {
  readonly verdict: Headline;
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

/** How many rows a screen shows, and what it says of the others. */
interface Limit {
  readonly most: number;
  /** The file that has all rows. */
  readonly rest: string;
}

export interface CellColumn {
  /** Empty where the title of the section is the heading. */
  readonly head: string;
  /**
   * `text` is broken between words. `number` and `amount` are right-aligned. `place` (files with lines) and `code` follow the text
   * where there is room, and are placed below it otherwise. The `hint` of the first row of a screen is below it.
   * `label` is short. A `value` of a record has one line, and ends with `…` where that is too short. `command` and `path` are copied, so
   * never broken.
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

/** How many rows of each list a screen shows; the page and the files have all of them. */
export const LIMITS = {
  causes: { most: 5, rest: 'errors.csv' },
  checks: { most: 5, rest: 'report.html' },
  notCompared: { most: 6, rest: '--json' },
  skipped: { most: 4, rest: 'left_out.csv' },
  lacking: { most: 6, rest: 'report.html' },
  assumed: { most: 6, rest: 'report.html' },
  changes: { most: 7, rest: 'changes.csv' },
  priorities: { most: 4, rest: 'report.html' },
  differences: { most: 8, rest: 'verify.csv' },
} as const satisfies Readonly<Record<string, Limit>>;
