/** What `help CODE` says: the sentence of a code, what to do, and the messages that people meet under it. Pure. */
import { EXAMPLES } from './examples.ts';
import { inSentence } from './sentence.ts';
import { fixOf, issueOf, WORDS, type SentenceKey } from './words.ts';
import type { ProblemKind } from '../../problem.ts';

const KINDS: Readonly<Record<ProblemKind, string>> = {
  read: 'while the exports are read',
  map: 'while records are mapped and checked',
  resolve: 'while names are looked up in the account',
  blocked: 'while parents are looked for',
  send: 'while events are sent',
};

export const CODES: readonly string[] = Object.keys(WORDS).filter((key) => !key.includes('/'));

/** Undefined if there is no such code. */
export function codeHelp(code: string): readonly string[] | undefined {
  if (!CODES.includes(code)) return undefined;
  const { severity, kind, what } = WORDS[code as SentenceKey] as { what: string } & (typeof WORDS)[SentenceKey];
  const fix = fixOf(code as SentenceKey);
  const messages = Object.keys(WORDS).filter((key) => key === code || key.startsWith(`${code}/`)) as SentenceKey[];
  const cases = messages.flatMap((key) => {
    const message = exampleOf(key);
    const own = fixOf(key);
    if (message === undefined) return [];
    return [`  ${message}`, ...(own === fix || own === '' ? [] : [`      ${inSentence(own)}`])];
  });
  return [
    `${code}: ${severity === 'error' ? 'an error' : 'a warning'} ${KINDS[kind]}`,
    ...['', what],
    ...(fix === '' ? [] : ['', 'What to do:', `  ${fix}`]),
    ...(cases.length === 0 ? [] : ['', 'Messages with this code, such as:', ...cases]),
    ...['', severity === 'error' ? 'Each case is a line of errors.csv.' : 'A warning keeps nothing from being sent.'],
  ];
}

function exampleOf(key: SentenceKey): string | undefined {
  const given = EXAMPLES[key] as [] | undefined;
  return given && issueOf(key, ...given).message;
}
