import { EVENT_TYPES, KINDS, PERSON } from '../../kinds/index.ts';
import type { CompiledMapping } from '../../mapping/mapping.ts';
import { placeText, type Invalid, type Ready, type Row } from '../../model.ts';
import { addProblem } from '../../plan/problems.ts';
import { BARE, BARE_CODES, type BareNote, type ColumnNote, type Profile, type SharedNote } from './notes.ts';
import { unreadArrays, type Source } from '../../input/source.ts';
import type { Database } from '../../store/sqlite.ts';
import { enumerated } from '../../report/words/numbers.ts';
import { SourceWatch } from './source.ts';
import { isSuspect, textDamage, textsOf } from './text-damage.ts';
import { issueOf } from '../../report/words/words.ts';
import { locationText, type Problem } from '../../problem.ts';

/** Events that could be sent. */
const IS_GOOD = `data is not null and state not in ('duplicate', 'invalid')`;

interface ProfileJob {
  readonly sources: ReadonlyMap<string, Source>;
  readonly eventSources: readonly string[];
  readonly compiled: CompiledMapping;
  readonly db: Database;
}

/**
 * Collects, during the survey, statistics about the input as a whole. It keeps counts and a few examples, never the values
 * of personal fields.
 */
export class Profiler {
  readonly #job: ProfileJob;
  readonly #watches = new Map<string, SourceWatch>();

  constructor(job: ProfileJob) {
    this.#job = job;
    const { sources, compiled } = job;
    for (const [name, source] of sources) {
      const entries = compiled.entries.filter((entry) => entry.source === name);
      const lookedUp = compiled.lookedUp.get(name) ?? new Set();
      const { isLenient } = compiled;
      this.#watches.set(name, new SourceWatch(source, entries, lookedUp, compiled.missingValues(name), isLenient));
    }
  }

  /** Reads the sources that only lookups use, to name their unused columns, too. */
  async readLookedUp(): Promise<void> {
    const { sources, eventSources } = this.#job;
    for (const [name, source] of sources) {
      if (eventSources.includes(name)) continue;
      const watch = this.watch(name);
      for await (const batch of source.batches()) {
        for (const item of batch) if (item.kind === 'row') watch.row(item);
      }
    }
  }

  /** The statistics of one source. */
  watch(source: string): SourceWatch {
    return this.#watches.get(source)!;
  }

  /** Spreadsheets write a date as the number of a day. Texts are looked at as they will be sent. */
  event(event: Ready | Invalid, row: Row): void {
    const watch = this.watch(row.place.source);
    for (const list of [event.issues, event.omissions])
      for (const { code, field = '' } of list) if (code === 'bad_date') watch.serialDate(field, row);
    if (event.kind !== 'ready') return;
    for (const [field, text] of isSuspect(event.content) ? textsOf(event.data) : []) {
      const damage = textDamage(field, text);
      if (damage) watch.damaged(damage, field, text, row);
    }
    if (typeof event.data.content === 'string') watch.comment(event.data.content, row);
  }

