/** Names of migrations and sources, which become names of files and directories and keys of reports on any system. */

/** The pattern for editors. The program refuses reserved names, too. */
export const NAME_PATTERN = /^[\p{L}\p{N}_](?:[\p{L}\p{N}\p{M} ._-]*[\p{L}\p{N}\p{M}_-])?$/u;

/** Invisible characters count as letters or marks in some scripts. */
const FOREIGN = /[^\p{L}\p{N}\p{M} ._-]|\p{Default_Ignorable_Code_Point}/u;

const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** File names that Windows gives to devices, whatever their extension. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3]) *(?:\.|$)/i;

/** File systems allow 255, and files add to the name. */
const MOST_BYTES = 200;
const MOST_CHARACTERS = 100;

/** Why a name cannot be used, with a hint after a line break; undefined if it can. */
export function nameError(name: string): string | undefined {
  const reason = reasonAgainst(name);
  if (reason === undefined) return undefined;
  return (
    `\`${name.replace(INVISIBLE, codePoint)}\` cannot be used as a name: ${reason}\n` +
    'use letters, digits, spaces, `-`, `_` and `.`, beginning with a letter or digit: it becomes the name of files'
  );
}

function reasonAgainst(name: string): string | undefined {
  const foreign = FOREIGN.exec(name)?.[0];
  if (foreign !== undefined)
    return `it contains ${/^[\x21-\x7e]$/.test(foreign) ? `\`${foreign}\`` : codePoint(foreign)}`;
  if (name in {} || name === 'prototype') return 'it is reserved';
  if (DEVICE.test(name)) return 'Windows reserves it for a device';
  if (name.length > MOST_CHARACTERS || Buffer.byteLength(name) > MOST_BYTES) return 'it is too long';
  if (/[. ]$/.test(name)) return 'it ends with a dot or a space';
  return NAME_PATTERN.test(name) ? undefined : 'it does not begin with a letter or digit';
}

function codePoint(character: string): string {
  return `[U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`;
}

/** Equal for names that are the same file on a file system that ignores case or Unicode form. */
export function foldedName(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}
