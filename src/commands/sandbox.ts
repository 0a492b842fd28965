import { storedAccountOf } from '../run/connect.ts';
import type { Console } from '../report/print/console.ts';
import { PATHS } from '../contract.ts';
import { EXIT, UserError, type ExitCode } from '../errors.ts';
import { untilStopped } from '../halt.ts';
import { counted } from '../report/words/numbers.ts';
import { parseOptions } from '../settings/parse-options.ts';
import { startSandbox } from '../sandbox/index.ts';
import type { Account } from '../service/account.ts';
import { runOf } from '../settings/command-line.ts';
import { existingState } from './state.ts';
import type { Argv, CommandSettings } from './command.ts';
import { sandbox as definition } from './definitions.ts';
import { shortPath } from '../files/paths.ts';

/** `crm-backfill sandbox`: runs until a signal stops it. Its secrets protect nothing, so they are shown. */
export async function handler(argv: Argv, console: Console): Promise<ExitCode> {
  const settings = parseOptions(definition, argv);
  const account = await accountFor(settings);
  const running = await startSandbox({
    port: settings.port,
    rate: settings.rate,
    ...(account ? { account } : {}),
  });
  console.print(`BACKFILL_API_KEY=${running.apiKey.reveal()}`);
  console.print(`BACKFILL_INGEST_URL=${running.baseUrl}${PATHS.ingest}/${running.ingestToken.reveal()}`);
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
}: CommandSettings<typeof definition>): Promise<Account | undefined> {
  if (mapping === undefined && path === undefined) return undefined;
  const state = await existingState({ mapping: mapping ?? '', state: path, sandbox: undefined });
  const stored = storedAccountOf(state);
  if (stored) return { pipelines: stored.pipelines, users: stored.users };
  throw new UserError(`no account is stored in ${shortPath(state.path)}`, {
    hint: `a dry run with access to the service stores it: ${mapping === undefined ? 'run MAPPING --dry-run' : runOf({ mapping, state: path, sandbox: false }, '--dry-run')}`,
  });
}
