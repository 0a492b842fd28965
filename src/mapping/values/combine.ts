/** `combine`: how comments of one parent become one comment, each with a heading of its own. */
import type { JsonObject } from '../../json.ts';
import { compileColumn, within, type ValueContext } from './compile-context.ts';
import { textOf, type RowContext } from './result.ts';
import type { CombineSpec } from '../spec.ts';
import { parseTemplate } from '../kinds/template.ts';
import { Problem } from '../../problem.ts';

/** With the defaults filled in. */
export interface Combine {
  /** The template of the heading above each part. */
  readonly heading: string;
  /** Between two parts. */
  readonly separator: string;
  /** Most parts of one comment. */
  readonly max: number;
}

const DEFAULTS = { heading: '{time} {author}', separator: '\n\n', max: 50 };

export function combineOf(spec: CombineSpec): Combine {
  const { heading = DEFAULTS.heading, separator = DEFAULTS.separator, max = DEFAULTS.max } = spec;
  return { heading, separator, max };
}

/** What a heading may name beside columns. */
interface HeadedComment {
  readonly data: JsonObject;
  /** ISO 8601. */
  readonly occurredAt?: string | undefined;
}

/** The heading of a part; empty where nothing that it names has a value. */
export type Heading = (row: RowContext, comment: HeadedComment) => string;

/** `{time}` and `{author}` are the time and author of the comment; other names in braces are columns or paths. */
export function compileHeading({ heading }: Combine, context: ValueContext): Heading {
  const inside = within(context, 'heading');
  const time = timeIn(context.compilation.defaults.timezone);
  const parts = parseTemplate(heading).map((part) => {
    if ('literal' in part || part.path === 'time' || part.path === 'author') return part;
    return { evaluate: compileColumn(part.path, inside) };
  });
  return (row, { data, occurredAt }) => {
    let found = false;
    const pieces = parts.map((part) => {
      if ('literal' in part) return part.literal;
      const text =
        'evaluate' in part
          ? scalar(part.evaluate(row))
          : part.path === 'time'
            ? time(occurredAt)
            : textOf(data['author_name']);
      found ||= text !== undefined;
      return text ?? '';
    });
    return found ? pieces.join('').trim() : '';
  };
}

/** The heading of a part by default. */
export function defaultHeading(timezone: string | undefined): (comment: HeadedComment) => string {
  const time = timeIn(timezone);
  return ({ data, occurredAt }) =>
    [time(occurredAt), textOf(data['author_name'])].filter((text) => text !== undefined).join(' ');
}

function scalar(result: ReturnType<ReturnType<typeof compileColumn>>): string | undefined {
  return result instanceof Problem ? undefined : textOf(result);
}

/** `2024-05-01 10:20` in this zone; without one in UTC, and it says so. */
function timeIn(timeZone: string | undefined): (at: string | undefined) => string | undefined {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: timeZone ?? 'UTC',
    dateStyle: 'short',
    timeStyle: 'short',
  });
  return (at) =>
    at === undefined ? undefined : `${format.format(new Date(at))}${timeZone === undefined ? ' UTC' : ''}`;
}
