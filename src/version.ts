import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  name: string;
  version: string;
};

/** The name of the program, in messages and in commands to copy. */
export const PROGRAM = manifest.name;

export const VERSION = manifest.version;

/** Name and version, for the User-Agent header and the checkpoint. */
export const TOOL = `${PROGRAM}/${VERSION}`;
