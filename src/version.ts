import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };

export const VERSION = manifest.version;

/** Name and version, for the User-Agent header and the checkpoint. */
export const TOOL = `crm-backfill/${VERSION}`;

/** Its name, in commands that a user can run. */
export const PROGRAM = 'crm-backfill';
