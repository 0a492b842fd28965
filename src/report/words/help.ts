/** What `help exit-codes` and `help environment` say, and the README with it. Pure. */
import { EXIT } from '../../errors.ts';

const MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  done:
    'every selected event is acknowledged, or a duplicate of one that is; for a dry run, no problems were found (warnings do ' +
    'not count)',
  finishedWithErrors:
    'finished, but some records were unreadable, some events were not accepted or wait for parents that were not selected, ' +
    'or acknowledged ones have changed or can no longer be mapped; for a dry run, problems were found',
  nothingSent:
    'stopped before the first event: invalid usage, mapping, input, plan, state, credentials or base URL. Nothing was sent',
  stopped:
    'stopped before the end (credentials refused, too many errors, an outage too long, `--until`), or ' +
    'another run uses the state directory. Rerun to resume',
  hungUp: 'SIGHUP: the terminal was closed, or the connection dropped. Handled like 130',
  interrupted: 'interrupted by Ctrl-C (SIGINT): requests in flight were completed and recorded. Rerun to resume',
  terminated: 'interrupted by SIGTERM. Handled like 130',
};

/** In ascending order. */
export const EXIT_CODES: readonly (readonly [code: number, meaning: string])[] = (
  Object.keys(EXIT) as (keyof typeof EXIT)[]
).map((name) => [EXIT[name], MEANINGS[name]]);

/** Variables that are read from the environment or, where they are ours, from a `.env` file. */
export const ENVIRONMENT: readonly (readonly [name: string, what: string])[] = [
  ['BACKFILL_INGEST_URL', 'the ingestion URL as the dashboard copies it: base URL and token in one'],
  ['BACKFILL_API_KEY', 'the API key, from the developer section of the dashboard'],
  ['BACKFILL_BASE_URL', 'the base URL, if BACKFILL_INGEST_URL is not set'],
  ['BACKFILL_INGEST_TOKEN', 'the ingestion token, if BACKFILL_INGEST_URL is not set'],
  ['HTTPS_PROXY, HTTP_PROXY, NO_PROXY', 'proxies (names in upper or lower case); never used for this machine'],
  ['NO_COLOR, FORCE_COLOR', 'no colours, or always'],
];
