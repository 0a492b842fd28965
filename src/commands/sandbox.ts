import { storedAccountOf } from '../connect.ts';
import type { Console } from '../terminal/console.ts';
import { EXIT, UserError, type ExitCode } from '../errors.ts';
import { untilStopped } from '../halt.ts';
import { counted } from '../terminal/numbers.ts';
import { parseOptions } from '../options/option.ts';
import { startSandbox } from '../sandbox/index.ts';
import type { Account } from '../service/account.ts';
import { PROGRAM } from '../version.ts';
import { SANDBOX, type CommandSettings } from './definitions.ts';
import type { Argv } from './load.ts';
import { existingState } from './state.ts';

/** `crm-backfill sandbox`: runs until a signal stops it. Its secrets protect nothing, so they are shown. */
export async function sandbox(argv: Argv, console: Console): Promise<ExitCode> {
  const settings = parseOptions(SANDBOX, argv);
  const account = await accountFor(settings);
  const running = await startSandbox({
    port: settings.port,
    rate: settings.rate,
    ...(account ? { account } : {}),
    ...(settings.journal === undefined ? {} : { journal: settings.journal }),
  });
  console.print(`BACKFILL_BASE_URL=${running.baseUrl}`);
  console.print(`BACKFILL_API_KEY=${running.apiKey.reveal()}`);
  console.print(`BACKFILL_INGEST_TOKEN=${running.ingestToken.reveal()}`);
  console.say(
    `sandbox started, limited to ${settings.rate.requests} requests per ${settings.rate.seconds} s; press Ctrl-C to stop it`,
  );
  await untilStopped();
  console.say(`${counted(running.triggersFired, 'automation')} fired`);
  await running.close();
  return EXIT.done;
}

/** The account that a migration read. Throws a `UserError` if it has not been surveyed with access to the service. */
async function accountFor({
  account: mapping,
  state: path,
}: CommandSettings<typeof SANDBOX>): Promise<Account | undefined> {
  if (mapping === undefined && path === undefined) return undefined;
  const state = await existingState({ mapping: mapping ?? '', state: path, sandbox: false });
  const stored = storedAccountOf(state);
  if (stored) return { pipelines: stored.pipelines, users: stored.users };
  throw new UserError(`no account is stored in ${state.path}`, {
    hint: `run \`${PROGRAM} run MAPPING --dry-run\` with access to the service first`,
  });
}
