/** Values that differ only in letter case, spaces or Unicode form: `Avito`, `avito`, `AVITO`. */
import { fold } from '../../plan/compare/fields.ts';
import type { Issue } from '../../model.ts';
import { issueOf } from '../../vocabulary/words.ts';

/** A field with more values, or with a longer one, holds texts and no choices. */
const MOST_VALUES = 50;
const LONGEST = 60;
/** Of these, each record has a value of its own. */
const OWN = /(?:^|_)external_id$|^(?:full_name|email|phone_number|content|stage_id|owner_id)$/;

/** Counts the values of fields with few of them, as they are sent. */
export class Spellings {
  /** By field; undefined for one that has too many values. */
  readonly #fields = new Map<string, Map<string, number> | undefined>();

  add(field: string, text: string): void {
    if (OWN.test(field)) return;
    let counts = this.#fields.get(field);
    if (counts === undefined) {
      if (this.#fields.has(field)) return;
      this.#fields.set(field, (counts = new Map()));
    }
    counts.set(text, (counts.get(text) ?? 0) + 1);
    if (counts.size > MOST_VALUES || text.length > LONGEST) this.#fields.set(field, undefined);
  }

  /** One for each field that has several spellings of one value, and the number of values that are not the usual one. */
  found(): readonly (readonly [issue: Issue, count: number])[] {
    return [...this.#fields].flatMap(([field, counts]) => {
      const groups = counts === undefined ? [] : groupsOf(counts);
      if (groups.length === 0) return [];
      const others = groups.flatMap(([[usual], ...rest]) => rest.map(([text, count]) => ({ text, count, usual })));
      const map = others.map(({ text, usual }) => `${yaml(text)}: ${yaml(usual)}`).join(', ');
      const said = groups.map((group) => group.map(([text, count]) => `\`${text}\` ${count}`).join(', ')).join('; ');
      const hint = `if they are one, add to its \`apply\`: { map: { ${map}, "*": "=" } }`;
      const count = others.reduce((sum, each) => sum + each.count, 0);
      return [[{ ...issueOf('spellings', field, said), field, hint }, count] as const];
    });
  }
}

type Spelling = readonly [text: string, count: number];
type SpellingGroup = readonly [usual: Spelling, ...others: Spelling[]];

/** The spellings of each value that has several, the most frequent first. */
function groupsOf(counts: ReadonlyMap<string, number>): SpellingGroup[] {
  const groups = new Map<string, [Spelling, ...Spelling[]]>();
  for (const spelling of counts) {
    const folded = fold(spelling[0]);
    const group = groups.get(folded);
    if (group) group.push(spelling);
    else groups.set(folded, [spelling]);
  }
  return [...groups.values()]
    .filter(({ length }) => length > 1)
    .map((group) => group.sort((one, other) => other[1] - one[1]));
}

/** A text as YAML reads it back. */
function yaml(text: string): string {
  const isPlain =
    /^\p{L}[\p{L}\p{N}_-]*(?: [\p{L}\p{N}_-]+)*$/u.test(text) && !/^(?:true|false|null|y|n|yes|no|on|off)$/i.test(text);
  return isPlain ? text : JSON.stringify(text);
}
