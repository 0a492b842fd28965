/** A record's story as text, about one screen long. Pure. */
import { placeText } from '../../model.ts';
import { COMBINED } from '../../kinds/index.ts';
import { namedValues, valueText } from '../../figures/values.ts';
import { RECORD } from '../../report/findings.ts';
import { shortPath } from '../../files/paths.ts';
import { clockText } from '../../terminal/times.ts';
import { printable } from '../../terminal/visible.ts';
import { cutTo, valueRows, wrapped } from '../../terminal/layout.ts';
import { counted, enumerated, numberText } from '../../terminal/numbers.ts';
import { meaningOf } from '../../vocabulary/words.ts';
import type { EventFate, EventStory, RecordStory, Relative, RowStory, ServiceAnswer } from './story.ts';

/** Of one list; `--json` has all of them. */
const MOST_LINES = 12;

const STATES: Readonly<Record<RecordStory['state'], string>> = {
  acknowledged: 'acknowledged: the service has it',
  duplicate: 'duplicate: not sent',
  invalid: 'invalid: not sent until it is corrected',
  rejected: 'rejected by the service; the next run sends it again',
  blocked: 'blocked: waits for the record that it depends on',
  pending: 'pending: valid, and not sent yet',
  gone: 'gone: sent in an earlier run, and no longer in the input',
};

/** `names`: of stages, pipelines and users, by their ids in lower case. */
export function storyText(story: RecordStory, names: ReadonlyMap<string, string>, now: Date, columns: number): string {
  const { record, state, service_id: serviceId, plan, events, dropped, parent, children, answers } = story;
  const id = serviceId === null ? '' : `\nin the service   ${serviceId}`;
  const parts = [
    `${record}   ${STATES[state]}${id}`,
    ...events.flatMap((event) => [...event.rows.map((row) => rowText(row, columns)), eventText(event, names, columns)]),
    leftOutText('records with this id that are not used', dropped, columns),
    parent ? `parent\n${relativeText(parent, columns)}` : '',
    childrenText(children, columns),
    answersText(answers, now),
    `from ${plan.dry_run ? 'the dry run' : 'the run'} of ${clockText(new Date(plan.at), now)}: ${shortPath(plan.file)}`,
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function rowText({ source, file, line, record, raw }: RowStory, columns: number): string {
  const where = line > 0 ? placeText({ file, line, record: 0 }) : file;
  const head = `in the export   ${where} (${source}, record ${record})`;
  if (raw === null) return `${head}\n  its values are not stored`;
  const values = Object.entries(raw).map(([name, value]) => [name, valueText(value)] as const);
  return `${head}\n${valueRows(
    values.filter(([, text]) => text !== ''),
    columns,
  )}`;
}

function eventText(event: EventStory, names: ReadonlyMap<string, string>, columns: number): string {
  const { type, state, data, errors, omitted } = event;
  const values = data === null ? [] : namedValues(data, names);
  if (event.occurred_at !== null) values.push(['occurred_at', event.occurred_at]);
  const notes = [
    event.parts.length > 0 ? `carries ${counted(event.parts.length, COMBINED)}: ${enumerated(event.parts, 'and')}` : '',
    event.sends !== null && event.sends !== type ? `what has changed is sent as ${event.sends}` : '',
    event.difference === null ? '' : differenceText(event.difference),
    ...errors.map((error) => {
      const { field, message, code, hint } = error;
      return `${field ? `${field}: ` : ''}${printable(message)} [${code}]${hint ? `\nhint: ${hint}` : ''}`;
    }),
  ].filter((note) => note !== '');
  return [
    `${type}${data === null ? '' : ' as planned'}   ${state}`,
    ...(values.length > 0 ? [valueRows(values, columns)] : []),
    ...notes.flatMap((note) => note.split('\n').map((line) => wrapped(`  ${line}`, columns))),
    ...(omitted.length > 0 ? [leftOutText('  left out', omitted, columns)] : []),
  ].join('\n');
}

function leftOutText(title: string, rowsLeftOut: RecordStory['dropped'], columns: number): string {
  if (rowsLeftOut.length === 0) return '';
  const lines = rowsLeftOut.slice(0, MOST_LINES).map(({ file, line, field, original, reason }) => {
    const what = field === RECORD ? placeText({ file, line, record: 0 }) : `${field} \`${printable(original)}\``;
    return wrapped(`    ${what}: ${printable(reason)}`, columns);
  });
  return [title, ...lines].join('\n');
}

function relativeText({ record, name, state, file, line }: Relative, columns: number): string {
  const where = file === null ? '' : `  ${placeText({ file, line: line ?? 0, record: 0 })}`;
  const fate = state ?? 'neither in the plan nor acknowledged';
  const what = record.endsWith(':') ? `${record.slice(0, -1)} without an id` : record;
  return cutTo(`  ${what}   ${fate}${where}  ${printable(name)}`.trimEnd(), columns);
}

function childrenText({ count, by_state: states, first }: RecordStory['children'], columns: number): string {
  if (count === 0) return '';
  const counts = (Object.entries(states) as [EventFate, number][]).map(
    ([state, number]) => `${numberText(number)} ${state}`,
  );
  const more = count - first.length;
  return [
    `${count === 1 ? '1 child' : `${numberText(count)} children`}: ${counts.join(', ')}`,
    ...first.map((child) => relativeText(child, columns)),
    ...(more > 0 ? [`  and ${counted(more, 'other')}`] : []),
  ].join('\n');
}

function answersText(answers: readonly ServiceAnswer[], now: Date): string {
  if (answers.length === 0) return 'sent\n  nothing yet';
  const lines = answers.slice(-MOST_LINES).map((answer) => {
    const { at, sent_at: sentAt, outcome, code } = answer;
    const how = [outcome, code].filter((part) => part !== null).join(', ');
    const fate = answer.status === 'unanswered' ? UNANSWERED : answer.status;
    return `  ${clockText(new Date(at ?? sentAt), now)}  ${answer.type}   ${fate}${how ? ` (${how})` : ''}`;
  });
  return ['sent, and answered', ...lines].join('\n');
}

const UNANSWERED = 'no answer is recorded: it may have arrived, and the next run settles it';

function differenceText(code: string): string {
  return code === 'unmapped' ? 'its rows can no longer be mapped' : meaningOf(code, 'map').what;
}
