/** What is wrong, what is left out and what to look at: each cause once, with its first places. Screens, pages and `status` show these. */
import { PERSON } from '../../kinds/index.ts';
import { placeText, type EventType } from '../../model.ts';
import { placedFile } from '../../store/plan-schema.ts';
import type { Database } from '../../store/sqlite.ts';
import { BARE } from '../../survey/profile/notes.ts';
import { counted } from '../words/numbers.ts';
import { inSentence } from '../words/sentence.ts';
import { fieldWords } from '../words/terms.ts';
import { isNameCode, meaningOf, NAME_CODES } from '../words/words.ts';

/**
 * Errors that one correction, or corrections of one kind, make good; values of one field that are left out for one reason; or warnings with
 * one code.
 */
export interface Cause extends CausePlace {
  readonly kind: string;
  readonly code: string;
  /** Rows, events or values that it is about. */
  readonly count: number;
  /** Of warnings: how many of them the last survey of the same mapping gave already. */
  readonly repeated: number;
  /** Of all events of these types, from 0 to 1. */
  readonly share: number;
  /** Those of its events; empty for what is about no event. */
  readonly types: readonly EventType[];
  /** Of an error, events that can be sent once it alone is corrected: of those that have it, and all that hang on them, the ones without another error. */
  readonly frees: number;
  /** Of an answer of the service, whose words the message is. */
  readonly http_status: number | null;
  /** Of errors: how many different ones. */
  readonly messages: number;
  /** The first ones that are new; the cause itself has what is said of the first of them. */
  readonly places: readonly CausePlace[];
}

interface CausePlace {
  /** Empty, and 0, where the input as a whole is meant. */
  readonly file: string;
  /** 0 if the file has no lines. */
  readonly line: number;
  readonly record: number;
  readonly externalId: string | null;
  readonly field: string | null;
  /** Contains values of records; so does the hint. */
  readonly message: string;
  readonly hint: string | null;
  /** The value that was left out. */
  readonly original: string | null;
  /** Of an event that the service refused: its data, as JSON. */
  readonly data: string | null;
}

export interface Causes {
  /** Those that free most first. */
  readonly errors: readonly Cause[];
  /** The most frequent first, as the warnings. */
  readonly omissions: readonly Cause[];
  readonly warnings: readonly Cause[];
  /** Events that several errors keep back. */
  readonly several: number;
}

/** That a parent was not accepted is a consequence of what is wrong with the parent. */
export const CONSEQUENCE = 'parent_failed';
const MOST_PLACES = 5;

/** A name that the account lacks. An id that it lacks is a cause of its own: the worksheet has no ids. */
const IS_NAME = `p.code in (${NAME_CODES.map((code) => `'${code}'`).join(', ')}) and ifnull(p.field, '') not like '%\\_id' escape '\\'`;

/**
 * Names without an answer are one cause, because one file answers them; other errors are grouped by code and field, or by their words where
 * they are about names.
 */
const RANKED = `
  found (severity, id, event, count, is_repeated, subject) as (
    select p.severity, p.id, p.event, p.count, p.is_repeated, case
      when p.severity = 'warning' then p.code
      when ${IS_NAME} then ''
      else p.kind || ' ' || p.code || ' ' || iif(p.kind = 'resolve', p.message, ifnull(p.field, '')) end
    from problem p where p.code <> '${CONSEQUENCE}'
    union all select 'omission', o.id, o.event, 1, 0, o.code || ' ' || o.field from omission o),
  ranked as materialized (
    select severity, id, event, count, is_repeated, first_value(id) over same as cause, row_number() over same as n
    from found window same as (partition by severity, subject order by is_repeated, id))`;

interface CountedCause extends Pick<Cause, 'count' | 'repeated' | 'frees' | 'messages'> {
  readonly severity: 'error' | 'warning' | 'omission';
  readonly cause: number;
  readonly types: string;
}

const COUNTS = `
  with ${RANKED}
  select r.severity, r.cause, sum(r.count) as count, sum(r.count * r.is_repeated) as repeated, json_group_array(distinct e.type) as types,
    count(distinct p.message) as messages, sum(r.event is null) as frees
  from ranked r left join event e on e.id = r.event left join problem p on r.severity = 'error' and p.id = r.id
  group by r.severity, r.cause order by count desc, r.cause`;

/** Events that one cause alone keeps back; those of several causes have none. */
const FREED = `
  with recursive ${RANKED},
    below (cause, id, entity, external_id) as (
      select r.cause, e.id, e.entity, e.external_id from ranked r join event e on e.id = r.event where r.severity = 'error'
      union
      select below.cause, child.id, child.entity, child.external_id
      from below join event child on child.parent_entity = below.entity and child.parent_id = below.external_id
      where child.state in ('blocked', 'invalid'))
  select cause, count(*) as events
  from (select iif(count(*) = 1, min(cause), null) as cause from below group by id) group by cause`;

