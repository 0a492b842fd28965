/** The lines of an entry that refer to the lead or deal that a record belongs to. */
import { numberText } from '../../../terminal/numbers.ts';
import type { ValueSpec } from '../../../mapping/spec.ts';
import { countOf, countsOf, isUnique, type Column, type Table } from '../columns.ts';
import type { EntryDraft } from '../guess.ts';
import { idValue, joinsTo, type Join, type KnownTables } from '../joins.ts';
import { NONE, quoted } from '../evidence.ts';
import { isByChance, isCompanyId, lookupIn, placeholder, shareOf } from './references.ts';
import { isStaff, typeOf, type ParentType } from '../roles.ts';
import { fold } from '../words.ts';
import type { Line } from './yaml.ts';

export class ParentLines {
  readonly #draft: EntryDraft;
  readonly #table: Table;
  readonly #known: KnownTables;
  /** Columns that need not be carried otherwise, to be added to. */
  readonly #used: Set<Column>;

  constructor(draft: EntryDraft, known: KnownTables, used: Set<Column>) {
    this.#draft = draft;
    this.#table = draft.table;
    this.#known = known;
    this.#used = used;
  }

  #joins(kind: 'leads' | 'deals'): Join[] {
    return this.#known.drafts
      .filter((each) => each.kind === kind && each.table !== this.#table)
      .flatMap((target) => joinsTo(this.#draft, target, this.#known))
      .sort((a, b) => b.score - a.score);
  }

  /** The line of a parent: the best join, and where that has no value another one; commented out if none is enough. */
  parentLine(key: string, kind: 'leads' | 'deals'): Line[] {
    const own = this.#known.drafts.find((each) => each.kind === kind && each.table === this.#table);
    if (own) return [{ key, value: idValue(own), comment: 'the person of the same row' }];
    const above =
      this.#table.parent && this.#known.drafts.find((each) => each.kind === kind && each.table === this.#table.parent);
    const joins = this.#joins(kind);
    const isMixed = this.#draft.kind === 'comments';
    const enough = joins.filter(
      ({ score, share }) => (score >= 0.25 && share >= 0.3) || (isMixed && score >= share && share >= 0.1),
    );
    if (enough.length === 0 && above) return [this.#aboveLine(key, above)];
    const alone = this.#withoutTable(kind);
    if (enough.length === 0 && joins.every(({ columns }) => columns.some(isStaff)) && alone) {
      this.#used.add(alone);
      return [
        {
          key,
          value: alone.name,
          comment: `check: ${numberText(alone.filled)} of ${numberText(this.#table.rows)} have one, but no export has these ids`,
        },
      ];
    }
    if (enough.length === 0) {
      const [first] = joins;
      const what = `set this: no column has the id of its ${kind.slice(0, -1)}`;
      const list = joins
        .slice(0, 3)
        .flatMap(({ columns, why }) => columns.map((column) => `${quoted(column)} (${why})`));
      return [
        {
          key,
          value: first?.value ?? NONE,
          off: true,
          comment: list.length > 0 ? `${what} in enough records: ${[...new Set(list)].join(', ')}` : what,
        },
      ];
    }
    const [best] = enough as [Join, ...Join[]];
    const chosen = [best];
    // The other side of messages and calls.
    const weaker = joins.filter((each) => isMixed && !enough.includes(each) && each.score >= each.share * 0.65);
    for (const each of [...enough.slice(1), ...weaker]) {
      const adds =
        each.columns.length > 0 &&
        chosen.length < 3 &&
        chosen.every(({ columns }) => columns.length > 0 && !columns.some((column) => each.columns.includes(column)));
      if (adds && this.#gain(chosen, each) > this.#table.rows * 0.05) chosen.push(each);
    }
    if (chosen.length === 1 && best.score > 0.7) for (const column of best.columns) this.#used.add(column);
    const texts = chosen.map(({ why, columns }) =>
      chosen.length > 1 && columns[0] ? `${quoted(columns[0])}: ${why}` : why,
    );
    const text = [...new Set(texts)].join('; ');
    const others = enough.filter(
      (each) =>
        !chosen.includes(each) &&
        each.columns.some((column) => !chosen.some(({ columns }) => columns.includes(column))),
    );
    const next =
      others.length > 0
        ? `; runner-up: ${others
            .slice(0, 2)
            .flatMap(({ columns, why }) => columns.map((column) => `${quoted(column)} (${why})`))
            .join(', ')}`
        : '';
    const isSure = chosen.length === 1 && best.share === 1 && best.score >= 0.95;
    return [
      {
        key,
        value: onlyOfFrom(chosen.map(({ value }) => value)),
        comment: `${isSure && this.#draft.kind !== 'comments' ? '' : 'check: '}${text}${next}`,
      },
    ];
  }

  /** A column with ids of a kind of records that no export has: `contact_id`. */
  #withoutTable(kind: 'leads' | 'deals'): Column | undefined {
    const own = kind === 'leads' ? (['person', 'customer'] as const) : (['deal'] as const);
    const isElsewhere = (column: Column): boolean =>
      this.#known.references.some((each) => each.from === column && shareOf(each) > 0.5 && !isByChance(each));
    return this.#table.columns.find(
      (column) =>
        column.meaning.concepts.has('id') &&
        own.some((each) => column.meaning.concepts.has(each)) &&
        column.list === undefined &&
        column.distinct > 1 &&
        this.#draft.roles.get('id')?.column !== column &&
        !isElsewhere(column),
    );
  }

  /** Records for which only another join has a value. */
  #gain(chosen: readonly Join[], other: Join): number {
    const has = ({ matched, columns }: Join): string =>
      matched ?? columns.map(({ sql }) => `${sql} is not null`).join(' and ');
    const without = chosen.map((each) => `not coalesce((${has(each)}), 0)`).join(' and ');
    return countOf(this.#table, `from ${this.#table.sql} where ${without} and ${has(other)}`);
  }

  #aboveLine(key: string, above: EntryDraft): Line {
    const id = above.roles.get('id')?.column;
    return {
      key,
      value: id ? `$.${id.name}` : NONE,
      off: id === undefined,
      comment: 'check: the record in which it is',
    };
  }

  /** The deal and the lead of a comment: in columns of their own, in one column with their type, or in one told apart by value. */
  commentParents(): Line[] {
    const { drafts } = this.#known;
    const above =
      this.#table.parent && drafts.find((each) => each.table === this.#table.parent && each.kind !== 'comments');
    if (above) return [this.#aboveLine(above.kind === 'deals' ? 'deal_external_id' : 'lead_external_id', above)];
    const byKind = new Map((['deals', 'leads'] as const).map((kind) => [kind, this.#joins(kind)]));
    const typed = this.#typed(byKind);
    if (typed) return typed;
    const lines = [...this.parentLine('deal_external_id', 'deals'), ...this.parentLine('lead_external_id', 'leads')];
    return lines;
  }

  #typed(byKind: ReadonlyMap<'leads' | 'deals', readonly Join[]>): Line[] | undefined {
    const ids = new Set(
      [...byKind.values()].flatMap((joins) => joins.filter(({ byId }) => byId).map(({ columns }) => columns[0]!)),
    );
    const isParent = ({ meaning }: Column): number => Number(meaning.concepts.has('parent'));
    for (const id of [...ids].filter((each) => !isStaff(each)).sort((a, b) => isParent(b) - isParent(a))) {
      const ofKinds = [...byKind].filter(([, joins]) => joins.some(({ columns }) => columns[0] === id));
      const type = typeOf(id);
      if (!type || (ofKinds.length < 2 && type.values.size < 2)) continue;
      if ([...byKind.values()].flat().some((each) => each.columns[0] !== id && each.score > 0.6)) continue;
      const targets = this.#targets(type);
      if (
        ofKinds.some(([, joins]) => joins.some((each) => each.columns[0] === id && each.score < WEAK)) &&
        !this.#isComplete(id, type.column, targets)
      )
        continue;
      this.#used.add(id);
      return (['deals', 'leads'] as const).flatMap((kind): Line[] => {
        const own = targets.filter(({ draft }) => draft.kind === kind);
        if (own.length === 0) return [];
        const values = own.flatMap((each) => each.values);
        const found = [...countsOf(type.column)]
          .filter(([value]) => values.includes(value))
          .reduce((sum, [, n]) => sum + n, 0);
        const some = own.some(({ by }) => by) ? '; of a company, its first person is taken' : '';
        return [
          {
            key: kind === 'deals' ? 'deal_external_id' : 'lead_external_id',
            value: onlyOfFrom(own.map((target) => typedValue(type.column, id, target))),
            comment: `check: ${numberText(found)} of ${numberText(this.#table.rows)} belong to ${kind} by ${quoted(type.column)}${some}`,
          },
        ];
      });
    }
    return undefined;
  }

  /** Whose ids the records of each type have: of several exports of people, those of the one that the type is called after. */
  #targets({ values }: ParentType): TypedTarget[] {
    const { drafts, references } = this.#known;
    const targets: TypedTarget[] = [];
    const add = (draft: EntryDraft, value: string, by?: Column): void => {
      const known = targets.find((each) => each.draft === draft && each.by === by);
      if (known) known.values.push(value);
      else targets.push({ draft, by, values: [value] });
    };
    for (const [kind, own] of values) {
      const able = drafts.filter((each) =>
        kind === 'companies' ? each.kind === 'leads' && each.table.nouns.includes(kind) : each.kind === kind,
      );
      for (const value of own) {
        const [best] = able.filter(({ table }) => isCalled(table.source, value));
        const target = best ?? able[0];
        if (target) add(target, value);
        const byCompany = references.find(
          ({ from, to }) => to.table.nouns.includes(kind) && isCompanyId(from.meaning) && isUnique(to) && leads(from),
        );
        if (!target && kind === 'companies' && byCompany) add(leads(byCompany.from)!, value, byCompany.from);
      }
    }
    return targets;

    function leads({ table }: Column): EntryDraft | undefined {
      return drafts.find((each) => each.kind === 'leads' && each.table === table && each.table.list === undefined);
    }
  }

  /** Whether the records of a type have the ids of that kind: where headers say so, some may be of records that were deleted. */
  #isComplete(id: Column, column: Column, targets: readonly TypedTarget[]): boolean {
    const isNamed = id.meaning.concepts.has('parent') && column.meaning.concepts.has('type');
    const least = isNamed ? 0.5 : 0.95;
    return targets.every(({ draft, by, values }) => {
      const target = by ?? draft.roles.get('id')?.column;
      if (!target) return false;
      const typed = `from ${this.#table.sql} where ${column.sql} in (${values.map((value) => `'${value.replaceAll("'", "''")}'`).join(', ')})`;
      const found = countOf(this.#table, `${typed} and ${id.sql} in (select ${target.sql} from ${target.table.sql})`);
      return found > 0 && found >= least * countOf(this.#table, typed);
    });
  }
}

/** Records of some types have the ids of a draft's records, or what those have in a column (`by`). */
interface TypedTarget {
  readonly draft: EntryDraft;
  readonly by: Column | undefined;
  readonly values: string[];
}

function typedValue(type: Column, id: Column, { draft, by, values }: TypedTarget): ValueSpec {
  const escaped = values.map((value) => value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const extract = `^${escaped.length > 1 ? `(?:${escaped.join('|')})` : escaped[0]} (.+)$`;
  const own = { template: `${placeholder(type)} ${placeholder(id)}`, apply: [{ extract }] };
  const take = idValue(draft);
  if (by && take !== undefined)
    return lookupIn(draft.table, { match: by.name, with: own, take }, { optional: true, several: true });
  return draft.prefix ? { ...own, apply: [...own.apply, { prefix: draft.prefix.text }] } : own;
}

/** `Contacts` and `contact`. */
function isCalled(source: string, type: string): boolean {
  const stems = (text: string): string[] =>
    fold(text)
      .split(' ')
      .map((word) => word.replace(/s$/, ''));
  return stems(type).some((stem) => stems(source).includes(stem));
}

/** Small numbers match by chance: only a type whose records all match makes sure. */
const WEAK = 0.25;

function onlyOfFrom(values: readonly ValueSpec[]): ValueSpec {
  return values.length === 1 ? values[0]! : { from: values };
}
