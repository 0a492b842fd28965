import { CHECKED, kindOf } from '../kinds/index.ts';
import type { Console } from '../report/print/console.ts';
import { EXIT, UserError, type ExitCode } from '../errors.ts';
import { findRecord } from './explain/find.ts';
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
import { DEFAULT_RATE, type NamedRecord } from '../settings/run-settings.ts';
import type { StateDir } from '../files/state-dir.ts';
import { connect, type Target } from '../run/connect.ts';
import { assertBound, bindingOf } from '../store/checkpoint.ts';
import { storedPlans } from '../store/stored-plans.ts';
import { readState } from '../store/open.ts';
import type { Database } from '../store/sqlite.ts';
import { readLive, RecordComparison } from './verify/compare.ts';
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
