import { CHECKED, COMBINED, ENTITIES, kindOf } from '../kinds/index.ts';
import type { Console } from '../report/print/console.ts';
import { EXIT, UserError, type ExitCode } from '../errors.ts';
import { explanationFigures, type LiveRecord } from '../report/figures/explanation.ts';
import { storyOf, type RecordStory, type RowsAt } from '../report/figures/story.ts';
import { screenOf } from '../report/print/terminal.ts';
import { canonicalJson, type JsonObject } from '../json.ts';
import { lockHolder } from '../store/lock.ts';
import { runOf } from '../settings/command-line.ts';
import { parseOptions } from '../settings/parse-options.ts';
import { namesById } from '../service/account.ts';
import { readDocument } from '../report/files/documents.ts';
import { NotShown } from '../service/lists.ts';
import { DEFAULT_RATE, type AskedRecord, type NamedRecord } from '../settings/run-settings.ts';
import type { StateDir } from '../files/state-dir.ts';
import { connect, type Target } from '../run/connect.ts';
import { assertBound, bindingOf } from '../store/checkpoint.ts';
import { meant } from '../problem.ts';
import { carrierOf } from '../plan/rows/combine.ts';
import { storedPlans } from '../store/stored-plans.ts';
import { readState } from '../store/open.ts';
import type { Database } from '../store/sqlite.ts';
import { readLive, RecordComparison } from './compare.ts';
import { SANDBOX_RATE, serviceOf } from './service.ts';
import { existingState } from './state.ts';
import type { Argv, CommandSettings } from './command.ts';
import { explain as definition } from './definitions.ts';
import { shortPath } from '../files/paths.ts';

/** `crm-backfill explain`: the story of one record, read from the state directory without taking the lock. */
export async function handler(argv: Argv, console: Console): Promise<ExitCode> {
  const settings = parseOptions(definition, argv);
  const state = await existingState(settings);
  const [plan] = storedPlans(state);
  if (!plan) {
    throw new UserError(`there is no plan in ${shortPath(state.path)}, so nothing is known about single records`, {
      hint: `create one, which sends nothing: ${runOf(settings, '--dry-run')}`,
    });
  }
  const db = readState(state, plan.output);
  try {
    const record = findRecord(db, settings.record);
    const story = storyOf(db, plan, record);
    const print = (live?: LiveRecord | string): void => {
      if (settings.json) return console.printJson(canonicalJson({ ...story, live } as unknown as JsonObject));
      const names = namesById(readDocument(db, 'account'));
      console.show(screenOf(explanationFigures({ story, live, names, now: new Date() }), console.shownColumns));
    };
    try {
      print(settings.live ? await liveOf(settings, { state, db, record, story }, console) : undefined);
    } catch (error) {
      // The story is known without the service.
      if (error instanceof UserError) print(error.message);
      throw error;
    }
    return EXIT.done;
  } finally {
    db.close();
  }
}

interface AskedStory {
  readonly state: StateDir;
  readonly db: Database;
  readonly record: NamedRecord | RowsAt;
  readonly story: RecordStory;
}

const WITHOUT_ID = 'nothing about it is acknowledged with an id of the service';

/** Why the record cannot be read back, or what the service shows. Throws a `UserError` if the service cannot be used. */
async function liveOf(
  settings: CommandSettings<typeof definition>,
  { state, db, record, story }: AskedStory,
  console: Console,
): Promise<LiveRecord | string> {
  if ('place' in record) return WITHOUT_ID;
  const { entity, externalId } = record;
  if (!CHECKED.includes(entity)) return `the service does not show ${kindOf(entity).words[1]} by id`;
  if (story.service_id === null) return WITHOUT_ID;
  // Its journal has one writer.
  if (settings.sandbox && lockHolder(state)) {
    throw new UserError('a rehearsal is in progress: its sandbox cannot be read', { hint: 'wait until it ends' });
  }
  const pace = { rate: settings.sandbox ? SANDBOX_RATE : DEFAULT_RATE, concurrency: 1, timeout: settings.timeout };
  const service = await serviceOf(settings, console);
  let target: Target | undefined;
  try {
    target = await connect(pace, service.credentials, { state, isBeside: true });
    const { client, account } = target;
    assertBound(db, bindingOf(db)?.name ?? '', target);
    const comparison = new RecordComparison(db, account, readDocument(db, 'mapping')?.region ?? undefined);
    return await readLive(comparison, client, entity, { externalId, serviceId: story.service_id });
  } catch (error) {
    if (kindOf(entity).isRouteUncertain && error instanceof NotShown) return error.message;
    throw error;
  } finally {
    await target?.close();
    await service.close();
  }
}

