/** The figures of `explain`: one record's story, and what the service shows of it now. Pure. */
import { shortPath } from '../../files/paths.ts';
import { canonicalJson, cellText, isObject, type JsonObject, type JsonValue } from '../../json.ts';
import { COMBINED, KINDS } from '../../kinds/index.ts';
import { textOf, valueText } from '../../mapping/values/result.ts';
import { placeText } from '../../model.ts';
import { quoted } from '../../problem.ts';
import { counted, enumerated, numberText, countTexts } from '../words/numbers.ts';
import { clockText } from '../words/times.ts';
import { printable } from '../words/visible.ts';
import { fieldsOf } from '../../store/field-hashes.ts';
import { meaningOf } from '../words/words.ts';
import { column, LIMITS, present, sectionOf, type Cells, type Figures, type Mood, type Section } from './figures.ts';
import type { EventStory, LeftOut, RecordStory, Relative, RowStory, ServiceAnswer, UnusedRow } from './story.ts';
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
  readonly expected: string | undefined;
  readonly actual: string;
  readonly reason?: string;
}

const STATES = {
  acknowledged: ['done', 'the service has it'],
  duplicate: ['partly', 'not sent'],
  invalid: ['failed', 'not sent until it is corrected'],
  rejected: ['failed', 'the service refused it; the next run sends it again'],
  blocked: ['failed', 'waits for the record that it depends on'],
  pending: ['partly', 'valid, but not sent yet'],
  skipped: ['partly', ''],
  unreadable: ['failed', ''],
  gone: ['partly', 'sent in an earlier run, but no longer in the input'],
} as const satisfies Readonly<Record<RecordStory['state'], readonly [Mood, string]>>;

/** Instead of `pending`. */
const LATER = {
  not_selected: 'valid, but not selected by this run',
  parent_not_selected: 'valid, and waits for its parent, which this run does not select',
} as const satisfies Readonly<Record<NonNullable<EventStory['later']>, string>>;

export interface Explanation {
  readonly story: RecordStory;
  /** What the service shows now, or why it cannot be read; undefined if it was not asked. */
  readonly live: LiveRecord | string | undefined;
  /** Of stages, pipelines and users, by their ids in lower case. */
  readonly names: ReadonlyMap<string, string>;
  readonly now: Date;
}

export function explanationFigures({ story, live, names, now }: Explanation): Figures {
  const { record, state, service_id: serviceId, plan, events, dropped, unused, answers } = story;
  const [mood, ofState] = STATES[state];
  const later = events[0]?.later ?? null;
  const text =
    later !== null ? LATER[later] : events.length === 0 && unused[0] ? unusedText(state, unused[0]) : ofState;
  const id = serviceId === null ? '' : ` (${serviceId})`;
  const differing = differingFields(events.flatMap(({ rows }) => rows.map(({ raw }) => raw ?? {})));
  const from = `the last ${plan.dry_run ? 'dry run' : 'run'}, as of ${clockText(new Date(plan.at), now)}`;
  return {
    verdict: {
      word: state.toUpperCase(),
      text: ` ${record}: ${text}${id}`,
      mood,
      details: [`from ${from}: ${shortPath(plan.file)}`],
    },
    sections: present([
      errorsSection([...events, ...unused]),
      ...events.flatMap((event) => [
        ...event.rows.map((row) => rowSection(row, story.record.slice(story.record.indexOf(':') + 1), differing)),
        eventSection(event, names),
        leftOutSection('Left out', event.omitted),
      ]),
      ...unused.map((row) => unusedSection(row, events.length + unused.length > 1)),
      leftOutSection('Records with this id that are not used', dropped),
      relativesSection(story),
      answersSection(answers, now),
      live === undefined ? undefined : liveSection(live, names),
    ]),
  };
}

