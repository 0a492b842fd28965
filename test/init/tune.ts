/**
 * `npm run tune -- [FOLDER OF CASES]…`: removes each row and number of the tables of roles, kinds and ways in turn, and prints what it is
 * worth over all cases: how much lower the mean score is without it, how many more columns are wrong in silence, how many more lines are
 * marked. Nothing is learned: a row that is worth nothing is to be taken away, or to have a case.
 */
import { join } from 'node:path';
import { KIND_POINTS, KINDS, POINTS, ROLES, WAYS } from '../../src/init/know/roles.ts';
import { FIXTURES } from '../e2e/harness.ts';
import { casesIn, scoreOf, type LabelledCase } from './labelled/score.ts';

/** A row or number, and how it is taken away; returns how it is put back. */
interface Removal {
  readonly what: string;
  readonly remove: () => () => void;
}

/** Each element of a list, words of a set, number of an object. */
function removalsIn(what: string, from: object): Removal[] {
  if (Array.isArray(from))
    return from.map((row: unknown, at) => ({
      what: `${what}: ${String(row)}`,
      remove: () => {
        from.splice(at, 1);
        return () => void from.splice(at, 0, row);
      },
    }));
  if (from instanceof Set)
    return [...(from as Set<string>)].map((word) => ({
      what: `${what}: ${word}`,
      remove: () => {
        from.delete(word);
        return () => void from.add(word);
      },
    }));
  const numbers = from as Record<string, number>;
  return Object.entries(numbers).map(([key, number]) => ({
    what: `${what}.${key}: ${number}`,
    remove: () => {
      numbers[key] = 0;
      return () => void (numbers[key] = number);
    },
  }));
}

const removals: readonly Removal[] = [
  ...Object.entries(ROLES).flatMap(([role, row]) =>
    (['header', 'signs', 'needs', 'never', 'against'] as const).flatMap((part) =>
      removalsIn(`${role} ${part}`, row[part]),
    ),
  ),
  ...Object.entries(KINDS).flatMap(([kind, { nouns, signs, needs }]) => [
    ...removalsIn(`${kind} nouns`, nouns),
    ...removalsIn(`${kind} signs`, signs),
    ...removalsIn(`${kind} needs`, needs),
  ]),
  ...Object.entries({ POINTS, KIND_POINTS, WAYS }).flatMap(([name, numbers]) => removalsIn(name, numbers)),
];

interface Sum {
  score: number;
  wrong: number;
  marks: number;
}

function sumOver(cases: readonly LabelledCase[]): Sum {
  const sum = { score: 0, wrong: 0, marks: 0 };
  for (const each of cases) {
    const { score, notes, marks } = scoreOf(each);
    sum.score += score / cases.length;
    sum.wrong += notes.filter((note) => note.includes('WRONG')).length;
    sum.marks += marks;
  }
  return sum;
}

const folders = process.argv.slice(2);
const cases = [
  ...(await casesIn(join(FIXTURES, 'labelled-exports'))),
  ...(await Promise.all(folders.map((folder) => casesIn(folder)))).flat(),
];
const whole = sumOver(cases);
process.stdout.write(
  `${cases.length} cases: score ${whole.score.toFixed(4)}, ${whole.wrong} wrong in silence, ${whole.marks} marks; without each of ${removals.length} rows:\n`,
);
const worth = removals.map(({ what, remove }) => {
  const putBack = remove();
  for (const { facts } of cases) for (const table of facts.tables) delete table.id;
  const { score, wrong, marks } = sumOver(cases);
  putBack();
  return { what, score: whole.score - score, wrong: wrong - whole.wrong, marks: marks - whole.marks };
});
worth.sort((a, b) => b.score - a.score || b.wrong - a.wrong || b.marks - a.marks);
for (const { what, score, wrong, marks } of worth)
  process.stdout.write(
    `${score.toFixed(4).padStart(8)} ${String(wrong).padStart(4)} wrong ${String(marks).padStart(4)} marks  ${what}\n`,
  );