/**
 * The record with this id, or if there is none, that of this place (`contacts.csv:5`); of a comment that went with others, the combined one.
 * Throws a `UserError` if neither the plan nor the checkpoint has it, or if several are meant.
 */
export function findRecord(db: Database, asked: AskedRecord): NamedRecord | RowsAt {
  const { entity: only, externalId: id } = asked;
  const named = (entity: string): NamedRecord[] =>
    db.all<NamedRecord>(
      `select entity, external_id as externalId from event where entity = ?1 and external_id = ?2
       union select entity, external_id from checkpoint.record where entity = ?1 and external_id = ?2
       union select entity, external_id from unused where entity = ?1 and external_id = ?2`,
      entity,
      (entity === COMBINED ? carrierOf(db, id) : undefined) ?? id,
    );
  const exact = (only === undefined ? ENTITIES : [only]).flatMap(named);
  const rows = only === undefined && exact.length === 0 ? rowsAt(db, id) : [];
  const found = rows.length > 0 ? recordsOf(db, rows) : exact;
  const [first = rows.length > 0 ? { place: id, rows } : undefined, ...others] = found;
  if (!first) {
    const name = only === undefined ? id : `${only}:${id}`;
    throw new UserError(`there is no record \`${name}\` in the plan or the checkpoint`, {
      hint: 'ids are compared exactly; a row is found by its place, such as `contacts.csv:5`; `plan --json` lists all records',
    });
  }
  if (others.length === 0) return first;
  const names = found.slice(0, 3).map((each) => `${each.entity}:${each.externalId}`);
  throw new UserError(`several records are meant by ${id}`, { hint: meant(names)! });
}

/** The forms in which a row is named: `contacts.csv:5`, `contacts.csv:5:12`, `crm.xlsx#Deals!C17`, `crm.json record 3`. */
const PLACE = /^(?:\.\/)*(?<file>.*?)(?::(?<line>\d+)(?::\d+)?|![a-z]{1,3}(?<cell>\d+)| record (?<record>\d+))$/is;

/** The rows that begin there, and those that were read in place of one. Messages name a file from the directory of the run, people from theirs. */
function rowsAt(db: Database, text: string): number[] {
  const { file, line, cell, record } = PLACE.exec(text)?.groups ?? {};
  if (file === undefined) return [];
  const isFile = `(f.path = ?1 or f.path like '%/' || ?1 or ?1 like '%/' || f.path or (?1 like '#%' and f.path like '%' || ?1))`;
  return db
    .all<{ id: number }>(
      `select r.id from record r join file f on f.id = r.file where (r.line = ?2 or r.number = ?3) and ${isFile}
       union select p.record from replaced p join file f on f.id = p.file where p.line = ?2 and ${isFile}`,
      file,
      line ?? cell ?? null,
      record ?? null,
    )
    .map(({ id }) => id);
}

function recordsOf(db: Database, rows: readonly number[]): NamedRecord[] {
  return db.all<NamedRecord>(
    `with row as (select value as id from json_each(?))
    select e.entity, e.external_id as externalId from event e
    where e.external_id is not null
      and (e.record in (select id from row) or e.id in (select event from row_of where record in (select id from row)))
    group by 1, 2 order by min(e.id)`,
    JSON.stringify(rows),
  );
}
