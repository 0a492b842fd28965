/** Tries a mapping as a dry run does: what is refused is commented out, and what becomes of each record is counted. */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf, UserError } from '../errors.ts';
import { Halt, haltOnSignals } from '../halt.ts';
import { ProblemsError, type Problem } from '../problem.ts';
import { Redactor } from '../redact.ts';
import { numberText } from '../report/words/numbers.ts';
import { runMigration } from '../run/run.ts';
import { runSettings } from '../settings/run-settings.ts';
import { PLAN, PLAN_FILE } from '../store/plan-schema.ts';
import { Database } from '../store/sqlite.ts';
import type { EntryDraft, MappingDraft } from './decide/draft.ts';
import type { WrittenMapping } from './lines/lines.ts';

/** What became of the records of a source. */
export interface SourceFate {
  readonly read: number;
  readonly unreadable: number;
  /** With an event, valid or not. */
  readonly taken: number;
  /** By their codes, the most frequent first: `12 when`, `1 footer`. */
  readonly skipped: readonly string[];
}

/** What an entry made of the records. */
interface EntryFate {
  readonly records: number;
  readonly events: number;
  /** Events that are invalid or blocked by their parents. */
  readonly failed: number;
  /** The codes of their problems, the most frequent first: `2 bad_date`. */
  readonly codes: readonly string[];
}

export interface TriedMapping {
  /** As given, except that what the program refuses is commented out. */
  readonly draft: MappingDraft;
  readonly sources: ReadonlyMap<string, SourceFate>;
  /** By the entries of `draft`. */
  readonly fates: ReadonlyMap<EntryDraft, EntryFate>;
  /** Why the exports could not be read to their ends with it. */
  readonly failure?: UserError | undefined;
}

/** How a draft is written, and the files that its sources read, by their names. */
export interface TrialInput {
  readonly write: (draft: MappingDraft) => WrittenMapping;
  readonly paths: (draft: MappingDraft) => ReadonlyMap<string, string>;
}

/** Nothing is sent, and nothing is left on the disk: the first signal ends the trial, the second the program. */
export async function tryMapping(draft: MappingDraft, input: TrialInput): Promise<TriedMapping> {
  if (draft.entries.length === 0) return { draft, sources: new Map(), fates: new Map() };
  const folder = await mkdtemp(join(tmpdir(), 'crm-backfill-init-')).catch((error: unknown) => {
    throw new UserError(`no temporary folder in ${tmpdir()}: ${messageOf(error)}`, {
      hint: 'set TMPDIR to a folder that can be written',
      cause: error,
    });
  });
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const halt = new Halt();
  const endListening = haltOnSignals(halt, (code) => process.exit(code));
  const guard = guardOf(folder);
  process.once('exit', remove);
  try {
    return await attempt(folder, halt, draft, input);
  } finally {
    endListening();
    process.off('exit', remove);
    remove();
    guard.kill();
  }
}

/** A process that removes the folder when this one ends, however it ends: then its input closes. */
function guardOf(folder: string) {
  const code = `process.stdin.resume().on('close', () => require('fs').rmSync(${JSON.stringify(folder)}, { recursive: true, force: true }))`;
  const guard = spawn(process.execPath, ['-e', code], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  guard.on('error', () => undefined).unref();
  guard.stdin.on('error', () => undefined);
  (guard.stdin as unknown as { unref?: () => void }).unref?.();
  return guard;
}

async function attempt(
  folder: string,
  halt: Halt,
  draft: MappingDraft,
  { write, paths }: TrialInput,
): Promise<TriedMapping> {
  const written = write(draft);
  const mapping = join(folder, 'mapping.yaml');
  await writeFile(mapping, written.text, { mode: 0o600 });
  const source = [...paths(draft)].map(([name, path]) => `${name}=${path}`);
  const state = join(folder, 'state');
  const settings = runSettings({ mapping, state, source, dryRun: true, offline: true });
  const live = draft.entries.filter(({ refused }) => refused === undefined);
  if (live.length === 0) return { draft, sources: new Map(), fates: new Map() };
  try {
    const own = { settings, halt, monitor: {}, redactor: new Redactor() };
    await runMigration({ ...own, credentials: undefined, stateSuffix: '' });
    halt.assertNotRequested();
    const plan = join(state, 'dry-run', PLAN_FILE);
    return { draft, ...Database.ask(plan, PLAN, (db) => countsIn(db, live))! };
  } catch (error) {
    const fewer = error instanceof ProblemsError && withoutRefused(draft, error.problems, written);
    if (fewer) return attempt(folder, halt, fewer, { write, paths });
    if (!(error instanceof UserError)) throw error;
    const { message, exitCode } = halt.reason ?? { message: '', exitCode: error.exitCode };
    const failure = halt.reason
      ? new UserError(`the mapping was not tried on all records: ${message}`, { exitCode })
      : error;
    return { draft, failure, sources: new Map(), fates: new Map() };
  }
}

/** A line that is refused is commented out, and an entry that is refused without it, too; undefined if a problem is neither. */
function withoutRefused(
  draft: MappingDraft,
  problems: readonly Problem[],
  text: WrittenMapping,
): MappingDraft | undefined {
  const found = problems.map(({ at, message }) => ({
    message,
    line: at?.line === undefined ? undefined : text.lineAt(at.line),
  }));
  if (found.some(({ line }) => line?.entry === undefined)) return undefined;
  const entries = draft.entries.map((entry): EntryDraft => {
    const own = found.filter(({ line }) => line!.entry === entry);
    const whole = own.find(({ line }) => line!.field === undefined);
    if (whole) return { ...entry, refused: whole.message };
    const fields = entry.fields.map((field) => {
      const refusal = own.find(({ line }) => line!.field === field);
      return refusal
        ? { ...field, off: true, doubt: 'set' as const, said: `the line has a mistake: ${refusal.message}` }
        : field;
    });
    return own.length > 0 ? { ...entry, fields } : entry;
  });
  return { ...draft, entries };
}

/** The rows of all events. */
const TAKEN = `with taken as (
  select e.id event, e.entry, e.record, e.state from event e where e.rows = 1
  union all
  select e.id, w.entry, w.record, e.state from row_of w join event e on e.id = w.event where e.rows > 1)`;
const FAILED = `state in ('invalid', 'blocked')`;

function countsIn(db: Database, live: readonly EntryDraft[]): Pick<TriedMapping, 'sources' | 'fates'> {
  const sources = db.all<Omit<SourceFate, 'skipped'> & { name: string }>(
    `${TAKEN} select s.name, s.records "read",
      (select count(distinct p.record) from problem p join row r on r.id = p.record
        where r.source = s.name and p.kind = 'read' and p.event is null and p.severity = 'error') unreadable,
      (select count(distinct t.record) from taken t join row r on r.id = t.record where r.source = s.name) taken
    from source s`,
  );
  const skipped = db.all<{ name: string; code: string; n: number }>(
    'select r.source name, k.code, count(*) n from skipped k join row r on r.id = k.record group by 1, 2 order by 3 desc',
  );
  const fates = new Map<EntryDraft, EntryFate>();
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
  const ofSource = (name: string): string[] =>
    skipped.flatMap((each) => (each.name === name ? [`${numberText(each.n)} ${each.code}`] : []));
  return { sources: new Map(sources.map(({ name, ...fate }) => [name, { ...fate, skipped: ofSource(name) }])), fates };
}
