import { join } from 'node:path';
import type { Credentials } from '../credentials.ts';
import { loadMapping } from '../mapping/load.ts';
import { storedAccountOf } from '../connect.ts';
import { startSandbox } from '../sandbox/index.ts';
import type { RunSettings } from '../settings.ts';
import { StateDir, statePath } from '../state-dir.ts';
import { mostRequests } from '../timetable.ts';

/**
 * Starts the embedded sandbox for `--sandbox`, with the account that an earlier run of this mapping stored, if any, and the
 * records of the last rehearsal, which are kept next to its checkpoint. The sandbox enforces the highest rate of the run.
 */
export async function startRehearsal(
  settings: Pick<RunSettings, 'mapping' | 'state' | 'rate'>,
): Promise<{ credentials: Credentials; close(): Promise<void> }> {
  const mapping = await loadMapping(settings.mapping, { sources: new Map() });
  const state = await StateDir.create(statePath(settings, mapping, '.sandbox'));
  const real = await StateDir.existing(statePath({ mapping: settings.mapping }, mapping, '')).catch(() => undefined);
  const stored = real && (await storedAccountOf(real));
  const sandbox = await startSandbox({
    ...(stored ? { account: { pipelines: stored.pipelines, users: stored.users } } : {}),
    rate: { requests: mostRequests(settings.rate), seconds: settings.rate.seconds },
    journal: join(state.path, 'sandbox.ndjson'),
  });
  const { baseUrl, apiKey, ingestToken } = sandbox;
  return { credentials: { baseUrl, boundTo: 'sandbox', apiKey, ingestToken }, close: () => sandbox.close() };
}
