import type { ExportColumn } from './head.ts';

const MOST_NAMES = 60;

/** Names of the old CRM that the target account may know under others, with how often the head has them. */
export interface CrmNames {
  readonly pipelines: Map<string, number>;
  readonly stages: Map<string, number>;
  readonly owners: Map<string, number>;
}

export function emptyNames(): CrmNames {
  return { pipelines: new Map(), stages: new Map(), owners: new Map() };
}

export function countNames(into: Map<string, number>, column: ExportColumn | undefined): void {
  for (const value of column?.values ?? []) into.set(value, (into.get(value) ?? 0) + 1);
}

/** The `references` block: each name mapped to itself, commented out, so that a person sees what may need another. */
export function referencesText(names: CrmNames, quote: (name: string) => string): string {
  const lines = [
    'references:',
    '  # set this: old name: name or UUID in the target account; null leaves the field out.',
  ];
  lines.push('  # Names that are the same there need no line: replace {} by the lines that differ.');
  for (const kind of ['pipelines', 'stages', 'owners'] as const) {
    lines.push(`  ${kind}: {}`);
    const sorted = [...names[kind]].sort((a, b) => b[1] - a[1]);
    for (const [name, count] of sorted.slice(0, MOST_NAMES)) {
      lines.push(`  #  ${quote(name)}: ${quote(name)} # ${count} in the head of the export`);
    }
    if (sorted.length > MOST_NAMES) lines.push(`  #  and ${sorted.length - MOST_NAMES} more`);
  }
  return lines.join('\n');
}
