/** `changes.csv`: fields of records sent before that are not, or were not, as the input wants them. */
import { isShownField, kindOf, KINDS } from '../../kinds/index.ts';
import type { Next, Verdict } from '../../core/next.ts';
import { textOf } from '../account/fields.ts';
import { parseJson, type JsonValue } from '../../json.ts';
import type { Entity } from '../../model.ts';
import { readDocument } from '../../report/files/documents.ts';
import { writeTable } from '../../report/files/error-files.ts';
import { namesById } from '../../service/account.ts';
import { UNACKNOWLEDGED } from '../../store/plan-schema.ts';
import type { Database } from '../../store/sqlite.ts';
import type { StateDir } from '../../files/state-dir.ts';
import { listGone } from './gone.ts';
import { hasRecords } from './records.ts';
import type { Subject } from './wanted.ts';
import type { RecordInService } from './in-service.ts';
import { isCounted, NOT_READ, NOT_SHOWN } from './sent-values.ts';

export const CHANGES_FILE = 'changes.csv';

const COLUMNS = 'record external_id service_id field in_service in_export verdict';

/** Lists the fields of a record that differ from the input, and replaces its earlier list. */
export function listChanges(
  db: Database,
  { entity, external_id, wanted, known }: Pick<Subject, 'entity' | 'external_id' | 'wanted' | 'known'>,
  { verdicts }: Next,
  shown?: RecordInService,
): void {
  if (verdicts.size === 0) return;
  db.run('delete from change where entity = ? and external_id = ?', entity, external_id);
  // What is set for the first time in a record of somebody else has not changed.
  if (known.serviceId === undefined) return;
  for (const [field, verdict] of verdicts) {
    if (verdict === 'ignored' && !isCounted(entity, field)) continue;
    const isShown = shown?.values.has(field) === true;
    const unknown = !shown && isShownField(entity, field) ? NOT_READ : NOT_SHOWN;
    const isWhole = !kindOf(entity).isUpdatable;
    db.add('change', {
      ...{ entity, external_id, service_id: known.serviceId, field },
      in_service: isShown ? (textOf(shown.values.get(field)) ?? '') : unknown,
      in_export: (isWhole ? contentOf(wanted.values.get(field)) : textOf(wanted.values.get(field))) ?? '',
      verdict: isWhole && verdict === 'reported' ? 'comment_changed' : wordOf(verdict, isShown),
    });
  }
}

/** A record that the service does not show any more. `code`: why; `inService`: what it shows instead. */
export function listUnshown(db: Database, subject: Subject, code: string, in_service: string): void {
  const { entity, external_id, known } = subject;
  const change = { entity, external_id, service_id: known.serviceId, field: '', in_service, in_export: '' };
  db.add('change', { ...change, verdict: code.replace(/_in_service$/, '') });
}

/** The words of the column `verdict`, where they are not the core's own. */
const WORDS: Readonly<Partial<Record<Verdict, string>>> = {
  kept: 'conflict, kept',
  overwritten: 'conflict, overwritten',
};

function wordOf(verdict: Verdict, isShown: boolean): string {
  if (verdict === 'sent') return isShown ? 'changed' : 'not_shown';
  return WORDS[verdict] ?? verdict;
}

/** The text of a comment. For the core, a whole comment is one field. */
function contentOf(data: JsonValue | undefined): string | undefined {
  return typeof data === 'string' ? (parseJson(data) as { content?: string }).content : undefined;
}

/** Writes what was listed, with the names of stages and users before their ids. */
export function writeChanges(db: Database, output: Pick<StateDir, 'file'>): void {
  type Row = Readonly<Record<string, string | null>> & { readonly in_service: string; readonly in_export: string };
  const statement = `
    select entity as record, external_id, service_id, field, in_service, in_export, verdict from change
    where verdict <> 'ignored' order by id`;
  const names = namesById(readDocument(db, 'account'));
  const named = (value: string): string => {
    const name = names.get(value.toLowerCase());
    return name === undefined ? value : `${name} (${value})`;
  };
  writeTable<Row>(db, output.file(CHANGES_FILE), COLUMNS, statement, {
    shown: (row) => ({ ...row, in_service: named(row.in_service), in_export: named(row.in_export) }),
  });
}

