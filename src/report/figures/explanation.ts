/** The figures of `explain`: one record's story, and what the service shows of it now. Pure. */
import { shortPath } from '../../files/paths.ts';
import { canonicalJson, cellText, type JsonObject } from '../../json.ts';
import { COMBINED, KINDS } from '../../kinds/index.ts';
import { valueText } from '../../mapping/values/result.ts';
import { placeText } from '../../model.ts';
import { fieldsOf } from '../../store/field-hashes.ts';
import { counted, enumerated, numberText, countTexts } from '../words/numbers.ts';
import { clockText } from '../words/times.ts';
import { printable } from '../words/visible.ts';
import { meaningOf } from '../words/words.ts';
import { column, present, sectionOf, type Figures, type Mood, type Section } from './figures.ts';
import type { EventStory, RecordStory, Relative, RowStory } from './story.ts';
import { VERDICTS, type FieldVerdict } from './verification.ts';

export interface LiveRecord {
  readonly found: boolean;
  /** ISO 8601, as the service shows it. */
  readonly updated_at: string | null;
  readonly fields: readonly LiveField[];
}

interface LiveField {
  readonly field: string;
  /** `not_sent` if the mapping sends no value of the field. */
  readonly verdict: FieldVerdict | 'not_sent';
  /** As the service should show it. */
  readonly expected?: string | undefined;
  readonly actual: string;
  readonly reason?: string;
}

const STATES: Readonly<Record<string, readonly [Mood, string]>> = {
  acknowledged: ['done', 'the service has it'],
  duplicate: ['partly', 'not sent'],
  invalid: ['failed', 'not sent until it is corrected'],
  rejected: ['failed', 'the service refused it; the next run sends it again'],
  blocked: ['failed', 'waits for the record that it depends on'],
  pending: ['partly', 'valid, but not sent yet'],
  not_selected: ['partly', 'valid, but not selected by this run'],
  parent_not_selected: ['partly', 'valid, and waits for its parent, which this run does not select'],
  gone: ['partly', 'sent in an earlier run, but no longer in the input'],
};

export interface Explanation {
  readonly story: RecordStory;
  /** What the service shows now, or why it cannot be read; undefined if it was not asked. */
  readonly live: LiveRecord | string | undefined;
  /** Of stages, pipelines and users, by their ids in lower case. */
  readonly names: ReadonlyMap<string, string>;
  readonly now: Date;
}

export function explanationFigures({ story, live, names, now }: Explanation): Figures {
  const { record, state, service_id: id, plan, events, unused } = story;
  const [mood, text] = STATES[events[0]?.later ?? state] ?? ['partly', ''];
  const why = events.length === 0 && unused[0] ? unused[0].reason : text;
  const from = `the last ${plan.dry_run ? 'dry run' : 'run'}, as of ${clockText(new Date(plan.at), now)}`;
  return {
    verdict: {
      word: state.toUpperCase(),
      text: ` ${record}: ${printable(why)}${id === null ? '' : ` (${id})`}`,
      mood,
      details: [`from ${from}: ${shortPath(plan.file)}`],
    },
    sections: present([
      errorsSection(events),
      ...events.flatMap((event) => [...event.rows.map((row) => rowSection(row)), ...eventSections(event, names)]),
      ...unused.map((row) =>
        rowSection(row, events.length + unused.length > 1 ? `${row.state}: ${row.reason}` : undefined),
      ),
      relativesSection(story),
      answersSection(story, now),
      live === undefined ? undefined : liveSection(live, names),
    ]),
  };
}

/** Each error once, although both of two records with one id have it. */
function errorsSection(events: RecordStory['events']): Section {
  const rows = events.flatMap(({ errors }) =>
    errors.map(({ field, message, code, hint }) => [
      `${field === null ? '' : `${field}: `}${printable(message)}`,
      code,
      hint,
    ]),
  );
  return sectionOf({
    id: 'errors',
    title: 'FIX FIRST',
    columns: [column('text'), column('code'), column('hint')],
    rows: [...new Map(rows.map((row) => [canonicalJson(row), row])).values()],
  });
}

function rowSection({ source, file, line, record, raw, original }: RowStory, why?: string): Section {
  const where = line > 0 ? placeText({ file, line, record: 0 }) : file;
  const instead = original === null ? '' : `, instead of ${original}`;
  const values = Object.entries(raw ?? {}).map(([name, value]) => [name, cellText(value)] as const);
  const notes = [
    ...(why === undefined ? [] : [printable(why)]),
    ...(raw === null ? ['its values are not stored'] : []),
  ];
  return { ...valuesSection('row', `In the export: ${where}${instead} (${source}, record ${record})`, values), notes };
}