type FirstRow = CausePlace & Pick<Cause, 'kind' | 'code' | 'http_status'> & Pick<CountedCause, 'severity' | 'cause'>;

const placesOf = (of: 'p' | 'o', columns: string): string => `
  select k.severity, k.cause, k.n, ${columns}, ifnull(${placedFile(of)}, '') as file, ifnull(r.line, 0) as line,
    ifnull(r.record, 0) as record, e.external_id as externalId
  from ranked k join ${of === 'p' ? 'problem' : 'omission'} ${of} on ${of}.id = k.id left join event e on e.id = k.event
    left join row r on r.id = ifnull(${of}.record, e.record)
  where k.n <= ${MOST_PLACES} and (k.severity = 'omission') = ${Number(of === 'o')}`;

const PLACES = `
  with ${RANKED}
  ${placesOf('p', `p.kind, p.code, p.field, p.message, p.hint, p.http_status, null as original, iif(p.kind = 'send', e.data, null) as data`)}
  union all
  ${placesOf('o', `'map', o.code, o.field, o.reason, null, null, o.original, null`)}
  order by 1, 2, 3`;

export function readCauses(db: Database): Causes {
  const events = new Map(
    db
      .all<{ type: string; count: number }>('select type, count(*) as count from event group by type')
      .map(({ type, count }) => [type, count]),
  );
  const places = new Map<string, FirstRow[]>();
  const keyOf = ({ severity, cause }: Pick<CountedCause, 'severity' | 'cause'>): string => `${severity} ${cause}`;
  for (const row of db.each<FirstRow>(PLACES)) places.set(keyOf(row), [...(places.get(keyOf(row)) ?? []), row]);
  const counts = db.all<CountedCause>(COUNTS);
  const freed = new Map<number | null, number>();
  for (const { cause, events: of } of db.each<{ cause: number | null; events: number }>(FREED)) freed.set(cause, of);
  const of = (wanted: CountedCause['severity']): Cause[] =>
    counts
      .filter(({ severity }) => severity === wanted)
      .map((each): Cause => {
        const own = places.get(keyOf(each))!;
        const types = (JSON.parse(each.types) as (EventType | null)[]).filter((type) => type !== null);
        const frees = each.frees + (freed.get(each.cause) ?? 0);
        const cause = { ...own[0]!, ...each, types, frees };
        return { ...cause, share: shareOf(cause, events), places: own };
      });
  return {
    errors: of('error').sort((one, other) => other.frees - one.frees),
    omissions: of('omission'),
    warnings: of('warning'),
    several: freed.get(null) ?? 0,
  };
}

/** A warning about the input as a whole is about one type of events, or about the largest. An event may have more than one. */
function shareOf({ code, count, types }: Pick<Cause, 'code' | 'count' | 'types'>, events: ReadonlyMap<string, number>) {
  const usual = code.startsWith('shared_') ? `${PERSON}/created` : BARE[code]?.type;
  const most = Math.max(0, ...events.values());
  const about = types.length > 0 ? types : usual === undefined ? [] : [usual];
  const all = about.reduce((sum, type) => sum + (events.get(type) ?? 0), 0) || most;
  return all === 0 ? 0 : Math.min(1, count / all);
}

/** A cause in a sentence, with the values of its first case. */
export function causeText({ kind, code, field, message: said, messages, http_status: status }: Cause): string {
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

/** The same of a value left out. */
export function omissionText({ kind, code, field }: Cause): string {
  return `${fieldWords(field!)} left out: ${inSentence(meaningOf(code, kind).what)}`;
}

/** The same of a warning: as it was said of the whole input, or of one record. */
export function warningText({ kind, code, count, file, message, places }: Cause): string {
  if (file === '') return message;
  return count === 1 ? `${message}: ${placesText(places, 1)}` : inSentence(meaningOf(code, kind).what);
}

/** That events need more than one correction, so that no cause alone frees them. `noun`: the customer knows records, not events. */
export function severalText({ several }: Causes, noun = 'event'): string[] {
  const have = several === 1 ? 'has' : 'have';
  return several === 0 ? [] : [`${counted(several, `more ${noun}`)} ${have} several of these errors`];
}

/** `contacts.csv:5, :30, deals.csv:7`; the number of the record where there are no lines. `count`: of all places. */
export function placesText(places: readonly Pick<CausePlace, 'file' | 'line' | 'record'>[], count: number): string {
  let last: string | undefined;
  const named = places.filter(({ file }) => file !== '');
  const texts = [...new Set(named.map(placeText))].map((text) => {
    const { file } = named.find((place) => placeText(place) === text)!;
    const at = text.slice(file.length);
    const shown = file === last && at !== '' ? at.trim() : text;
    last = file;
    return shown;
  });
  if (named.length > 0 && count > named.length) texts.push('…');
  return texts.join(', ');
}
