import { compilePattern, count, object, pattern, text } from '../schema-parts.ts';
import { valueText } from '../values/result.ts';
import { onText, transform } from './transform.ts';

function plain(name: string, doc: string, [from, to]: readonly [string, string], change: (text: string) => string) {
  return transform({ name, doc, usage: [name], examples: [{ apply: name, from, to }], compile: () => onText(change) });
}

export const lowercase = plain(
  'lowercase',
  'Converts to lower case.',
  ['Ada@Example.TEST', 'ada@example.test'],
  (input) => input.toLowerCase(),
);

export const uppercase = plain('uppercase', 'Converts to upper case.', ['eur', 'EUR'], (input) => input.toUpperCase());

export const collapseWhitespace = plain(
  'collapse_whitespace',
  'Replaces every run of white space, including line breaks, with one space.',
  ['Ada \n Lovelace', 'Ada Lovelace'],
  (input) => input.replace(/\s+/g, ' ').trim(),
);

function adding(
  name: string,
  where: string,
  [added, to]: readonly [string, string],
  add: (to: string, added: string) => string,
) {
  return transform<string>({
    name,
    doc: `Adds text at the ${where}.`,
    words: (given) => `adds ${valueText(given)} at the ${where}`,
    usage: [`{ ${name}: TEXT }`],
    examples: [{ apply: `{ ${name}: ${added} }`, from: '17', to }],
    argument: () => text,
    compile: (given) => onText((input) => add(input, given!)),
  });
}

export const prefix = adding('prefix', 'beginning', ['note-', 'note-17'], (to, added) => added + to);
export const suffix = adding('suffix', 'end', ['-old', '17-old'], (to, added) => to + added);

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