function eventSections(event: EventStory, names: ReadonlyMap<string, string>): Section[] {
  const { type, state, data, occurred_at: occurred, parts, sends, difference, reason, omitted } = event;
  const values = [
    ...(data === null ? [] : namedValues(data, names)),
    ...(occurred === null ? [] : [['occurred_at', occurred] as const]),
  ];
  const notes = [
    ...(reason === null ? [] : [reason]),
    ...(parts.length > 0 ? [`carries ${counted(parts.length, COMBINED)}: ${enumerated(parts, 'and')}`] : []),
    ...(sends !== null && sends !== type ? [`the changes are sent as ${sends}`] : []),
    ...(difference === null
      ? []
      : [difference === 'unmapped' ? 'its rows can no longer be mapped' : meaningOf(difference, 'map').what]),
  ];
  return [
    { ...valuesSection('event', `${type}${data === null ? '' : ' as planned'}: ${state}`, values), notes },
    sectionOf({
      id: 'left-out',
      title: 'Left out',
      columns: [column('value'), column('text')],
      rows: omitted.map(({ field, original, reason: of }) => [`${field} ${valueText(original)}`, printable(of)]),
    }),
  ];
}

function relativesSection({ parent, children: { count, by_state: states, first } }: RecordStory): Section {
  const counts = countTexts(...Object.entries(states).map(([state, number]) => [number, state] as const));
  const several = `${count === 1 ? '1 child' : `${numberText(count)} children`}: ${counts.join(', ')}`;
  return sectionOf({
    id: 'relatives',
    title: parent === null ? 'Children' : count === 0 ? 'Parent' : 'Parent, then children',
    columns: [column('label'), column('text'), column('value'), column('place')],
    rows: [...(parent === null ? [] : [parent]), ...first].map(({ record, state, name, place }: Relative) => [
      record.endsWith(':') ? `${record.slice(0, -1)} without an id` : record,
      state ?? 'neither in the plan nor acknowledged',
      printable(name),
      place ?? '',
    ]),
    notes: count === 0 ? [] : [count > first.length ? `${several}; the first ${first.length} are listed` : several],
  });
}

/** The newest first. */
function answersSection({ answers }: RecordStory, now: Date): Section {
  return sectionOf({
    id: 'answers',
    title: 'Requests and answers',
    columns: [column('label'), column('label'), column('text')],
    rows: answers.toReversed().map(({ at, sent_at: sentAt, type, status, outcome, code }) => {
      const how = [outcome, code].filter((part) => part !== null).join(', ');
      const fate = status === 'unanswered' ? 'no answer: it may have arrived; the next run finds out' : status;
      return [clockText(new Date(at ?? sentAt), now), type, `${fate}${how === '' ? '' : ` (${how})`}`];
    }),
    notes: answers.length === 0 ? ['none yet'] : [],
  });
}

function liveSection(live: LiveRecord | string, names: ReadonlyMap<string, string>): Section {
  const section = { id: 'live', title: 'In the service now' };
  if (typeof live === 'string') return sectionOf({ ...section, notes: [`not read: ${live}`] });
  if (!live.found) return sectionOf({ ...section, notes: ['it no longer exists'] });
  const named = (text: string): string => printable(names.get(text.toLowerCase()) ?? text);
  const said = ({ verdict, expected = '', reason }: LiveField): string => {
    if (verdict === 'same') return '';
    if (verdict === 'not_sent') return 'not in the plan';
    return verdict === 'not_comparable'
      ? `not comparable: ${reason}`
      : `${VERDICTS[verdict]}; in the plan: ${named(expected)}`;
  };
  return sectionOf({
    ...section,
    title: `${section.title}${live.updated_at === null ? '' : `, updated ${live.updated_at}`}`,
    columns: [column('label'), column('value'), column('place')],
    rows: live.fields.map((each) => [
      each.field,
      each.verdict === 'not_comparable' ? '' : named(each.actual),
      said(each),
    ]),
  });
}

export function valuesSection(
  id: string,
  title: string,
  values: readonly (readonly [name: string, value: string])[],
): Section {
  const rows = values.map(([name, value]) => [printable(name), printable(value)]);
  return sectionOf({ id, title, columns: [column('label'), column('value')], rows });
}

const ORDER: readonly string[] = KINDS.flatMap(({ fields }) => fields.map(({ name }) => name));

/** The fields of an event in the order of their kind, with names beside ids. */
export function namedValues(
  data: JsonObject,
  names: ReadonlyMap<string, string>,
): (readonly [name: string, value: string])[] {
  const rankOf = (name: string): number => ORDER.indexOf(name.split('.')[0]!);
  const fields = [...fieldsOf(data)].sort(([one], [other]) => rankOf(one) - rankOf(other));
  return fields.map(([name, value]) => {
    const text = cellText(value);
    const known = name.endsWith('_id') ? names.get(text.toLowerCase()) : undefined;
    return [name, known === undefined ? text : `${known} (${text})`];
  });
}
