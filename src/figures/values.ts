/** The fields of an event and the values of a row, for people. Pure. */
import { canonicalJson, type JsonObject, type JsonValue } from '../json.ts';
import { fieldsOf } from '../store/field-hashes.ts';
import { printable } from '../terminal/visible.ts';
import { sectionOf, type Section } from './figures.ts';

/** Of one event on a screen; `--json` has all of them. */
const LIMIT = { most: 12, least: 12, noun: 'field', rest: '--json', isSummed: false } as const;

export function valuesSection(
  id: string,
  title: string,
  values: readonly (readonly [name: string, value: string])[],
): Section {
  return sectionOf({
    id,
    title,
    columns: [
      { head: '', kind: 'label' },
      { head: '', kind: 'text' },
    ],
    rows: values.map(([name, value]) => [printable(name), printable(value)]),
    limit: LIMIT,
  });
}

/** The fields of an event, with names beside ids. `names`: of stages, pipelines and users, by their ids in lower case. */
export function namedValues(data: JsonObject, names: ReadonlyMap<string, string>): [name: string, value: string][] {
  return [...fieldsOf(data)].map(([name, value]) => {
    const text = valueText(value);
    const known = name.endsWith('_id') ? names.get(text.toLowerCase()) : undefined;
    return [name, known === undefined ? text : `${known} (${text})`];
  });
}

export function valueText(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : canonicalJson(value);
}
