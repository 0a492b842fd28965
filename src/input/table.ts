/** Joins the tables of several files to one: columns are matched by name, in any order. */
import type { Issue } from '../model.ts';
import { issueOf } from '../vocabulary/words.ts';
import type { TableFile } from './format.ts';
import { converted, type SourceFile, type SourceHead } from './reading.ts';
import { nameOf, numbered } from './reject-columns.ts';
import { notice, type SourceNotice } from './source.ts';
import { TableRows } from './table-rows.ts';

export function joinTables(tables: readonly TableFile[]): SourceHead {
  const keys = [...new Set(tables.flatMap(({ header }) => numbered(header)))];
  const columns = keys.map(nameOf);
  const repeated = keys.filter((key) => !key.startsWith('1:')).map(nameOf);
  const duplicateColumns = new Set(repeated.filter((name) => name !== ''));
  const indexes = new Map(keys.map((key, index) => [key, index]));
  const parts = tables.map((table): SourceFile => {
    const targets = numbered(table.header).map((key) => indexes.get(key)!);
    return {
      file: table.file,
      letters: table.letters && targetLetters(table.letters, targets, columns.length),
      async *read(items, hash) {
        const rows = new TableRows({
          file: table.file.label,
          header: table.header,
          columns: columns.length,
          targets,
          items,
        });
        const end = yield* converted(table.read(hash), (records) => {
          for (const record of records) rows.take(record);
          return items.take();
        });
        rows.finish();
        yield items.take();
        return { ...end, notices: [...rows.notices(), ...(end.notices ?? [])] };
      },
    };
  });
  const [first] = tables;
  return {
    kind: 'table',
    columns,
    duplicateColumns,
    ...(columns.length > 1 && first?.delimiter !== undefined && { delimiter: first.delimiter }),
    parts,
    notices: tables.flatMap((table) => headerNotices(table, columns, duplicateColumns)),
  };
}

/** By the columns of the source, of which this sheet may lack some. */
function targetLetters(letters: readonly string[], targets: readonly number[], columns: number): string[] {
  const found = new Array<string>(columns).fill(letters[0] ?? 'A');
  targets.forEach((target, index) => (found[target] = letters[index]!));
  return found;
}

function headerNotices(
  { header, headerLine, file }: TableFile,
  columns: readonly string[],
  duplicates: ReadonlySet<string>,
): SourceNotice[] {
  const present = new Set(header);
  const notices: SourceNotice[] = [];
  const add = (issue: Issue) => notices.push(notice(issue, file.label, headerLine));
  for (const name of duplicates) {
    const times = header.filter((other) => other === name).length;
    if (times > 1) add(issueOf('duplicate_column', name, times));
  }
  const last = header.findLastIndex((name) => name !== '');
  const blank = header.slice(0, last).filter((name) => name === '').length;
  if (blank > 0) add(issueOf('blank_column', blank));
  const lacking = columns.filter((name) => name !== '' && !present.has(name)).map((name) => `\`${name}\``);
  if (lacking.length > 0) add(issueOf('missing_column', lacking.join(', ')));
  return notices;
}
