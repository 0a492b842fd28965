import { assertBound } from '../checkpoint/binding.ts';
import { CHECKPOINT_FILE } from '../checkpoint/lines.ts';
import { readHeader } from '../checkpoint/read.ts';
import { storedAccountOf } from '../connect.ts';
import type { Console } from '../console.ts';
import { EXIT, UserError, type ExitCode } from '../errors.ts';
import { similarRecords } from '../explain/similar.ts';
import { storyOf, type Told } from '../explain/story.ts';
import { storyText } from '../explain/text.ts';
import { canonicalJson, type JsonObject } from '../json.ts';
import { lockHolder } from '../lock.ts';
import { parseOptions } from '../options/option.ts';
import { storedPlans } from '../plan/plan-file.ts';
import { meant } from '../problem.ts';
import { namesById } from '../service/account.ts';
import { readAccount } from '../service/directory.ts';
import { DEFAULT_RATE, type NamedRecord } from '../settings.ts';
import type { StateDir } from '../state-dir.ts';
import { readLive, type LiveRecord } from '../verify/record.ts';
import { liveText } from '../verify/text.ts';
import { EXPLAIN, type CommandSettings } from './definitions.ts';
import type { Argv } from './load.ts';
import { openClient, serviceOf } from './service.ts';
import { existingState } from './state.ts';

type ExplainSettings = CommandSettings<typeof EXPLAIN>;

/** `backfill explain`: the story of one record, read from the state directory without taking the lock. */
export async function explain(argv: Argv, console: Console): Promise<ExitCode> {
  const settings = parseOptions(EXPLAIN, argv);
  const state = await existingState(settings);
  const [plan] = await storedPlans(state);
  if (plan === undefined) {
    throw new UserError(`there is no plan in ${state.path}, so nothing is known about single records`, {
      hint: 'create one with `backfill run MAPPING --dry-run`: it sends nothing',
    });
  }
  const told = await storyOf(state, plan, settings.record);
  if (!told) throw await unknownRecord(plan, settings.record);
  const live = settings.live ? await liveOf(settings, state, told, console) : undefined;
  if (settings.json) {
    console.printJson(
      canonicalJson({ ...told.story, ...(live === undefined ? {} : { live }) } as unknown as JsonObject),
    );
    return EXIT.done;
  }
  const account = await storedAccountOf(state);
  const columns = process.stdout.columns ?? 80;
  const text = storyText(told.story, namesById(account), new Date(), columns);
  console.print(live === undefined ? text : `${text}\n\n${liveText(live, account, columns)}`);
  return EXIT.done;
}

async function unknownRecord(plan: string, record: NamedRecord): Promise<UserError> {
  const { entity, externalId } = record;
  const { sameId, near } = await similarRecords(plan, record);
  const hints = [
    ...sameId.map((other) => `there is a ${other}`),
    meant(near) ?? '',
    entity === 'comment'
      ? 'a comment without an external_id is listed with its parent: explain that lead or deal'
      : 'records that `when` skips, or that cannot be read, have no events',
  ];
  return new UserError(`there is no ${entity}:${externalId} in ${plan}`, {
    hint: hints.filter((hint) => hint !== '').join('\n'),
  });
}

/** Why the record cannot be read back, or what the service shows. Throws a `UserError` if the service cannot be used. */
async function liveOf(
  settings: ExplainSettings,
  state: StateDir,
  { story, planned }: Told,
  console: Console,
): Promise<LiveRecord | string> {
  const { entity, externalId } = settings.record;
  if (entity === 'comment') return 'the service does not show comments by id';
  if (story.service_id === null) return 'nothing about it is acknowledged with an id of the service';
  // Its journal has one writer.
  if (settings.sandbox && (await lockHolder(state))) {
    throw new UserError('a rehearsal is in progress: its sandbox cannot be read', { hint: 'wait until it ends' });
  }
  const service = await serviceOf({ ...settings, rate: DEFAULT_RATE }, console);
  const client = await openClient(service.credentials, settings, console);
  try {
    const account = await readAccount(client);
    const { baseUrl, boundTo = baseUrl } = service.credentials;
    const path = state.file(CHECKPOINT_FILE);
    const header = await readHeader(path);
    assertBound({ header, wholeBytes: 1 }, path, header?.migration ?? '', { baseUrl: boundTo, account });
    const live = await readLive(state, { client, account }, entity, externalId, planned);
    return live ?? 'nothing about it is acknowledged with an id of the service';
  } finally {
    await client.close();
    await service.close();
  }
}
