/** Why nothing is sent of a row, or of a record in it: the codes of the plan's table `unused`. */
export interface UnusedReason {
  /** Part of a sentence, without any value of a record. */
  readonly words: string;
  /** Whether `left_out.csv` lists it. The others are errors, in `errors.csv`. */
  readonly isTold: boolean;
  /** Whether its row can be corrected: until then, nobody knows which records it has. */
  readonly isCorrectable: boolean;
  /** Whether many rows have the same reason beside the code, by which they are counted. */
  readonly isShared?: true;
}

export const UNUSED = {
  when: { words: 'no entry of the mapping selects it (`when`)', isTold: true, isCorrectable: false, isShared: true },
  each: { words: 'its list of records is empty (`each`)', isTold: true, isCorrectable: false },
  footer: { words: 'it is a footer, totals or a header once more', isTold: true, isCorrectable: false },
  orphan: { words: 'its parent is not sent (`if_parent_missing: skip`)', isTold: true, isCorrectable: false },
  duplicates: {
    words: 'another row with the same external id was chosen (`duplicates`)',
    isTold: true,
    isCorrectable: false,
  },
  unread: { words: 'it could not be read', isTold: false, isCorrectable: true },
  /** It may have any number of records (`each`). */
  unread_each: { words: 'it could not be read', isTold: false, isCorrectable: true },
} as const satisfies Readonly<Record<string, UnusedReason>>;

export type UnusedCode = keyof typeof UNUSED;

/** Why a row became no event, as part of a sentence. `why`: what is to be said beside its code. */
export function unusedText(code: UnusedCode, why: string | null): string {
  const { words } = UNUSED[code];
  return why === null ? words : `${words}: ${why}`;
}
