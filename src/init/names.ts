import type { ExportColumn } from './columns.ts';
import { numberText } from '../numbers.ts';

const MAX_NAMES = 60;

/** Names in the old CRM that may differ in the target account, with their counts in the sample. */
export interface CrmNames {
  readonly pipelines: Map<string, number>;
  readonly stages: Map<string, number>;
  readonly owners: Map<string, number>;
}

export function emptyNames(): CrmNames {
  return { pipelines: new Map(), stages: new Map(), owners: new Map() };
}

export function countNames(into: Map<string, number>, column: ExportColumn | undefined): void {
  for (const [value, count] of column?.few() ?? []) into.set(value, (into.get(value) ?? 0) + count);
}

/** The `references` block, with each name commented out as a template. */
export function referencesText(names: CrmNames, quote: (name: string) => string): string {
  const lines = ['references:', '  # set this: old name: name or UUID in the target account; null omits the field.'];
  lines.push('  # Only names that differ are needed: replace {} with their lines.');
  for (const kind of ['pipelines', 'stages', 'owners'] as const) {
    lines.push(`  ${kind}: {}`);
    const sorted = [...names[kind]].sort((a, b) => b[1] - a[1]);
    for (const [name, count] of sorted.slice(0, MAX_NAMES)) {
      lines.push(`  #  ${quote(name)}: ${quote(name)} # ${numberText(count)} in the sample`);
    }
    if (sorted.length > MAX_NAMES) lines.push(`  #  and ${numberText(sorted.length - MAX_NAMES)} more`);
  }
  return lines.join('\n');
}
