import type { z } from 'zod';
import type { Console } from '../console.ts';
import type { ExitCode } from '../errors.ts';
import type { Account } from '../service/account.ts';
import { counted } from '../report/text.ts';
import {
  connection,
  flag,
  option,
  pairs,
  parseOptions,
  readEnvironment,
  restCredentials,
  type RestCredentials,
} from '../settings.ts';
import { verificationText } from '../verify/text.ts';
import { verifyMigration, type VerifyJob } from '../verify/verify.ts';
import { existingState, stateOptions } from './state.ts';

const DEFAULT_SAMPLE = 100;

const options = stateOptions.extend({
  ...connection.shape,
  source: pairs,
  sample: option('a whole number above 0, or `all`', (text): number | 'all' | undefined => {
    if (text === 'all') return text;
    return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
  }).default(DEFAULT_SAMPLE),
  json: flag,
});
type VerifySettings = z.infer<typeof options>;

/** `backfill verify`: reads what was acknowledged back and compares it with what the mapping sends. */
export async function verify(argv: Readonly<Record<string, unknown>>, console: Console): Promise<ExitCode> {
  const settings = parseOptions(options, argv);
  const service = await serviceOf(settings);
  const { apiKey, ingestToken, otherSecrets = [] } = service.credentials;
  console.redactor.add(apiKey, ingestToken, ...otherSecrets);
  let account: Account | undefined;
  try {
    const found = await verifyMigration({
      settings,
      credentials: service.credentials,
      stateSuffix: settings.sandbox ? '.sandbox' : '',
      connected: (read) => (account = read),
      trouble: (message) => console.complain(`warning: ${message}`),
      reading: (entity, records) => console.say(`reading ${counted(records, entity)} back`),
      progress: progressOn(console),
    });
    console.say(`\n${verificationText(found, account)}`);
    if (settings.json) console.print(JSON.stringify(found));
    return found.exit.code;
  } finally {
    await service.close();
  }
}

const SAY_EVERY_MS = 15_000;

/** A line every so often: reading everything back may take hours. */
function progressOn(console: Console): NonNullable<VerifyJob['progress']> {
  let next = Date.now() + SAY_EVERY_MS;
  return (entity, done, records) => {
    if (Date.now() < next) return;
    next = Date.now() + SAY_EVERY_MS;
    console.say(`${done.toLocaleString('en')} of ${counted(records, entity)}`);
  };
}

/** The service, or the sandbox with what the last rehearsal left in it. */
async function serviceOf(settings: VerifySettings): Promise<{ credentials: RestCredentials; close(): Promise<void> }> {
  if (!settings.sandbox) {
    const credentials = restCredentials(settings.baseUrl, readEnvironment(settings.envFile));
    return { credentials, close: async () => undefined };
  }
  await existingState(settings);
  const { startRehearsal } = await import('./rehearsal.ts');
  return startRehearsal(settings);
}
