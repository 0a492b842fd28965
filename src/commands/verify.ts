import type { Console } from '../report/print/console.ts';
import type { ExitCode } from '../errors.ts';
import { parseOptions } from '../settings/parse-options.ts';
import { verificationFigures } from '../report/figures/verification.ts';
import { jsonOf } from '../report/print/json.ts';
import { showFigures } from '../report/print/terminal.ts';
import { namesById, type Account } from '../service/account.ts';
import { verifyMigration, type VerifyJob } from './verify/verify.ts';
import { SANDBOX_RATE, serviceOf } from './service.ts';
import { counted, numberText } from '../report/words/numbers.ts';
import type { Argv } from './command.ts';
import { verify as definition } from './definitions.ts';

/** `crm-backfill verify`: reads acknowledged records back and compares them with what the mapping sends. */
export async function handler(argv: Argv, console: Console): Promise<ExitCode> {
  const settings = parseOptions(definition, argv);
  const service = await serviceOf(settings, console);
  let account: Account | undefined;
  try {
    const found = await verifyMigration({
      settings: settings.sandbox ? { ...settings, rate: SANDBOX_RATE } : settings,
      credentials: service.credentials,
      stateSuffix: settings.sandbox ? '.sandbox' : '',
      connected: (read) => (account = read),
      trouble: (message) => console.complain(`warning: ${message}`),
      reading: (entity, records) => console.say(`reading back ${counted(records, entity)}`),
      progress: progressOn(console),
    });
    showFigures(console, verificationFigures(found, namesById(account)), settings);
    if (settings.json) console.printJson(jsonOf(found));
    return found.exit.code;
  } finally {
    await service.close();
  }
}

const SAY_EVERY_MS = 15_000;

/** Prints a line at intervals, because reading everything back may take hours. */
function progressOn(console: Console): NonNullable<VerifyJob['progress']> {
  let next = Date.now() + SAY_EVERY_MS;
  return (entity, done, records) => {
    if (Date.now() < next) return;
    next = Date.now() + SAY_EVERY_MS;
    console.say(`${numberText(done)} of ${counted(records, entity)}`);
  };
}
