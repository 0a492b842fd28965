import type { ExitCode } from '../errors.ts';
import { verificationFigures } from '../report/figures/verification.ts';
import type { Console } from '../report/print/console.ts';
import { jsonOf } from '../report/print/json.ts';
import { showFigures } from '../report/print/terminal.ts';
import { counted, numberText } from '../report/words/numbers.ts';
import { namesById } from '../service/account.ts';
import { parseOptions } from '../settings/parse-options.ts';
import type { Argv } from './command.ts';
import { verify as definition } from './definitions.ts';
import { SANDBOX_RATE, serviceOf } from './service.ts';
import { verifyMigration } from './verify/verify.ts';

/** Reading everything back may take hours. */
const SAY_EVERY_MS = 15_000;

/** `crm-backfill verify`: reads acknowledged records back and compares them with what the mapping sends. */
export async function handler(argv: Argv, console: Console): Promise<ExitCode> {
  const settings = parseOptions(definition, argv);
  const service = await serviceOf(settings, console);
  let next = Date.now() + SAY_EVERY_MS;
  try {
    const { account, ...found } = await verifyMigration({
      settings: settings.sandbox ? { ...settings, rate: SANDBOX_RATE } : settings,
      credentials: service.credentials,
      stateSuffix: settings.sandbox ? '.sandbox' : '',
      trouble: (message) => console.complain(`warning: ${message}`),
      progress: (entity, done, records) => {
        if (Date.now() < next) return;
        next = Date.now() + SAY_EVERY_MS;
        console.say(`${numberText(done)} of ${counted(records, entity)} read back`);
      },
    });
    showFigures(console, verificationFigures(found, namesById(account)), settings);
    if (settings.json) console.printJson(jsonOf(found));
    return found.exit.code;
  } finally {
    await service.close();
  }
}
