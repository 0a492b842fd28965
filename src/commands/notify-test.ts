import type { Console } from '../console.ts';
import { readEnvironment } from '../credentials.ts';
import { EXIT, UserError, type ExitCode } from '../errors.ts';
import { hooksOf, secretsOf } from '../hook-url.ts';
import { loadMapping } from '../mapping/load.ts';
import { parseOptions } from '../options/option.ts';
import { callHook } from '../watch/hook.ts';
import { bodiesOf, sample } from '../watch/messages.ts';
import { NOTIFY_TEST } from './definitions.ts';
import type { Argv } from './load.ts';

/** `crm-backfill notify-test`: calls the URLs that a run would call, and says how each call ended. */
export async function notifyTest(argv: Argv, console: Console): Promise<ExitCode> {
  const settings = parseOptions(NOTIFY_TEST, argv);
  const { migration } = await loadMapping(settings.mapping, { sources: new Map() });
  const hooks = hooksOf(
    settings,
    readEnvironment(settings.envFile, (message) => console.complain(`warning: ${message}`)),
  );
  console.redactor.add(...secretsOf(hooks));
  if (!hooks.notify && !hooks.heartbeat) {
    throw new UserError('there is no URL to call', { hint: 'set BACKFILL_NOTIFY_URL or BACKFILL_HEARTBEAT_URL' });
  }
  const problems = [
    hooks.notify && { what: 'notification', problem: await callHook(hooks.notify, bodiesOf(sample(migration))) },
    hooks.heartbeat && { what: 'heartbeat', problem: await callHook(hooks.heartbeat) },
  ].filter((call) => call !== undefined);
  for (const { what, problem } of problems) console.say(`${what}: ${problem ?? 'accepted'}`);
  return problems.some(({ problem }) => problem !== undefined) ? EXIT.finishedWithErrors : EXIT.done;
}