/** Records to send that the service does not have as far as is known, by what became of them in earlier runs. */
export interface DueCounts {
  /** Not sent by any run yet. */
  readonly new: number;
  /** Sent without an answer so far. */
  readonly unanswered: number;
  readonly rejected: number;
}

/** What an export differs in from what earlier runs sent: numbers of records. */
export interface ChangeCounts extends DueCounts {
  readonly changed: number;
  /** Of the changed ones: only reported, because `if_changed` sends nothing for them. They are not read from the service. */
  readonly reported: number;
  /** Of the changed ones: with a field that the export has no longer, or a comment with another text. No policy sends that. */
  readonly not_sendable: number;
  /** Of the changed ones: edited in the service since, and of these, edited in a field that has changed in the export too. */
  readonly edited: number;
  readonly in_conflict: number;
  /** Of the changed ones: those with another parent, by kind; `to_new`: to one that no run has sent yet. */
  readonly moved: readonly {
    readonly record: Entity;
    readonly parent: Entity;
    readonly count: number;
    readonly to_new: number;
  }[];
  readonly gone: number;
  /** Neither gone nor there: a row that could not be read may be about them. */
  readonly unread: number;
  /** Fields that have changed in the export and that the service does not show. */
  readonly not_compared: readonly string[];
}

/**
 * How the records of earlier runs differ from the input; undefined if nothing was sent before. To be called before anything is sent. Lists
 * those that are gone from the input.
 */
export function readChanges(db: Database, output: Pick<StateDir, 'file'>): ChangeCounts | undefined {
  return hasRecords(db) ? { ...countDueAgain(db), ...countChanges(db), ...listGone(db, output) } : undefined;
}

/** Events that can be sent and about whose records nothing was sent before. */
function countDueAgain(db: Database): DueCounts {
  return db.get(`
    select count(*) filter (where r.entity is null or (r.existence = 'no' and r.rejected is null)) as new,
      count(*) filter (where r.open is not null) as unanswered,
      count(*) filter (where r.existence = 'no' and r.rejected is not null and r.open is null) as rejected
    from event e left join checkpoint.record r on r.entity = e.entity and r.external_id = e.external_id
    where e.state in ('ready', 'retry') and e.${UNACKNOWLEDGED}`)!;
}

/** Numbers of records. */
function countChanges(db: Database): Omit<ChangeCounts, keyof DueCounts | 'gone' | 'unread'> {
  const count = (where: string): number =>
    db.get<{ count: number }>(
      `select count(*) as count from (select distinct entity, external_id from change where ${where})`,
    )!.count;
  const notShown = db.all<{ field: string }>(
    `select distinct field from change where verdict = 'not_shown' order by field`,
  );
  return {
    changed: count(`verdict not in ('edited', 'ignored')`),
    reported: count(`verdict = 'reported'`),
    not_sendable: count(`verdict in ('emptied', 'comment_changed')`),
    edited: count(`verdict in ('edited', 'conflict, kept', 'conflict, overwritten')`),
    in_conflict: count(`verdict in ('conflict, kept', 'conflict, overwritten')`),
    moved: movedRecords(db),
    not_compared: notShown.map(({ field }) => field),
  };
}

/** Of records that were sent, those that name another parent now. */
function movedRecords(db: Database): ChangeCounts['moved'] {
  return KINDS.flatMap(({ name, parents }) =>
    parents.map(({ field, kind: parent }) => {
      const counts = db.get<{ count: number; to_new: number }>(
        `select count(*) as count, ifnull(sum(not exists (
           select 1 from checkpoint.record r
           where r.entity = ? and r.external_id = c.in_export and r.is_acknowledged = 1)), 0) as to_new
         from change c
         where c.entity = ? and c.field = ? and c.verdict in ('changed', 'not_shown', 'reported', 'conflict, overwritten')`,
        parent,
        name,
        field,
      )!;
      return { record: name, parent, ...counts };
    }),
  ).filter(({ count }) => count > 0);
}
