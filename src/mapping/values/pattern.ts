import { RE2JS, RE2JSException } from 're2js';

/**
 * Compiles a regular expression of a mapping. It finds a match in time linear in the text, whatever the pattern, so that no record can
 * hang the run. Replacing many matches looks for each of them anew. RE2 syntax (https://github.com/google/re2/wiki/Syntax). Throws where `patternError` says why.
 */
export function compilePattern(source: string, flags?: number): RE2JS {
  return RE2JS.compile(source, flags);
}

/** Why a pattern cannot be compiled, with a hint after a line break; undefined if it can. */
export function patternError(source: string): string | undefined {
  try {
    compilePattern(source);
    return undefined;
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    const reason = error.message.replace(/^error parsing regexp: /, '');
    return `invalid regular expression: ${reason}\n${HINT}`;
  }
}

const HINT =
  'regular expressions have RE2 syntax: no lookahead, lookbehind or backreference; a character by its number is `\\x{e9}`';
