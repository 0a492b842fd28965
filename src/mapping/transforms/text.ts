import { compilePattern, count, object, pattern, text } from '../schema-parts.ts';
import { valueText } from '../values/result.ts';
import { onText, transform } from './transform.ts';

export const lowercase = transform({
  name: 'lowercase',
  doc: 'Converts to lower case.',
  usage: ['lowercase'],
  examples: [{ apply: 'lowercase', from: 'Ada@Example.TEST', to: 'ada@example.test' }],
  compile: () => onText((input) => input.toLowerCase()),
});

export const uppercase = transform({
  name: 'uppercase',
  doc: 'Converts to upper case.',
  usage: ['uppercase'],
  examples: [{ apply: 'uppercase', from: 'eur', to: 'EUR' }],
  compile: () => onText((input) => input.toUpperCase()),
});

export const collapseWhitespace = transform({
  name: 'collapse_whitespace',
  doc: 'Replaces every run of white space, including line breaks, with one space.',
  usage: ['collapse_whitespace'],
  examples: [{ apply: 'collapse_whitespace', from: 'Ada \n Lovelace', to: 'Ada Lovelace' }],
  compile: () => onText((input) => input.replace(/\s+/g, ' ').trim()),
});

export const prefix = transform<string>({
  name: 'prefix',
  doc: 'Adds text at the beginning.',
  words: (added) => `adds ${valueText(added)} at the beginning`,
  usage: ['{ prefix: TEXT }'],
  examples: [{ apply: '{ prefix: note- }', from: '17', to: 'note-17' }],
  argument: () => text,
  compile: (added) => onText((input) => added! + input),
});

export const suffix = transform<string>({
  name: 'suffix',
  doc: 'Adds text at the end.',
  words: (added) => `adds ${valueText(added)} at the end`,
  usage: ['{ suffix: TEXT }'],
  examples: [{ apply: '{ suffix: -old }', from: '17', to: '17-old' }],
  argument: () => text,
  compile: (added) => onText((input) => input + added!),
});

export const truncate = transform<number>({
  name: 'truncate',
  doc: 'Keeps the first N characters as people count them: an emoji or a letter with its accents is one.',
  words: (most) => `keeps the first ${most} characters`,
  usage: ['{ truncate: N }'],
  examples: [{ apply: '{ truncate: 3 }', from: 'Lovelace', to: 'Lov' }],
  argument: () => count,
  compile: (most) => onText((input) => truncated(input, most!)),
});

const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

function truncated(input: string, most: number): string {
  if (input.length <= most) return input;
  let kept = 0;
  for (const { index } of characters.segment(input)) {
    if (kept === most) return input.slice(0, index);
    kept += 1;
  }
  return input;
}

export const replace = transform<{ pattern: string; with: string }>({
  name: 'replace',
  doc: 'Replaces every match of a regular expression; `$1` in `with` is the first group.',
  words: ({ pattern, with: text }) =>
    text === ''
      ? `removes what matches the pattern ${valueText(pattern)}`
      : `replaces what matches the pattern ${valueText(pattern)} with ${valueText(text)}`,
  usage: ['{ replace: { pattern: REGEX, with: TEXT } }'],
  examples: [{ apply: '{ replace: { pattern: "^0+", with: "" } }', from: '00123', to: '123' }],
  argument: () => object({ pattern, with: text }),
  compile: (argument) => {
    const regex = compilePattern(argument!.pattern);
    const replacement = argument!.with;
    return onText((input) => regex.matcher(input).replaceAll(replacement));
  },
});

export const extract = transform<string>({
  name: 'extract',
  doc: 'Extracts the first group of a regular expression, or the whole match if there is no group. No value if nothing matches.',
  words: (source) => `takes the part that matches the pattern ${valueText(source)}`,
  usage: ['{ extract: REGEX }'],
  examples: [
    { apply: '{ extract: "\\\\(([^)]+)\\\\)" }', from: 'Ada (ada@example.test)', to: 'ada@example.test' },
    { apply: '{ extract: "\\\\d+" }', from: 'none', to: undefined },
  ],
  argument: () => pattern,
  compile: (source) => {
    const regex = compilePattern(source!);
    return onText((input) => {
      const matcher = regex.matcher(input);
      return matcher.find() ? (matcher.group(matcher.groupCount() > 0 ? 1 : 0) ?? undefined) : undefined;
    });
  },
});
