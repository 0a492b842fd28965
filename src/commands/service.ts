/** How commands that only read reach the service. */
import type { Console } from '../report/print/console.ts';
import { readEnvironment, restCredentials, type RestCredentials } from '../settings/credentials.ts';
import { DEFAULT_RATE, type RunSettings } from '../settings/run-settings.ts';
import type { Rate } from '../rate.ts';
import { existingState } from './state.ts';

type ServiceSettings = Pick<RunSettings, 'mapping' | 'state' | 'sandbox' | 'baseUrl' | 'credentials'>;

/** For commands that read a sandbox: nobody else uses it, so they need not wait for a window to end. */
export const SANDBOX_RATE: Rate = { ...DEFAULT_RATE, requests: 10_000, seconds: 1 };

/** The service, or the sandbox with the records of the last rehearsal. */
export async function serviceOf(
  settings: ServiceSettings,
  console: Console,
): Promise<{ credentials: RestCredentials; close(): Promise<void> }> {
  await existingState(settings);
  if (!settings.sandbox) return { credentials: credentialsOf(settings, console), close: async () => undefined };
  const { startRehearsal } = await import('./rehearsal.ts');
  return startRehearsal({ ...settings, rate: SANDBOX_RATE }, console.redactor);
}

/** From the options, the environment and the `.env` file. */
function credentialsOf(settings: Pick<RunSettings, 'baseUrl' | 'credentials'>, console: Console): RestCredentials {
  const environment = readEnvironment(settings.credentials, (message) => console.complain(`warning: ${message}`));
  const credentials = restCredentials(settings.baseUrl, environment);
  console.redactor.add(credentials.apiKey, credentials.ingestToken);
  return credentials;
}
