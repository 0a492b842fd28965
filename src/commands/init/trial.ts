/** Tries a mapping as a dry run does: what is refused is commented out, and what becomes of each record is counted. */
import { rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UserError } from '../../errors.ts';
import { Halt, haltOnSignals } from '../../halt.ts';
import { ProblemsError, type Problem } from '../../problem.ts';
import { Redactor } from '../../redact.ts';
import { runMigration } from '../../run/run.ts';
import { runSettings } from '../../settings/run-settings.ts';
import { PLAN, PLAN_FILE } from '../../store/plan-schema.ts';
import { Database } from '../../store/sqlite.ts';
import { numberText } from '../../report/words/numbers.ts';
import type { MappingText } from './lines/text.ts';
import { withLines, type Entry } from './lines/yaml.ts';

/** What became of the records of a source. */
export interface SourceFate {
  readonly read: number;
  readonly unreadable: number;
  /** With an event, valid or not. */
  readonly taken: number;
  /** Lines below the records. */
  readonly footers: number;
}

/** What an entry made of the records. */
export interface EntryFate {
  readonly records: number;
  readonly events: number;
  /** Events that are invalid or blocked by their parents. */
  readonly failed: number;
  /** The codes of their problems, the most frequent first: `2 bad_date`. */
  readonly codes: readonly string[];
}

export interface TriedMapping {
  /** As given, except that what the program refuses is commented out. */
  readonly entries: readonly Entry[];
  readonly sources: ReadonlyMap<string, SourceFate>;
  readonly fates: ReadonlyMap<Entry, EntryFate>;
  /** Why the exports could not be read to their ends with it. */
  readonly failure?: UserError | undefined;
}

/**
 * `write`: the text of a mapping with these entries. Nothing is sent, and nothing is left on the disk: the first signal ends the trial,
 * the second the program.
 */
export async function tryMapping(
  entries: readonly Entry[],
  write: (entries: readonly Entry[]) => MappingText,
): Promise<TriedMapping> {
  const folder = await mkdtemp(join(tmpdir(), 'crm-backfill-init-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const halt = new Halt();
  const endListening = haltOnSignals(halt, (code) => process.exit(code));
  process.once('exit', remove);
  try {
    return await attempt(folder, halt, entries, write);
  } finally {
    endListening();
    process.off('exit', remove);
    remove();
  }
}

async function attempt(
  folder: string,
  halt: Halt,
  entries: readonly Entry[],
  write: (entries: readonly Entry[]) => MappingText,
): Promise<TriedMapping> {
  const failed = (failure: UserError): TriedMapping => ({ entries, failure, sources: new Map(), fates: new Map() });
  const live = entries.filter(({ refused }) => refused === undefined);
  if (live.length === 0) return { entries, sources: new Map(), fates: new Map() };
  const written = write(entries);
  const mapping = join(folder, 'mapping.yaml');
  await writeFile(mapping, written.text, { mode: 0o600 });
  const source = [...written.paths].map(([name, path]) => `${name}=${path}`);
  const state = join(folder, 'state');
  const settings = runSettings({ mapping, state, source, dryRun: true, offline: true });
  try {
    await runMigration({
      ...{ settings, halt, monitor: {}, redactor: new Redactor() },
      credentials: undefined,
      stateSuffix: '',
    });
    halt.assertNotRequested();
    const plan = join(state, 'dry-run', PLAN_FILE);
    return { entries, ...Database.ask(plan, PLAN, (db) => countsIn(db, live))! };
  } catch (error) {
    const fewer = error instanceof ProblemsError && withoutRefused(entries, error.problems, written);
    if (fewer) return attempt(folder, halt, fewer, write);
    if (!(error instanceof UserError)) throw error;
    if (!halt.reason) return failed(error);
    const { message, exitCode } = halt.reason;
    return failed(new UserError(`the mapping was not tried on all records: ${message}`, { exitCode }));
  }
}

/** A line that is refused is commented out, and an entry that is refused without it, too; undefined if a problem is neither. */
function withoutRefused(
  entries: readonly Entry[],
  problems: readonly Problem[],
  text: MappingText,
): readonly Entry[] | undefined {
  const found = problems.map(({ at, message }) => ({
    message,
    part: at?.line === undefined ? undefined : text.partAt(at.line),
  }));
  if (found.some(({ part }) => part === undefined)) return undefined;
  return entries.map((entry): Entry => {
    const own = found.filter(({ part }) => part!.entry === entry);
    const whole = own.find(({ part }) => part!.line === undefined);
    if (whole) return { ...entry, refused: whole.message };
    return withLines(entry, (line) => {
      const refusal = own.find(({ part }) => part!.line === line);
      return refusal ? { ...line, off: true, comment: `set this: the line has a mistake: ${refusal.message}` } : line;
    });
  });
}

/** The rows of all events. */
const TAKEN = `with taken as (
  select e.id event, e.entry, e.record, e.state from event e where e.rows = 1
  union all
  select e.id, w.entry, w.record, e.state from row_of w join event e on e.id = w.event where e.rows > 1)`;
const FAILED = `state in ('invalid', 'blocked')`;

function countsIn(db: Database, live: readonly Entry[]): Pick<TriedMapping, 'sources' | 'fates'> {
  const sources = db.all<SourceFate & { name: string }>(
    `${TAKEN} select s.name, s.records "read",
      (select count(distinct p.record) from problem p join record r on r.id = p.record join file f on f.id = r.file
        where f.source = s.id and p.kind = 'read' and p.event is null and p.severity = 'error') unreadable,
      (select count(distinct t.record) from taken t join record r on r.id = t.record join file f on f.id = r.file
        where f.source = s.id) taken,
      (select count(*) from skipped k join row r on r.id = k.record where r.source = s.name and k.code = 'footer') footers
    from source s`,
  );
  const fates = new Map<Entry, EntryFate>();
  for (const [at, entry] of live.entries()) {
    const counts = db.get<Omit<EntryFate, 'codes'>>(
      `${TAKEN} select count(distinct record) records, count(distinct event) events,
        count(distinct case when ${FAILED} then event end) failed from taken where entry = ?`,
      at,
    )!;
    const codes = db.all<{ code: string; n: number }>(
      `select p.code, count(distinct e.id) n from event e join problem p on p.event = e.id
        where e.entry = ? and e.${FAILED} and p.severity = 'error' group by 1 order by 2 desc limit 3`,
      at,
    );
    fates.set(entry, { ...counts, codes: codes.map(({ code, n }) => `${numberText(n)} ${code}`) });
  }
  return { sources: new Map(sources.map(({ name, ...fate }) => [name, fate])), fates };
}
