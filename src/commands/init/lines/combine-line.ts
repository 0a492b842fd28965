/** The commented-out line that would send all comments of one parent as one, with what that saves. */
import { durationText } from '../../../terminal/times.ts';
import { secondsToSend } from '../../../rate.ts';
import { DEFAULT_RATE } from '../../../settings/run-settings.ts';
import { numberText } from '../../../terminal/numbers.ts';
import { countOf, type Table } from '../columns.ts';
import type { Line } from './yaml.ts';

/** None where no parent is known, or where no two comments of the records read have the same. */
export function combineLine(table: Table, parents: readonly Line[]): Line[] {
  const texts = parents.flatMap(({ off, value }) => (off ? [] : textsIn(value)));
  const columns = table.columns.filter(({ name }) => texts.some((text) => text === name || text.includes(`{${name}}`)));
  const known = texts.some((text) => text.startsWith('$.'));
  if (!known && columns.length === 0) return [];
  const requests = known
    ? table.parent!.rows
    : countOf(table, `from (select distinct ${columns.map(({ sql }) => sql).join(', ')} from ${table.sql})`);
  if (requests >= table.rows) return [];
  const seconds = secondsToSend(table.rows - requests, DEFAULT_RATE);
  const where = table.whole ? '' : ' of the records read';
  const comment = `${numberText(table.rows)} comments${where} would be ${numberText(requests)} requests, ${durationText(seconds)} less: all comments of a parent as one`;
  return [{ key: 'combine', value: {}, off: true, comment }];
}

/** Every text in a value of the mapping. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
