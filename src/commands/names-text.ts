import { stringify } from 'yaml';
import type { NameRow, WrittenWorksheet } from '../survey/worksheet-file.ts';
import { oneLine } from '../terminal/visible.ts';
import { counted } from '../terminal/numbers.ts';
import { shortPath } from '../report/text.ts';

const MAX_NAMES = 8;
const KEYS = { pipeline: 'pipelines', stage: 'stages', owner: 'owners' } as const;

/** Where the worksheet is, if that is not where it usually is. */
export function besideText({ path, usual }: WrittenWorksheet): string | undefined {
  if (usual === undefined) return undefined;
  return `${shortPath(usual)} was changed outside this program or is used by the mapping, so it was not overwritten; the new worksheet is ${shortPath(path)}`;
}

/** The names that are not resolved: where to answer them, and the YAML for the mapping; undefined if there are none. */
export function namesText({
  path,
  rows,
}: WrittenWorksheet): { readonly how: string; readonly yaml: string } | undefined {
  const open = rows.filter(({ isOpen }) => isOpen);
  if (open.length === 0) return undefined;
  const how =
    `${counted(open.length, 'name')} to map: fill in \`new_name\` in a copy of ${shortPath(path)} and give its path as ` +
    '`references.file`, or paste this into the mapping:';
  return { how, yaml: yamlLines(open).join('\n') };
}

function yamlLines(open: readonly NameRow[]): readonly string[] {
  const shown = [...open].sort((a, b) => b.records - a.records).slice(0, MAX_NAMES);
  const lines = ['references:'];
  for (const kind of ['pipeline', 'stage', 'owner'] as const) {
    const rows = shown.filter((row) => row.kind === kind);
    if (rows.length > 0) lines.push(`  ${KEYS[kind]}:`);
    for (const pipeline of new Set(rows.map((row) => row.pipeline))) {
      if (pipeline !== '') lines.push(`    ${yaml(pipeline)}:`);
      const indent = pipeline === '' ? '    ' : '      ';
      for (const row of rows) if (row.pipeline === pipeline) lines.push(`${indent}${lineOf(row)}`);
    }
  }
  if (open.length > shown.length) lines.push(`  # and ${counted(open.length - shown.length, 'more name')}`);
  return lines;
}

/** Without a single suggestion, a value that is no name: `null` would omit the field. */
function lineOf({ oldName, suggestions, records }: NameRow): string {
  const count = counted(records, 'record');
  const [first, ...others] = suggestions;
  if (first === undefined) return `${yaml(oldName)}: '?' # set this: ${count}`;
  if (others.length > 0) return `${yaml(oldName)}: '?' # set this: ${oneLine(suggestions.join(' or '))}; ${count}`;
  return `${yaml(oldName)}: ${yaml(first)} # check: ${count}`;
}

function yaml(text: string): string {
  const plain = stringify(text, { lineWidth: 0 }).trimEnd();
  return plain.includes('\n') ? JSON.stringify(text) : plain;
}
