import { fold } from '../plan/compare/fields.ts';
import type { Issue } from '../model.ts';
import { shortPath } from '../files/paths.ts';
import { counted } from '../terminal/numbers.ts';
import { visible } from '../terminal/visible.ts';
import type { MetName } from './resolve.ts';
import { isWrittenAs } from './targets.ts';
import type { Answer } from './worksheet.ts';
import { issueOf } from '../vocabulary/words.ts';

const MOST_NAMED = 10;

/** Changes that a spreadsheet makes to a name that it reads as a number or a date. */
function plain(name: string): string {
  return fold(name)
    .replace(/\.0+$/, '')
    .replace(/^0+(?=.)/, '')
    .replace(/[^\p{L}\p{N}]/gu, '');
}

/**
 * The rows of a worksheet whose `old_name` no record has: a spreadsheet may have changed it (`0012` to `12`), so the name that it was is
 * given where one is alike. Undefined if there are none.
 */
export function unmatchedAnswers(
  answers: readonly Answer[],
  met: readonly MetName[],
): (Issue & { count: number }) | undefined {
  const isMet = (answer: Answer): boolean =>
    met.some(
      ({ kind, pipeline, name }) =>
        kind === answer.kind &&
        isWrittenAs(name, fold(answer.oldName)) &&
        (answer.pipeline === '' || isWrittenAs(pipeline, fold(answer.pipeline))),
    );
  const unmatched = answers.filter((answer) => !isMet(answer));
  if (unmatched.length === 0) return undefined;
  const open = met.filter(({ resolution }) => resolution.kind !== 'resolved' || resolution.byDefault);
  const texts = unmatched.slice(0, MOST_NAMED).map(({ kind, oldName, at }) => {
    const like = open.find((name) => name.kind === kind && plain(name.name) === plain(oldName));
    return `line ${at.line}: ${kind} \`${visible(oldName)}\`${like ? ` (the exports have \`${visible(like.name)}\`)` : ''}`;
  });
  const more = unmatched.length - texts.length;
  const rows = `${texts.join(', ')}${more > 0 ? `, and ${counted(more, 'more row')}` : ''}`;
  return { ...issueOf('unmatched_answer', shortPath(unmatched[0]!.at.file), rows), count: unmatched.length };
}
