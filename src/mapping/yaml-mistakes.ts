/** What the parser of YAML finds wrong in a mapping file, in words that say how to mend it. */
import type { YAMLError } from 'yaml';
import { mistake, type Location, type Problem } from '../problem.ts';

/** No real mapping is nested this deep, and checking one that is would take minutes. */
export const MOST_LEVELS = 100;
export const TOO_DEEP = `it is nested more than ${MOST_LEVELS} levels deep`;
export const QUOTE = 'quote text that contains any of { } [ ] , # @ or a colon followed by a space';

/** One error causes others after it: only the first of each line is a problem, and no follow-up errors. */
export function syntaxProblems(
  errors: readonly YAMLError[],
  text: string,
  at: (offset: number) => Location,
): readonly Problem[] {
  const lines = new Set<number>();
  const firsts = errors.filter((error) => {
    const { line } = at(error.pos[0]);
    const first = !lines.has(line);
    lines.add(line);
    return first;
  });
  const causes = firsts.filter((error) => !error.message.includes('in YAML stream'));
  return (causes.length > 0 ? causes : firsts.slice(0, 1)).map((error) => syntaxProblem(error, text, at(error.pos[0])));
}

function syntaxProblem({ code, message }: YAMLError, text: string, at: Location): Problem {
  const of = (what: string, hint?: string): Problem => mistake('yaml_syntax', what, at, hint);
  if (code === 'MULTIPLE_DOCS')
    return of(
      'a second YAML document begins here: a mapping file has one',
      'remove the line `---` or `...`, or move what follows into a file of its own',
    );
  // The parser itself gives up after some thousand levels.
  if (message.includes('call stack')) return of(TOO_DEEP);
  const line = text.split('\n')[at.line - 1] ?? '';
  const blank = blankIn(line);
  if (blank) return blankProblem(blank, { ...at, column: blank.at + 1 });
  if (code === 'TAB_AS_INDENT') return of('tabs cannot be used for indentation in YAML', 'indent with spaces');
  const hint = `${QUOTE}: \`{ from: "contacts[0].id" }\`, \`template: "{A} {B}"\``;
  return of(
    `invalid YAML: ${message.replace(/\s+/g, ' ').trim()}`,
    /[[\]{},#@`&*!|>%]|: /.test(line) ? hint : undefined,
  );
}

/** Blanks that look like a space, and a colon that looks like one, as word processors and web pages write them. */
const BLANK = '[\\u00a0\\u1680\\u2000-\\u200b\\u202f\\u205f\\u3000\\ufeff]';
const BLANK_AFTER_KEY = new RegExp(`^((?:[ ]*-)?[ ]*[\\w$.*-]+)(?:(:)${BLANK}|\\uff1a)`);
const BLANK_BEFORE_KEY = new RegExp(`^[ ]*${BLANK}`);

interface Blank {
  readonly at: number;
  readonly message: string;
}

/** Such a blank where YAML needs a space, in a line or in a text that YAML took whole. */
export function blankIn(text: string): Blank | undefined {
  const [, key, colon] = BLANK_AFTER_KEY.exec(text) ?? [];
  if (key !== undefined) {
    const name = key.replace(/^[ ]*-?[ ]*/, '');
    return colon === undefined
      ? { at: key.length, message: `\`${name}\` is followed by a full-width colon` }
      : { at: key.length + 1, message: `\`${name}:\` is followed by ${ANOTHER}` };
  }
  const [before] = BLANK_BEFORE_KEY.exec(text) ?? [];
  return before === undefined ? undefined : { at: before.length - 1, message: `there is ${ANOTHER} here` };
}

const ANOTHER = 'a no-break space or another blank that is not a plain space';

export function blankProblem({ message }: Blank, at: Location): Problem {
  return mistake(
    'yaml_syntax',
    message,
    at,
    'type a plain space in its place, or put quotes around a text that has it',
  );
}

/** A line of a mapping whose indent makes it and others wrong. */
export interface WrongIndent {
  readonly problem: Problem;
  /** The file with the right one. */
  readonly mended: string;
}

/** How many lines before and after the first mistake may be its cause. */
const BEFORE = 12;
const AFTER = 3;
/** By how many spaces a line is often moved. */
const SLIPS = [-2, -1, 1, 2];

/**
 * The line whose indent makes a text no YAML, or is the cause of several of its mistakes: with another one, near it or as lines around it have, these
 * are gone and no others come. `first`: the line of the first mistake. `mistakesIn`: their messages; undefined for what is no YAML.
 */
export function wrongIndent(
  { text, file, first }: { readonly text: string; readonly file: string; readonly first: number },
  mistakesIn: (text: string) => readonly string[] | undefined,
): WrongIndent | undefined {
  const lines = text.split('\n');
  const near = [...lines.keys()].filter(
    (at) => at + 1 >= first - BEFORE && at + 1 <= first + AFTER && !isEmpty(lines[at]!),
  );
  const around = near.flatMap((at) => [indentOf(lines[at]!), /^ *(?:- )*/.exec(lines[at]!)![0].length]);
  const now = mistakesIn(text);
  const candidates = near.flatMap((at) => {
    const is = indentOf(lines[at]!);
    return [...new Set([...around, ...SLIPS.map((slip) => is + slip)])].flatMap((should) => {
      if (is === should || should < 0) return [];
      const moved = lines.with(at, ' '.repeat(should) + lines[at]!.trimStart());
      const mended = moved.join('\n');
      const left = mistakesIn(mended);
      if (!left || (now && (left.length + 1 >= now.length || left.some((each) => !now.includes(each))))) return [];
      // Fewest mistakes; then steps as they are usual; then the nearest line.
      const cost = left.length * 1e6 + unusualSteps(moved) * 1e3 + Math.abs(at + 1 - first);
      const message = `wrong indent: this line begins with ${spaces(is)}, and with ${spaces(should)} it would fit its neighbours`;
      return [{ cost, mended, problem: mistake('wrong_indent', message, { file, line: at + 1, column: 1 }) }];
    });
  });
  return candidates.sort((a, b) => a.cost - b.cost)[0];
}

function isEmpty(line: string): boolean {
  return /^\s*(?:#|$)/.test(line);
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function spaces(count: number): string {
  return `${count} space${count === 1 ? '' : 's'}`;
}

/** How many lines are indented further than the line before them, but not by two spaces as nearly all are. */
function unusualSteps(lines: readonly string[]): number {
  const indents = lines.filter((line) => !isEmpty(line)).map(indentOf);
  return indents.filter((indent, at) => at > 0 && indent > indents[at - 1]! && indent !== indents[at - 1]! + 2).length;
}