/** Each error once, although both of two records with one id have it. */
function errorsSection(events: readonly Pick<EventStory, 'errors'>[]): Section {
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

/** The columns of the rows of one record in which they differ. */
function differingFields(rows: readonly JsonObject[]): ReadonlySet<string> {
  const names = new Set(rows.flatMap((row) => Object.keys(row)));
  return new Set([...names].filter((name) => new Set(rows.map((row) => cellText(row[name]))).size > 1));
}

/** What tells the rows of a record apart comes first; of a record with a list (`each`), the fields of the element with this id. */
function rowSection(
  { source, file, line, record, raw, original }: RowStory,
  externalId: string,
  differing: ReadonlySet<string>,
): Section {
  const where = line > 0 ? placeText({ file, line, record: 0 }) : file;
  const instead = original === null ? '' : `, instead of ${original}`;
  const title = `In the export: ${where}${instead} (${source}, record ${record})`;
  const fields = Object.entries(raw ?? {});
  const values = [
    ...elementFields(raw ?? {}, externalId),
    ...fields.filter(([name]) => differing.has(name)),
    ...fields.filter(([name]) => !differing.has(name)),
  ].map(([name, value]) => [name, cellText(value)] as const);
  const empty = values.filter(([, text]) => text === '').map(([name]) => name);
  return {
    ...valuesSection(
      'row',
      title,
      values.filter(([, text]) => text !== ''),
    ),
    notes: [
      ...(raw === null ? ['its values are not stored'] : []),
      ...(empty.length > 0 ? [`empty: ${quoted(empty.slice(0, 12))}${empty.length > 12 ? ', …' : ''}`] : []),
    ],
  };
}

/** Why the only rows of a record are no event. */
function unusedText(state: RecordStory['state'], { reason }: UnusedRow): string {
  return printable(state === 'gone' ? `sent in an earlier run, and left out now: ${reason}` : reason);
}

/** `isOneOf`: beside others, so that the verdict does not say why. */
function unusedSection(row: UnusedRow, isOneOf: boolean): Section {
  const section = rowSection(row, '', new Set());
  const why = isOneOf ? [`${row.state}: ${printable(row.reason)}`] : [];
  return { ...section, notes: [...why, ...section.notes] };
}

/** `deals[2].owner_id`: the fields of the first element of a list in which a value is the id, or ends it (`prefix`). */
function elementFields(record: JsonObject, externalId: string): [path: string, value: JsonValue][] {
  const isWhole = Object.values(record).some((value) => textOf(value) === externalId);
  const elements = isWhole ? [] : elementsIn(record, '');
  const has = (fits: (text: string) => boolean) =>
    elements.find(([, fields]) => Object.values(fields).some((value) => fits(textOf(value) ?? '')));
  const [path, fields] =
    has((text) => text === externalId) ?? has((text) => text.length > 2 && externalId.endsWith(text)) ?? [];
  return Object.entries(fields ?? {}).map(([name, value]) => [`${path}.${name}`, value!]);
}

/** The objects in lists, at any depth, the inner ones first. */
function elementsIn(value: JsonValue, path: string): [path: string, fields: JsonObject][] {
  if (Array.isArray(value)) {
    return (value as readonly JsonValue[]).flatMap((element, at) => {
      const own = `${path}[${at}]`;
      return [...elementsIn(element, own), ...(isObject(element) ? [[own, element] as [string, JsonObject]] : [])];
    });
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => elementsIn(inner!, path === '' ? key : `${path}.${key}`));
}

function eventSection(event: EventStory, names: ReadonlyMap<string, string>): Section {
  const { type, state, data, occurred_at: occurred, parts, sends, difference } = event;
  const values = data === null ? [] : namedValues(data, names);
  if (occurred !== null)
    values.splice(values.findIndex(([name]) => name.includes('.')) >>> 0, 0, ['occurred_at', occurred]);
  return {
    ...valuesSection('event', `${type}${data === null ? '' : ' as planned'}: ${state}`, values),
    notes: [
      ...(parts.length > 0 ? [`carries ${counted(parts.length, COMBINED)}: ${enumerated(parts, 'and')}`] : []),
      ...(sends !== null && sends !== type ? [`the changes are sent as ${sends}`] : []),
      ...(difference === null ? [] : [differenceText(difference)]),
    ],
  };
}

function differenceText(code: string): string {
  return code === 'unmapped' ? 'its rows can no longer be mapped' : meaningOf(code, 'map').what;
}

function leftOutSection(title: string, leftOut: readonly LeftOut[]): Section {
  return sectionOf({
    id: 'left-out',
    title,
    columns: [column('value'), column('text')],
    rows: leftOut.map(({ file, line, field, original, reason }) => [
      field === null ? placeText({ file, line, record: 0 }) : `${field} ${valueText(original)}`,
      printable(reason),
    ]),
    limit: LIMITS.values,
  });
}

function relativesSection({ parent, children }: RecordStory): Section {
  const { count, by_state: states, first } = children;
  const counts = countTexts(...Object.entries(states).map(([state, number]) => [number, state] as const));
  const more = count - first.length;
  const several = `${count === 1 ? '1 child' : `${numberText(count)} children`}: ${counts.join(', ')}`;
  return sectionOf({
    id: 'relatives',
    title: parent === null ? 'Children' : count === 0 ? 'Parent' : 'Parent, then children',
    columns: [column('label'), column('text'), column('value'), column('place')],
    rows: [...(parent === null ? [] : [parent]), ...first].map(relativeCells),
    notes: count === 0 ? [] : [more > 0 ? `${several}; ${numberText(more)} of them are not listed` : several],
  });
}

function relativeCells({ record, name, state, file, line }: Relative): Cells {
  return [
    record.endsWith(':') ? `${record.slice(0, -1)} without an id` : record,
    state ?? 'neither in the plan nor acknowledged',
    printable(name),
    file === null ? '' : placeText({ file, line: line ?? 0, record: 0 }),
  ];
}

const UNANSWERED = 'no answer is recorded: it may have arrived; the next run finds out';

function answersSection(answers: readonly ServiceAnswer[], now: Date): Section {
  return sectionOf({
    id: 'answers',
    title: 'Requests and answers',
    columns: [column('label'), column('label'), column('text')],
    rows: answers.toReversed().map(({ at, sent_at: sentAt, type, status, outcome, code, changed }) => {
      const how = [outcome, code].filter((part) => part !== null).join(', ');
      const fate = status === 'unanswered' ? UNANSWERED : status;
      return [
        clockText(new Date(at ?? sentAt), now),
        type,
        `${fate}${how === '' ? '' : ` (${how})`}${changed ? `: ${enumerated(changed, 'and')}` : ''}`,
      ];
    }),
    notes: answers.length === 0 ? ['none yet'] : [],
    limit: LIMITS.values,
  });
}

function liveSection(live: LiveRecord | string, names: ReadonlyMap<string, string>): Section {
  const section = { id: 'live', title: 'In the service now' };
  const saying = (note: string): Section => sectionOf({ ...section, notes: [note] });
  if (typeof live === 'string') return saying(`not read: ${live}`);
  if (!live.found) return saying('it no longer exists');
  const named = (text: string): string => printable(names.get(text.toLowerCase()) ?? text);
  return sectionOf({
    ...section,
    title: `${section.title}${live.updated_at === null ? '' : `, updated ${live.updated_at}`}`,
    columns: [column('label'), column('value'), column('place')],
    rows: live.fields.map(({ field, verdict, expected = '', actual, reason }) => [
      field,
      verdict === 'not_comparable' ? '' : named(actual),
      verdict === 'same'
        ? ''
        : verdict === 'not_sent'
          ? 'not sent by this migration'
          : verdict === 'not_comparable'
            ? `not comparable: ${reason}`
            : `${VERDICTS[verdict]}; in the plan: ${named(expected)}`,
    ]),
    limit: LIMITS.values,
  });
}

export function valuesSection(
  id: string,
  title: string,
  values: readonly (readonly [name: string, value: string])[],
): Section {
  return sectionOf({
    id,
    title,
    columns: [column('label'), column('value')],
    rows: values.map(([name, value]) => [printable(name), printable(value)]),
    limit: LIMITS.values,
  });
}

const ORDER: readonly string[] = KINDS.flatMap(({ fields }) => fields.map(({ name }) => name));

/** The fields in the order of their kind: custom ones, of which there may be many, come last. */
function rankOf(name: string): number {
  return ORDER.indexOf(name.split('.')[0]!);
}

/** The fields of an event, with names beside ids. `names`: of stages, pipelines and users, by their ids in lower case. */
function namedValues(data: JsonObject, names: ReadonlyMap<string, string>): [name: string, value: string][] {
  const fields = [...fieldsOf(data)].sort(([one], [other]) => rankOf(one) - rankOf(other));
  return fields.map(([name, value]) => {
    const text = cellText(value);
    const known = name.endsWith('_id') ? names.get(text.toLowerCase()) : undefined;
    return [name, known === undefined ? text : `${known} (${text})`];
  });
}