  /** Call it when every event has been judged. Everything noticed is also among the warnings. */
  finish(): Profile {
    const profile: Profile = {
      sources: Object.fromEntries([...this.#watches].map(([name, watch]) => [name, watch.profile()])),
      shared: sharedNotes(this.#job.db),
      bare: this.#bareNotes(),
    };
    this.#warn(profile);
    return profile;
  }

  /** One pass over the events of each type, and another one for each finding. */
  #bareNotes(): BareNote[] {
    const { db, compiled } = this.#job;
    return EVENT_TYPES.flatMap((type) => {
      const codes = BARE_CODES.filter((code) => BARE[code]!.type === type);
      if (codes.length === 0 || !compiled.entries.some((entry) => entry.type === type)) return [];
      const reads = (field: string): boolean =>
        compiled.entries.some((entry) => entry.type === type && entry.uses.some((use) => use.field === field));
      const firsts = codes.map((code) => `min(iif(${BARE[code]!.lacks}, id, null)) as ${code}`);
      const good = `from event where type = ? and ${IS_GOOD}`;
      const found = db.get<Readonly<Record<string, number | null>>>(`select ${firsts.join(', ')} ${good}`, type)!;
      return codes.flatMap((code): BareNote[] => {
        const first = found[code]!;
        if (first === null) return [];
        const { count, of, id } = db.get<{ count: number; of: number; id: string }>(
          `select count(*) filter (where ${BARE[code]!.lacks}) as count, count(*) as "of",
             max(iif(id = ?, external_id, null)) as id ${good}`,
          first,
          type,
        )!;
        const { fields, isSaid } = BARE[code]!;
        const note: BareNote = { code, count, of, unset: !fields.some(reads), external_id: id };
        return isSaid && !isSaid(note, reads) ? [] : [note];
      });
    });
  }

  /** Why records lack fields that the mapping sets: to map them is no advice. Undefined where no column gives them. */
  #emptyText(fields: readonly string[]): string | undefined {
    const { compiled, db } = this.#job;
    const uses = compiled.entries
      .flatMap((entry) => entry.uses)
      .filter(({ field, decides }) => fields.includes(field) && decides === undefined);
    const paths = [...new Set(uses.map(({ path }) => `\`${path}\``))];
    if (paths.length === 0) return undefined;
    const isOmitted = db.get(
      'select 1 from omission where field in (select value from json_each(?))',
      JSON.stringify(fields),
    );
    const isFreed =
      KINDS.some(({ parents }) => parents.some(({ field }) => fields.includes(field))) &&
      compiled.entries.some(({ policies }) => policies.if_parent_missing === 'omit');
    return [
      `${enumerated(paths, 'and')} ${paths.length === 1 ? 'is' : 'are'} empty there`,
      ...(isOmitted ? ['or the value was left out (`left_out.csv`)'] : []),
      ...(isFreed ? ['or names a record that is not sent (`if_parent_missing: omit`)'] : []),
    ].join(', ');
  }

  #warn(profile: Profile): void {
    const { db, compiled, sources } = this.#job;
    const warn = (issue: Problem, count = 1): void => addProblem(db, {}, issue.with({ count }));
    for (const warning of compiled.warnings) warn(warning);
    for (const notice of [...sources.values()].flatMap((source) => source.notices()))
      warn(notice.with({ kind: 'map', message: `${locationText(notice.at!)}: ${notice.message}` }));
    const unread = unreadArrays(sources.values()).map((name) => `\`${name}\``);
    if (unread.length > 0) warn(issueOf('unread_array', unread), unread.length);
    const { nameless } = db.get<{ nameless: number }>(
      `select count(*) as nameless from event where is_derived = 1 and ${IS_GOOD}`,
    )!;
    if (nameless > 0) warn(issueOf('comment_without_id'), nameless);
    for (const { code, count, of, unset, external_id: example } of profile.bare) {
      const { fields } = BARE[code]!;
      const hint = unset ? undefined : this.#emptyText(fields);
      warn(issueOf(code, { count, of, unset, example, fields }).with({ hint }), count);
    }
    for (const { field, count, external_id: id } of profile.shared) warn(issueOf(`shared_${field}`, count, id), count);
    const all = Object.values(profile.sources);
    const empty = all.flatMap(({ never_a_value: notes }) => notes.map(columnText));
    if (empty.length > 0 && !compiled.isLenient) warn(issueOf('never_a_value', empty), empty.length);
    for (const { files, ...note } of all.flatMap(({ lacking }) => lacking))
      warn(issueOf('missing_path', columnText(note), files), files.length);
    for (const { to, values, from, ...note } of all.flatMap(({ renamed }) => renamed))
      warn(issueOf('missing_path/renamed', columnText(note), to, values, from), values);
    const deciding = all.flatMap(({ not_carried: notes }) => notes.map(columnText));
    if (deciding.length > 0) warn(issueOf('not_carried', deciding), deciding.length);
    for (const { damage, dates, numbers } of all) {
      for (const { kind, count, of, example, file, line, ...column } of damage) {
        const place = placeText({ file, line, record: 0 });
        const issue = issueOf(kind, { column: columnText(column), count, of, example, place });
        const hint = kind === 'looks_empty' ? missingHint(example) : issue.hint;
        warn(issue.with({ hint }), count);
      }
      for (const { count, example, grouped, decimal, ...column } of numbers)
        warn(issueOf('numbers_read_either_way', columnText(column), count, example, grouped, decimal), count);
      for (const { kind, count, example, ...column } of dates) {
        const code = kind === 'either' ? 'dates_read_either_way' : 'dates_read_mixed';
        warn(issueOf(code, columnText(column), count, example));
      }
    }
  }
}

function missingHint(text: string): string {
  return `if it means no value, set \`missing_values: ["", ${JSON.stringify(text)}]\` on the source`;
}

/** `` `Fax` (custom_params.fax) `` */
function columnText({ column, fields }: ColumnNote): string {
  return `\`${column}\` (${fields.join(', ')})`;
}

/** Leads that have the e-mail address or phone number of an earlier lead, and one of them. */
function sharedNotes(db: Database): SharedNote[] {
  const sharing = (field: string): string => `
    select '${field}' as field, sum(count - 1) as count, min(last) as example from (
      select count(*) as count, max(id) as last from lead where ${field} is not null group by ${field} having count(*) > 1)`;
  return db.all(`
    with lead as materialized (
      select id, lower(json_extract(data, '$.email')) as email, json_extract(data, '$.phone_number') as phone_number from event
      where type = '${PERSON}/created' and ${IS_GOOD})
    select field, count, external_id from (${sharing('email')} union all ${sharing('phone_number')}) join event on id = example`);
}
