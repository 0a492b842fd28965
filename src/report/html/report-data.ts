import type { StateDir } from '../../state-dir.ts';
import { StandingReader, type Standing } from '../standing.ts';
import { collectErrors, collectOmitted, type Errors, type Omitted } from './collect.ts';

/** Everything the page is made of. */
export interface Findings {
  readonly standing: Standing;
  readonly errors: Errors;
  readonly omitted: Omitted;
  readonly withValues: boolean;
  readonly writtenAt: Date;
}

/** Reads a state directory; nothing else is needed. */
export async function findingsOf(state: StateDir, options: { withValues: boolean }): Promise<Findings> {
  const [standing, errors, omitted] = await Promise.all([
    new StandingReader(state).look(),
    collectErrors(state.file('errors.ndjson')),
    collectOmitted(state.file('omitted.csv')),
  ]);
  return { standing, errors, omitted, withValues: options.withValues, writtenAt: new Date() };
}
