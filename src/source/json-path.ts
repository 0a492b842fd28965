import { UserError } from '../errors.ts';

/** A key of an object or an index into an array. */
export type JsonPathStep = string | number;

/** `a.b[0].items` as steps; none for the top level. Throws a `UserError` if the text is not a path. */
export function parsePath(text: string | undefined): readonly JsonPathStep[] {
  if (text === undefined || text === '') return [];
  const steps: JsonPathStep[] = [];
  for (const part of text.split('.')) {
    const match = /^([^[\]]*)((?:\[\d+\])*)$/.exec(part);
    if (!match || (match[1] === '' && (match[2] === '' || steps.length > 0))) {
      throw new UserError(`\`records: ${text}\` is not a path`, {
        hint: 'separate keys with dots and put indexes in brackets, for example `data.items` or `pages[0].results`',
      });
    }
    if (match[1]) steps.push(match[1]);
    for (const [, index] of match[2]!.matchAll(/\[(\d+)\]/g)) steps.push(Number(index));
  }
  return steps;
}

export function formatPath(steps: readonly JsonPathStep[]): string {
  return steps
    .map((step, index) => (typeof step === 'number' ? `[${step}]` : `${index > 0 ? '.' : ''}${step}`))
    .join('');
}
