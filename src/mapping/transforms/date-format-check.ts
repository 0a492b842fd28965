/** Errors in a date format, and how to fix them. */
import { formatPieces, NAMED, TOKENS } from './date-tokens.ts';

/** Letters that people bring from other notations, with the token that means the same here. */
const FOREIGN: Readonly<Record<string, string>> = {
  YYYY: 'yyyy',
  YY: 'yy',
  DD: 'dd',
  D: 'd',
  A: 'a',
  SSSSSS: 'u',
  T: "'T'",
};

function adviceFor(format: string, tokens: readonly string[]): string {
  if (tokens.includes('z')) return 'write the name of the zone in single quotes, and set `timezone` beside the format';
  const known = tokens.every((token) => TOKENS[token] ?? FOREIGN[token] ?? NAMED.includes(token));
  if (!known) return "text that is no token stands in single quotes, as in `yyyy-MM-dd'T'HH:mm`";
  const pieces = formatPieces(format).map(({ token, literal }) => {
    if (token !== undefined) return FOREIGN[token] ?? token;
    return /[A-Za-z']/.test(literal!) ? `'${literal!.replaceAll("'", "''")}'` : literal!;
  });
  return `write \`${pieces.join('')}\``;
}

/** What is wrong with a format, with advice after a line break, or undefined. */
export function formatError(format: string): string | undefined {
  const tokens = formatPieces(format).flatMap(({ token }) => token ?? []);
  const unknown = tokens.find((token) => !TOKENS[token] && !NAMED.includes(token));
  if (unknown !== undefined)
    return `unknown token \`${unknown}\` in the date format \`${format}\`\n${adviceFor(format, tokens)}`;
  const parts = new Set(tokens.map((token) => TOKENS[token]?.part ?? (/^[ML]/.test(token) ? 'month' : 'weekday')));
  const twelve = tokens.some((token) => token.startsWith('h'));
  const problem = (text: string, advice: string): string => `the date format \`${format}\` ${text}\n${advice}`;
  if (!parts.has('month') && parts.has('minute') && !parts.has('hour'))
    return problem('has minutes where the month should be', 'months are `MM`, minutes are `mm`');
  if (!parts.has('year')) return problem('has no year', 'years are `yyyy`');
  if (!parts.has('month')) return problem('has no month', 'months are `MM`, or `MMM` as a name');
  if (!parts.has('day')) return problem('has no day', 'days are `dd`');
  if (twelve && !parts.has('half'))
    return problem('has a 12-hour clock without am and pm', 'hours from 0 to 23 are `HH`; am and pm are `a`');
  if (!twelve && parts.has('half')) return problem('has am and pm with a 24-hour clock', 'hours from 1 to 12 are `hh`');
  return undefined;
}
