import type { Console } from '../terminal/console.ts';
import { EXIT, UserError, type ExitCode } from '../errors.ts';
import { findRecord } from '../explain/find.ts';
import { storyOf, type RecordStory } from '../explain/story.ts';
import { storyText } from '../explain/text.ts';
import { canonicalJson, type JsonObject } from '../json.ts';
import { lockHolder } from '../store/lock.ts';
import { parseOptions } from '../options/option.ts';
import { namesById } from '../service/account.ts';
import { readAccount } from '../service/directory.ts';
import { DEFAULT_RATE, type NamedRecord } from '../settings.ts';
import type { StateDir } from '../files/state-dir.ts';
import { assertBound, bindingOf } from '../store/checkpoint.ts';
import { storedPlans } from '../store/stored-plans.ts';
import { readState } from '../store/open.ts';
import type { Database } from '../store/sqlite.ts';
import { readLive, type LiveRecord } from '../verify/record.ts';
import { liveText } from '../verify/text.ts';
import { EXPLAIN, type CommandSettings } from './definitions.ts';
import type { Argv } from './load.ts';
import { openClient, serviceOf } from './service.ts';
import { accountIn, existingState } from './state.ts';

type ExplainSettings = CommandSettings<typeof EXPLAIN>;

/** `crm-backfill explain`: the story of one record, read from the state directory without taking the lock. */
export async function explain(argv: Argv, console: Console): Promise<ExitCode> {
  const settings = parseOptions(EXPLAIN, argv);
  const state = await existingState(settings);
  const [plan] = storedPlans(state);
  if (!plan) {
    throw new UserError(`there is no plan in ${state.path}, so nothing is known about single records`, {
      hint: 'create one with `crm-backfill run MAPPING --dry-run`: it sends nothing',
    });
  }
  const db = readState(state, plan.output);
  try {
    const record = findRecord(db, settings.record);
    const story = storyOf(db, plan, record);
    const live = settings.live ? await liveOf(settings, state, db, record, story, console) : undefined;
    if (settings.json) {
      console.printJson(canonicalJson({ ...story, ...(live === undefined ? {} : { live }) } as unknown as JsonObject));
      return EXIT.done;
    }
    const account = accountIn(db);
    const columns = console.shownColumns;
    const text = storyText(story, namesById(account), new Date(), columns);
    console.print(live === undefined ? text : `${text}\n\n${liveText(live, account, columns)}`);
    return EXIT.done;
  } finally {
    db.close();
  }
}

const WITHOUT_ID = 'nothing about it is acknowledged with an id of the service';

/** Why the record cannot be read back, or what the service shows. Throws a `UserError` if the service cannot be used. */
async function liveOf(
  settings: ExplainSettings,
  state: StateDir,
  db: Database,
  { entity, externalId }: NamedRecord,
  story: RecordStory,
  console: Console,
): Promise<LiveRecord | string> {
  if (entity === 'comment') return 'the service does not show comments by id';
  if (story.service_id === null) return WITHOUT_ID;
  // Its journal has one writer.
  if (settings.sandbox && lockHolder(state)) {
    throw new UserError('a rehearsal is in progress: its sandbox cannot be read', { hint: 'wait until it ends' });
  }
  const service = await serviceOf({ ...settings, rate: DEFAULT_RATE }, console);
  const client = await openClient(service.credentials, settings, console);
  try {
    const account = await readAccount(client);
    const { baseUrl, boundTo = baseUrl } = service.credentials;
    assertBound(db, bindingOf(db)?.name ?? '', { baseUrl: boundTo, account });
    return (await readLive(db, { client, account }, entity, externalId)) ?? WITHOUT_ID;
  } finally {
    await client.close();
    await service.close();
  }
}
