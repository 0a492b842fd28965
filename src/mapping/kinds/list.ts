import { z } from 'zod';
import type { JsonValue } from '../../json.ts';
import { enumerated } from '../../report/words/numbers.ts';
import type { ValueSpec } from '../spec.ts';
import { within } from '../values/compile-context.ts';
import { ABSENT } from '../values/result.ts';
import { kind } from './kind.ts';
import { Problem } from '../../problem.ts';

/** `list: [First Name, Last Name]`: all members that have a value; lists are flattened. */
export const list = kind<readonly ValueSpec[]>({
  schema: (value) => z.array(value).min(1),
  children: (specs) => specs.map((spec, index) => [[index], spec]),
  shape: () => 'list',
  words: (specs, { inline }) => ({ from: enumerated(specs.map(inline), 'and'), how: [] }),
  read: (specs, context, value) => {
    const members = specs
      .map((spec, index) => value(spec, within(context, index)))
      .filter((member) => member !== ABSENT);
    if (members.length === 0) return ABSENT;
    return (row) => {
      const found: JsonValue[] = [];
      for (const member of members) {
        const result = member(row);
        if (result instanceof Problem) return result;
        // One by one: a list may be longer than a call can have arguments.
        const values = Array.isArray(result) ? (result as readonly JsonValue[]) : [result];
        for (const each of values) if (each !== undefined && each !== null) found.push(each);
      }
      return found.length === 0 ? undefined : found;
    };
  },
});
