/** Checks date formats and suggests fixes. */
import { formatPieces, NAMED, TOKENS } from './date-tokens.ts';

/** Tokens of other notations, with their equivalents. */
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
  if (tokens.includes('z')) return 'put the name of the zone in single quotes and set `timezone` next to the format';
  const known = tokens.every((token) => TOKENS[token] ?? FOREIGN[token] ?? NAMED.includes(token));
  if (!known) return "put literal text in single quotes, as in `yyyy-MM-dd'T'HH:mm`";
  const pieces = formatPieces(format).map(({ token, literal }) => {
    if (token !== undefined) return FOREIGN[token] ?? token;
    return /[A-Za-z']/.test(literal!) ? `'${literal!.replaceAll("'", "''")}'` : literal!;
  });
  return `use \`${pieces.join('')}\``;
}

/** The error in a format, with a hint after a line break, or undefined. */
export function formatError(format: string): string | undefined {
  const tokens = formatPieces(format).flatMap(({ token }) => token ?? []);
  const unknown = tokens.find((token) => !TOKENS[token] && !NAMED.includes(token));
  if (unknown !== undefined)
    return `unknown token \`${unknown}\` in the date format \`${format}\`\n${adviceFor(format, tokens)}`;
  const parts = new Set(tokens.map((token) => TOKENS[token]?.part ?? (/^[ML]/.test(token) ? 'month' : 'weekday')));
  const twelve = tokens.some((token) => token.startsWith('h'));
  const problem = (text: string, advice: string): string => `the date format \`${format}\` ${text}\n${advice}`;
  if (!parts.has('month') && parts.has('minute') && !parts.has('hour'))
    return problem('has minutes in place of the month', 'use `MM` for months and `mm` for minutes');
  if (!parts.has('year')) return problem('has no year', 'use `yyyy` for the year');
  if (!parts.has('month')) return problem('has no month', 'use `MM` for the month, or `MMM` for its name');
  if (!parts.has('day')) return problem('has no day', 'use `dd` for the day');
  if (twelve && !parts.has('half'))
    return problem('has a 12-hour clock without AM/PM', 'use `HH` for hours from 0 to 23, or add `a` for AM/PM');
  if (!twelve && parts.has('half')) return problem('has AM/PM with a 24-hour clock', 'use `hh` for hours from 1 to 12');
  return undefined;
}
