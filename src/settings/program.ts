/** How this program is called, as it works where it was started. */
import { basename, dirname } from 'node:path';
import { PROGRAM } from '../version.ts';

/** A command of this program, quoted for a shell. */
export function commandOf(argv: readonly string[], ...words: readonly string[]): string {
  return [programOf(argv), ...words.map(quoted)].join(' ');
}

/** What a shell finds: a checkout and a local installation only through npx. */
function programOf([, path = PROGRAM]: readonly string[]): string {
  const isLocal = /^cli\.(?:js|ts)$/.test(basename(path)) || basename(dirname(path)) === '.bin';
  return isLocal ? `npx ${PROGRAM}` : PROGRAM;
}

/** Quoted for a shell. Characters that a terminal does not show as they are could not be copied, so they are escaped. */
function quoted(arg: string): string {
  if (/^[\w@%+=:,./-]+$/.test(arg)) return arg;
  if (!/[\p{C}\p{Zl}\p{Zp}]/u.test(arg)) return `'${arg.replaceAll("'", `'\\''`)}'`;
  const escaped = arg.replace(/['\\]/g, '\\$&').replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => {
    return [...Buffer.from(character)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
  });
  return `$'${escaped}'`;
}
