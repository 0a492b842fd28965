/** Why events cannot be sent: each cause once, by how many events it frees. */
import { placedFile } from '../../store/plan-schema.ts';
import { placeText } from '../../model.ts';
import type { Database } from '../../store/sqlite.ts';
import { counted } from '../words/numbers.ts';
import { isNameCode, meaningOf, NAME_CODES } from '../words/words.ts';

/** Errors that one correction, or corrections of one kind, make good. */
export interface ErrorCause {
  readonly kind: string;
  readonly code: string;
  readonly field: string | null;
  /** Rows and events that have the error. */
  readonly count: number;
  /** Events that can be sent once it alone is corrected: of those that have it, and all that hang on them, the ones without another error. */
  readonly frees: number;
  /** Of all causes: events that several of them keep back. */
  readonly several: number;
  /** Of the first one. It contains values of records, and so does the hint. */
  readonly message: string;
  readonly hint: string | null;
  /** Of an answer of the service, whose words the message is. */
  readonly http_status: number | null;
  readonly messages: number;
  /** Of those with this message. */
  readonly places: readonly ErrorPlace[];
}

export interface ErrorPlace {
  readonly file: string;
  /** 0 if the file has no lines. */
  readonly line: number;
  readonly record: number;
  readonly externalId: string | null;
}

/** That a parent was not accepted is a consequence of what is wrong with the parent. */
export const CONSEQUENCE = 'parent_failed';
const MOST_PLACES = 3;

/** Those that free most first. Names without an answer are one cause, because one file answers them; other errors are grouped by code and field. */
export function readCauses(db: Database): readonly ErrorCause[] {
  const causes = db.all<Omit<ErrorCause, 'places'> & { first: number }>(`
    with recursive caused as materialized (
      select p.event, p.message, min(p.id) over (partition by ${SUBJECT}) as first
      from problem p where p.severity = 'error' and p.code <> '${CONSEQUENCE}'),
    below (first, id, entity, external_id) as (
      select c.first, e.id, e.entity, e.external_id from caused c join event e on e.id = c.event
      union
      select below.first, child.id, child.entity, child.external_id
      from below join event child on child.parent_entity = below.entity and child.parent_id = below.external_id
      where child.state in ('blocked', 'invalid')),
    kept as materialized (select min(first) as first, count(*) as causes from below group by id),
    freed as materialized (select first, count(*) as events from kept where causes = 1 group by first)
    select c.first, p.kind, p.code, p.field, p.message, p.hint, p.http_status, count(*) as count, count(distinct c.message) as messages,
      ifnull(f.events, 0) + sum(c.event is null) as frees, (select count(*) from kept where causes > 1) as several
    from caused c join problem p on p.id = c.first left join freed f on f.first = c.first
    group by c.first order by frees desc, count desc, c.first`);
  const places = readPlaces(db);
  return causes.map(({ first, ...cause }) => ({ ...cause, places: places.get(first) ?? [] }));
}

/** The first places of each cause with its first message, by the id of its first problem. */
function readPlaces(db: Database): ReadonlyMap<number, readonly ErrorPlace[]> {
  const rows = db.all<ErrorPlace & { first: number }>(`
    with caused as (
      select p.id, p.event, p.record, p.cell, p.message, first_value(p.id) over same as first, first_value(p.message) over same as shown
      from problem p where p.severity = 'error' and p.code <> '${CONSEQUENCE}'
      window same as (partition by ${SUBJECT} order by p.id)),
    numbered as (select *, row_number() over (partition by first order by id) as n from caused where message = shown)
    select p.first, ${placedFile('p')} as file, r.line, r.record, e.external_id as externalId
    from numbered p left join event e on e.id = p.event join row r on r.id = ifnull(p.record, e.record)
    where p.n <= ${MOST_PLACES} order by p.id`);
  const places = new Map<number, ErrorPlace[]>();
  for (const { first, ...place } of rows) {
    const known = places.get(first);
    if (known) known.push(place);
    else places.set(first, [place]);
  }
  return places;
}

/** A name that the account lacks. An id that it lacks is a cause of its own: the worksheet has no ids. */
const IS_NAME = `p.code in (${NAME_CODES.map((code) => `'${code}'`).join(', ')}) and ifnull(p.field, '') not like '%\\_id' escape '\\'`;
/** What errors have in common that are one cause. */
const SUBJECT = `p.kind, iif(${IS_NAME}, '', p.code), iif(${IS_NAME}, '', iif(p.kind = 'resolve', p.message, ifnull(p.field, '')))`;

/** A cause in a sentence, with the values of its first case. */
export function causeText(cause: ErrorCause): string {
  const { kind, code, field, message: said, messages, http_status: status } = cause;
  // Beside others, its message alone does not say what is missing.
  if (code === 'missing_value' && field !== null) return `\`${field}\` is required, and has no value`;
  const message = status === null || said.startsWith('answered ') ? said : `the service answered ${status}: ${said}`;
  if (messages === 1) return message;
  if (isNameCode(code)) return `${message}, and ${counted(messages - 1, 'more name')}`;
  const { several } = meaningOf(code, kind);
  if (several !== undefined) return `values ${several}, such as: ${message}`;
  return kind === 'blocked'
    ? `${message}; and ${messages - 1} more without a parent`
    : `${message}, and ${messages - 1} more like it`;
}

/** That events need more than one correction, so that no cause alone frees them. */
export function severalText([first]: readonly ErrorCause[]): string[] {
  const several = first?.several ?? 0;
  return several === 0
    ? []
    : [`${counted(several, 'more event')} ${several === 1 ? 'has' : 'have'} several of these errors`];
}

/** `contacts.csv:5, :30, deals.csv:7`; the number of the record where there are no lines. `count`: of all places. */
export function placesText(places: readonly Pick<ErrorPlace, 'file' | 'line' | 'record'>[], count: number): string {
  let last: string | undefined;
  const texts = [...new Map(places.map((place) => [placeText(place), place])).values()].map(
    ({ file, line, record }) => {
      const at = placeText({ file, line, record }).slice(file.length);
      const text = file === last && at !== '' ? at.trim() : `${file}${at}`;
      last = file;
      return text;
    },
  );
  if (places.length > 0 && count > places.length) texts.push('…');
  return texts.join(', ');
}
