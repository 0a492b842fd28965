import { readFileSync, statSync } from 'node:fs';
import { codeOf, messageOf, UserError } from '../errors.ts';

/** Variables by name. */
export interface Environment {
  readonly [name: string]: string | undefined;
}

/**
 * The variables of an env file, in UTF-8 or UTF-16 (as PowerShell writes it). Throws a `UserError` if it cannot be read, or with
 * the number of a line that is not understood; never with its content, which may be a secret.
 */
export function readEnvFile(path: string): Environment {
  let bytes: Buffer;
  try {
    if (!statSync(path).isFile()) throw new UserError(`${path} is not a regular file`, { hint: HINT });
    bytes = readFileSync(path);
  } catch (error) {
    if (error instanceof UserError) throw error;
    if (codeOf(error) === 'ENOENT') throw new UserError(`${path} does not exist`, { hint: HINT, cause: error });
    throw new UserError(`cannot read ${path}: ${messageOf(error)}`, { cause: error });
  }
  return parseEnvFile(path, decoded(path, bytes));
}

const HINT = 'name a file with one NAME=VALUE a line: --credentials FILE';

function decoded(path: string, bytes: Buffer): string {
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8';
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (error) {
    throw new UserError(`${path} is not ${encoding.toUpperCase()} text`, {
      hint: 'save it again as UTF-8',
      cause: error,
    });
  }
}

/** Blank lines and comments. */
const NOTHING = /[ \t]*(?:#.*)?(?:\r\n|\r|\n|$)/y;

/** `NAME=VALUE`; a quoted value may have several lines, and a comment follows white space. */
const VARIABLE =
  /[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.]*)[ \t]*=[ \t]*(?:"([^"]*)"|'([^']*)'|`([^`]*)`|((?:(?!["'`#])\S(?:.*?\S)??)?))[ \t]*(?:[ \t]#.*)?(?:\r\n|\r|\n|$)/y;

function parseEnvFile(path: string, text: string): Environment {
  const variables: Record<string, string> = {};
  for (let at = 0; at < text.length;) {
    NOTHING.lastIndex = VARIABLE.lastIndex = at;
    if (NOTHING.test(text)) {
      at = NOTHING.lastIndex;
      continue;
    }
    const match = VARIABLE.exec(text);
    if (!match) {
      const line = text.slice(0, at).split(/\r\n|\r|\n/).length;
      throw new UserError(`${path}:${line}: expected NAME=VALUE`, {
        hint: 'the line is not shown, because it may contain a secret; quote a value that contains quotes, and close every quote',
      });
    }
    const [, name = '', doubleQuoted, singleQuoted, backQuoted, plain = ''] = match;
    variables[name] = doubleQuoted?.replaceAll('\\n', '\n') ?? singleQuoted ?? backQuoted ?? plain;
    at = VARIABLE.lastIndex;
  }
  return variables;
}
