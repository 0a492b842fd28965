import { basename, resolve } from 'node:path';
import { unreadFiles } from '../input/input.ts';
import type { Mapping } from '../mapping/mapping.ts';
import type { Lack } from '../mapping/not-in-export.ts';
import { readDocument, type StoredMapping } from '../report/files/documents.ts';
import type { Survey } from '../survey/survey.ts';

/** For the report: how the exports are mapped, and their unused parts. */
export async function storedMapping(
  mapping: Mapping,
  { db, profile, compiled: { lacking, named, isLenient } }: Survey,
): Promise<StoredMapping> {
  const sources = Object.entries(profile.sources).map(([name, { records, unused }]) => [name, { records, unused }]);
  const own = [resolve(mapping.file), mapping.worksheet?.path, mapping.functions?.path].filter(
    (path) => path !== undefined,
  );
  const unread = await unreadFiles([...readDocument(db, 'inputs')!.map(({ path }) => path), ...own]);
  return {
    title: mapping.title ?? null,
    customer: mapping.customer ?? null,
    region: mapping.region ?? null,
    timezone: mapping.timezone ?? null,
    entries: mapping.words(lacking),
    sources: Object.fromEntries(sources) as StoredMapping['sources'],
    unread_files: unread.map((path) => basename(path)),
    not_in_export: {
      sources: lacking.sources,
      entries: lacking.entries.map(({ type, source, values }) => ({ type, source, columns: namesOf(values) })),
      values: onlyOnce([
        ...lacking.values.map(({ source, columns: [column = ''] }) => ({ source, column })),
        ...Object.entries(isLenient ? profile.sources : {}).flatMap(([source, { never_a_value: empty }]) =>
          empty.map(({ column }) => ({ source, column })),
        ),
      ]),
      named: onlyOnce(named),
    },
    assumed: mapping.marks.flatMap(({ mark, line, text }) =>
      mark === 'set this' ? [{ place: `${basename(mapping.file)}:${line}`, text }] : [],
    ),
  };
}

function namesOf(values: readonly Lack[]): readonly string[] {
  return [...new Set(values.map(({ columns: [column = ''] }) => column))];
}

function onlyOnce<T>(values: readonly T[]): readonly T[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}
