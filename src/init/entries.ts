/** The lines of an entry: for every role of its kind of event the column that has it, or the candidates. */
import { numberText } from '../numbers.ts';
import type { TransformSpec, ValueSpec } from '../mapping/spec.ts';
import { SURE, type RoleCandidate, type RoleFound } from './assign.ts';
import {
  cellsOf,
  countOf,
  countsOf,
  fillOf,
  isComplete,
  isUnique,
  numberIn,
  type Column,
  type Table,
} from './columns.ts';
import { currencyOf } from './currency.ts';
import { doubtOf, formatsOf } from './dates.ts';
import { idValue, joinsTo, nameOf, reach, typeOf, type Join, type Known } from './joins.ts';
import { isStaff, type EntryDraft } from './guess.ts';
import { headerScore, ROLES, scoreOf, type Role } from './roles.ts';
import { isCountry } from './region.ts';
import { endingOf, fold } from './words.ts';
import { flow, type Line } from './yaml.ts';

/** An item of `events`. */
export interface Entry {
  readonly type: 'lead/created' | 'deal/created' | 'comment/created';
  readonly source: string;
  /** Comments about the whole entry. */
  readonly above: readonly string[];
  readonly settings: readonly Line[];
  readonly data: readonly Line[];
  /** One level deeper. */
  readonly custom: readonly Line[];
  /** Names in the old CRM that may differ in the target account. */
  readonly names: readonly (readonly [kind: 'pipelines' | 'stages' | 'owners', counts: ReadonlyMap<string, number>])[];
}

export function entryOf(draft: EntryDraft, known: Known): Entry {
  const lines = new EntryLines(draft, known);
  if (draft.kind === 'leads') return lines.lead();
  return draft.kind === 'deals' ? lines.deal() : lines.comment();
}

/** Stands for a column that nobody knows. */
const NONE = '…';

class EntryLines {
  readonly #draft: EntryDraft;
  readonly #table: Table;
  readonly #known: Known;
  /** Columns that become no custom field, since they are carried whole. */
  readonly #used = new Set<Column>();

  constructor(draft: EntryDraft, known: Known) {
    this.#draft = draft;
    this.#table = draft.table;
    this.#known = known;
    for (const [role, { column }] of draft.roles) if (role !== 'outcome') this.#used.add(column);
  }

  lead(): Entry {
    const { key } = this.#draft;
    const data = [this.#idLine(), this.#nameLine(), this.#emailLine(), this.#phoneLine()];
    const settings = this.#when([]);
    const repeats = key?.repeats ? [{ key: 'duplicates', value: 'first' }] : [];
    return this.#entry('lead/created', [...settings, ...repeats, this.#timeLine('created')], data, []);
  }

  deal(): Entry {
    const { roles } = this.#draft;
    const pipeline = roles.get('pipeline')?.column;
    const parent = this.#parentLine('lead_external_id', 'leads');
    const { line: stage, names } = this.#stageLine();
    const owner = this.#memberLine('owner_name', 'owner');
    const settings = this.#when([]);
    const data = [
      this.#idLine(),
      this.#titleLine(),
      this.#amountLine(),
      this.#currencyLine(),
      ...parent,
      stage,
      owner.line,
    ];
    const lines = [
      ...settings,
      this.#plainLine('stage_pipeline', 'pipeline', 'the pipeline'),
      this.#timeLine('created'),
      ...this.#priority(),
    ];
    return this.#entry('deal/created', lines, data, [
      ...names,
      ...(pipeline ? [['pipelines', countsOf(pipeline)] as const] : []),
      ...(owner.name ? [['owners', countsOf(owner.name)] as const] : []),
    ]);
  }

  comment(): Entry {
    const { table, roles } = this.#draft;
    const content = this.#contentLine();
    const author = this.#memberLine('author_name', 'author');
    const parents = this.#commentParents();
    const settings = this.#when([...(content.off ? [] : [content]), ...parents.filter(({ off }) => !off)]);
    const both = parents.filter(({ off }) => !off).length === 2 ? [{ key: 'if_both', value: 'deal' }] : [];
    const each = table.list === undefined ? [] : [{ key: 'each', value: table.list }];
    const id = roles.has('id') ? [this.#idLine()] : [];
    return this.#entry(
      'comment/created',
      [...each, ...settings, ...both, this.#timeLine('happened')],
      [...id, content, author.line, ...parents],
      [],
    );
  }

  #entry(type: Entry['type'], settings: readonly Line[], data: readonly Line[], names: Entry['names']): Entry {
    const { table, doubt, twin, kind } = this.#draft;
    const left = this.#rest();
    const isComment = type === 'comment/created';
    const above = [
      ...(doubt === undefined ? [] : [doubt]),
      ...(twin && kind === 'leads' ? ['each row is a person and a deal, so that it becomes both'] : []),
      ...(isComment && left.length > 0
        ? [
            `check: not carried, since a comment has only a text: ${left.map(({ value }) => flow((value as { from?: string }).from ?? value)).join(', ')}`,
          ]
        : []),
    ];
    const list =
      table.list !== undefined && !settings.some(({ key }) => key === 'each')
        ? [{ key: 'each', value: table.list }]
        : [];
    return {
      type,
      source: table.source,
      above,
      settings: [...list, ...settings],
      data,
      custom: isComment ? [] : left,
      names,
    };
  }

  /** Skips records that were deleted in the old CRM; of comments, those without a text or a parent. */
  #when(needed: readonly Line[]): Line[] {
    const { table } = this.#draft;
    const tests: { value: object; why: string }[] = [];
    const [content, ...refs] = needed;
    const columns = [...this.#used];
    if (content) {
      const texts = (['content', 'subject'] as const).flatMap((role) => this.#draft.roles.get(role)?.column ?? []);
      if (texts.length > 0 && !texts.some(isComplete)) {
        tests.push({
          value: { from: onlyOf(texts.map(({ name }) => name)), present: true },
          why: 'records without a text',
        });
      }
      const isOptional =
        refs.length > 0 &&
        !refs.some(
          ({ value }) => typeof value === 'string' && columns.some((each) => each.name === value && isComplete(each)),
        );
      if (isOptional && table.list === undefined) {
        tests.push({
          value: { from: onlyOf(refs.map(({ value }) => value)), present: true },
          why: 'records whose lead or deal is in no export',
        });
      }
    }
    for (const column of table.columns) {
      if (!column.meaning.concepts.has('deleted') || column.distinct > 3 || column.meaning.words.length > 2) continue;
      const gone = [...countsOf(column)].filter(([value]) => /^(?:1|true|t|yes|y)$/i.test(value));
      const count = gone.reduce((sum, [, n]) => sum + n, 0);
      if (count > 0)
        tests.push({
          value: { from: column.name, not_in: gone.map(([value]) => value) },
          why: `${numberText(count)} of ${numberText(table.rows)} records, which were deleted`,
        });
    }
    if (tests.length === 0) return [];
    const value = tests.length === 1 ? tests[0]!.value : { all: tests.map((each) => each.value) };
    return [{ key: 'when', value, comment: `check: skips ${tests.map(({ why }) => why).join(', ')}` }];
  }

  #idLine(): Line {
    const { roles, key, prefix, kind, table } = this.#draft;
    const value = idValue(this.#draft) ?? table.columns[0]!.name;
    const line = (comment: string): Line => ({ key: 'external_id', value, comment });
    const column = key?.column;
    if (!column) return line(`set this: ${key?.why ?? 'no column has a unique id'}`);
    const referred = this.#known.references.filter((each) => each.to === column).map(({ from }) => from.table.source);
    const by = [...new Set(referred.filter((source) => source !== table.source))].slice(0, 3);
    const figures = `unique in all ${numberText(column.filled)} records${by.length > 0 ? `, referred to by ${by.join(', ')}` : ''}`;
    if (prefix && kind !== 'deals') return line(`check: ${prefix.why}, so these have a prefix`);
    if (column.is.damaged > 0) {
      return line(
        `set this: a spreadsheet has truncated ${damagedIn(column)} ids (3.93E+11); export again without opening the file in a spreadsheet`,
      );
    }
    if (!isUnique(column))
      return line(`set this: ${numberText(column.filled - column.distinct)} of these ids occur more than once`);
    if (!isComplete(column)) return line(`set this: ${numberText(table.rows - column.filled)} records have none`);
    const { is } = column;
    const isName =
      Math.max(is.uuid, is.code, is.whole) < 0.5 && (is.words > 0.8 || headerScore('id', column, kind) <= 0);
    const found = roles.get('id');
    const mark = isName
      ? 'set this: no column has ids, so this stands for one; '
      : found && found.score < SURE
        ? 'check: '
        : '';
    return line(`${mark}${figures}${nextText(found?.others ?? [], found?.score)}`);
  }

  /** A role that a column has as it is, or its candidates. */
  #plainLine(key: string, role: Role, what: string): Line {
    const found = this.#draft.roles.get(role);
    if (!found) return this.#open(key, role, what);
    return { key, value: found.column.name, comment: commentOf(role, found, this.#draft.kind) };
  }

  /** A role that no column is sure to have. */
  #open(key: string, role: Role, what: string, value: (column: Column) => unknown = ({ name }) => name): Line {
    const candidates = this.#draft.candidates.get(role) ?? [];
    const [first] = candidates;
    if (!first) return { key, value: NONE, off: true, comment: `no column looks like ${what}` };
    const list = candidates.map(({ column }) => `${quoted(column)} (${figuresOf(role, column)})`).join(', ');
    return {
      key,
      value: value(first.column),
      off: true,
      comment: `set this: no column is sure to be ${what}: ${list}`,
    };
  }

  #nameLine(): Line {
    const { roles } = this.#draft;
    const [first, last] = [roles.get('first'), roles.get('last')];
    const key = 'full_name';
    if (first && last) {
      const value = { list: [first.column.name, last.column.name], apply: [{ join: ' ' }] };
      const worst = first.score < last.score ? first : last;
      return { key, value, comment: commentOf('full', { ...worst, others: [] }, 'leads') };
    }
    return this.#plainLine(key, 'full', 'the names of people');
  }

  #emailLine(): Line {
    const { roles, table } = this.#draft;
    const found = roles.get('email');
    const key = 'email';
    if (!found) {
      const { references, tables } = this.#known;
      const other = this.#elsewhere('email');
      const way = other && reach(table, roles.get('id')?.column, other, references, tables);
      if (way) return { key, value: { from: way.value, apply: ['lowercase'] }, comment: `check: ${way.why}` };
      return this.#open(key, 'email', 'the e-mail addresses');
    }
    const { value, several } = elementOf(found.column);
    const separated = separatorIn(found.column);
    const split: TransformSpec[] = separated ? [{ split: separated }, { at: 0 }] : [];
    const comment = several ?? (separated ? 'check: some cells have several; the first one is used' : undefined);
    return {
      key,
      value: { from: value.from, apply: [...value.apply, ...split, 'lowercase'] },
      comment: comment ?? commentOf('email', found, 'leads'),
    };
  }

  /** The best column for a role of a person in a table that becomes no event. */
  #elsewhere(role: Role): Column | undefined {
    const { tables, drafts } = this.#known;
    const able = tables.filter(
      (each) =>
        each.list === undefined &&
        !drafts.some(({ table }) => table === each) &&
        !each.nouns.includes('users') &&
        !each.nouns.includes('companies'),
    );
    const scored = able.flatMap(({ columns }) =>
      columns.map((column) => ({ column, score: scoreOf(role, column, 'leads') })),
    );
    return scored.filter(({ score }) => score > 0.8).sort((a, b) => b.score - a.score)[0]?.column;
  }

  #phoneLine(): Line {
    const { roles, table } = this.#draft;
    const found = roles.get('phone');
    const key = 'phone_number';
    if (!found) return this.#open(key, 'phone', 'the phone numbers', ({ name }) => ({ from: name, apply: ['phone'] }));
    const { column } = found;
    const country = table.columns.find((each) => isCountry(each));
    const phone: TransformSpec = country ? { phone: { region_from: country.name } } : 'phone';
    const { value, several } = elementOf(column);
    const more =
      column.list === undefined
        ? table.columns.filter(
            (each) =>
              each !== column &&
              each.list === undefined &&
              headerScore('phone', each, 'leads') > 0.6 &&
              scoreOf('phone', each, 'leads') > SURE,
          )
        : [];
    const damaged = damagedIn(column);
    const from = more.length > 0 ? [column.name, ...more.map(({ name }) => name)] : value.from;
    const comment = damaged
      ? `set this: a spreadsheet has truncated ${damaged} of the numbers; export again`
      : (several ?? passedOver(column, more) ?? commentOf('phone', found, 'leads'));
    return { key, value: { from, apply: [...value.apply, phone] }, comment };
  }

  #timeLine(role: 'created' | 'happened'): Line {
    const key = 'occurred_at';
    const found = this.#draft.roles.get(role);
    if (!found) {
      const what = role === 'created' ? 'when the record was created' : 'when it happened';
      const dates = this.#table.columns.filter(({ date, list }) => date && list === undefined);
      if ((this.#draft.candidates.get(role) ?? []).length === 0 && dates.length > 0) {
        return {
          key,
          value: dateValue(dates[0]!),
          off: true,
          comment: `set this: no column says ${what}, only ${dates.map(quoted).join(', ')}`,
        };
      }
      return this.#open(key, role, what, dateValue);
    }
    const doubt = doubtOf(found.column.date!) ?? unreadText(found.column);
    const why = commentOf(role, found, this.#draft.kind);
    const isComment = role === 'happened' && !/^check|^set this/.test(why);
    return {
      key,
      value: dateValue(found.column),
      comment: doubt ?? `${isComment ? 'check: comments are sorted by it; ' : ''}${why}`,
    };
  }

  #titleLine(): Line {
    const { roles, table } = this.#draft;
    const key = 'title';
    if (roles.has('title')) return this.#plainLine(key, 'title', 'a title');
    const above = table.parent?.columns.filter(
      (each) => each.list === undefined && scoreOf('full', each, 'leads') > 0.5,
    );
    const [name] = (above ?? []).sort((a, b) => scoreOf('full', b, 'leads') - scoreOf('full', a, 'leads'));
    if (name)
      return {
        key,
        value: `$.${name.name}`,
        comment: 'set this: no column has a title, so the name of the record above stands for one',
      };
    return this.#open(key, 'title', 'a title');
  }

  #amountLine(): Line {
    const found = this.#draft.roles.get('amount');
    const key = 'amount';
    if (!found) return this.#open(key, 'amount', 'the amount', (column) => amountValue(column, undefined));
    const { column, others } = found;
    const scale = scaleOf(column);
    const example = column.values.find((each) => /\d[.,]\d{3}$/.test(each)) ?? column.values[0];
    const doubts = [
      ...(scale ? [`read as cents, because ${scale.why}`] : []),
      ...(!scale && isHundreds(column) ? ['all are whole hundreds: if these are cents, add `divide: 100`'] : []),
    ];
    const mark = column.separators?.ambiguous
      ? `set this: in \`${example}\`, \`${column.separators.group}\` is read as the thousands separator`
      : `check: ${[...doubts, figuresOf('amount', column)].join('; ')}`;
    return { key, value: amountValue(column, scale?.divide), comment: `${mark}${nextText(others)}` };
  }

  #currencyLine(): Line {
    const { roles } = this.#draft;
    const found = roles.get('currency');
    const key = 'currency';
    if (found) {
      const { column } = found;
      const isUpper = column.values.every((value) => value === value.toUpperCase());
      return {
        key,
        value: isUpper ? column.name : { from: column.name, apply: ['uppercase'] },
        comment: commentOf('currency', found, 'deals'),
      };
    }
    const { code, figures } = currencyOf(roles.get('amount')?.column);
    if (code !== undefined)
      return { key, value: { value: code }, comment: `set this: no column has the currency, but ${figures}` };
    return { key, value: { value: 'EUR' }, off: true, comment: `set this: ${figures}` };
  }

  #events(): Set<Table> {
    return new Set(this.#known.drafts.map(({ table }) => table));
  }

  /** The owner or author, by the name that another export has for the id. */
  #memberLine(key: string, role: 'owner' | 'author'): { line: Line; name?: Column } {
    const found = this.#draft.roles.get(role);
    if (!found) return { line: this.#open(key, role, role === 'owner' ? 'the owner' : 'the author') };
    const other = nameOf(found.column, this.#known.references, this.#events());
    if (other)
      return {
        line: {
          key,
          value: other.join.value,
          comment: `${other.join.share < 1 ? 'check: ' : ''}${other.join.why}${nextText(found.others)}`,
        },
        name: other.name,
      };
    const isKey = found.column.is.words < 0.8 || found.column.is.uuid > 0.5 || found.column.is.code > 0.8;
    const comment = isKey
      ? `check: these are ids, and no export has their names; ${figuresOf(role, found.column)}${nextText(found.others)}`
      : commentOf(role, found, this.#draft.kind);
    return { line: { key, value: found.column.name, comment }, name: found.column };
  }

  #stageLine(): { line: Line; names: Entry['names'] } {
    const { roles } = this.#draft;
    const found = roles.get('stage');
    const key = 'stage_name';
    if (!found) return { line: this.#open(key, 'stage', 'the stage'), names: [] };
    const { column } = found;
    const other = nameOf(column, this.#known.references, this.#events());
    const value: ValueSpec = other ? other.join.value : column.name;
    const isKey = column.is.digits > 0.9 || column.is.uuid > 0.5;
    const plain = other
      ? `check: ${other.join.why}`
      : isKey
        ? `set this: these are ids, and no export has their names; ${figuresOf('stage', column)}`
        : commentOf('stage', found, 'deals');
    const names: Entry['names'] = [['stages', countsOf(other?.name ?? column)]];
    const outcome = roles.get('outcome');
    if (!outcome) return { line: { key, value, comment: plain }, names };
    const decided = [...countsOf(outcome.column)].filter(([said]) => ['won', 'lost'].includes(endingOf(said) ?? ''));
    const by = quoted(outcome.column);
    if (decided.length === 0) {
      return {
        line: {
          key,
          value,
          comment: `check: ${by} (${[...countsOf(outcome.column).keys()].join(', ')}) may say which deals are won and lost; ${plain.replace(/^check: /, '')}`,
        },
        names,
      };
    }
    const rows = cellsOf([outcome.column, column]);
    const unsaid = rows.filter(([said, stage]) => {
      const end = endingOf(said ?? '');
      return (end === 'won' || end === 'lost') && endingOf(stage ?? '') !== end;
    });
    if (unsaid.length === 0)
      return { line: { key, value, comment: `${plain}; ${by} says the same of won and lost deals` }, names };
    this.#used.add(outcome.column);
    const stageOf = (said: string): string => (endingOf(said) === 'won' ? 'Won' : 'Lost');
    const map = { ...Object.fromEntries(decided.map(([said]) => [said, stageOf(said)])), '*': null };
    const comment = `check: ${numberText(unsaid.length)} deals are won or lost by ${by}, but not by ${quoted(column)}; set the stages that they get`;
    return {
      line: { key, value: { from: [{ from: outcome.column.name, apply: [{ map }] }, value] }, comment },
      names: [...names, ['stages', new Map(decided.map(([said, n]) => [stageOf(said), n]))]],
    };
  }

  /** Offered where some of the stages are those of closed deals, and not all. */
  #priority(): Line[] {
    const column = this.#draft.roles.get('outcome')?.column ?? this.#draft.roles.get('stage')?.column;
    const names = column ? [...countsOf(column).keys()] : [];
    const closed = names.filter((name) => ['won', 'lost'].includes(endingOf(name) ?? ''));
    if (!column || closed.length === 0 || closed.length === names.length) return [];
    const map = { ...Object.fromEntries(closed.map((name) => [name, 0])), '*': 1 };
    return [
      {
        key: 'priority',
        off: true,
        value: { from: column.name, apply: [{ map }] },
        comment: 'remove the `#` to send open deals first, with their people and comments',
      },
    ];
  }

  #joins(kind: 'leads' | 'deals'): Join[] {
    return this.#known.drafts
      .filter((each) => each.kind === kind && each.table !== this.#table)
      .flatMap((target) => joinsTo(this.#draft, target, this.#known))
      .sort((a, b) => b.score - a.score);
  }

  /** The line of a parent: the best join, and where that has no value another one; commented out if none is enough. */
  #parentLine(key: string, kind: 'leads' | 'deals'): Line[] {
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
    for (const each of enough.slice(1)) {
      const adds =
        each.columns.length > 0 &&
        chosen.length < 3 &&
        chosen.every(({ columns }) => columns.length > 0 && !columns.some((column) => each.columns.includes(column)));
      if (adds && this.#gain(chosen, each) > this.#table.rows * 0.05) chosen.push(each);
    }
    if (chosen.length === 1 && best.score > 0.7) for (const column of best.columns) this.#used.add(column);
    const text = [...new Set(chosen.map(({ why }) => why))].join('; ');
    const others = enough.filter(
      (each) =>
        !chosen.includes(each) &&
        each.columns.some((column) => !chosen.some(({ columns }) => columns.includes(column))),
    );
    const next =
      others.length > 0
        ? `; next: ${others
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

  /** Records for which only another join has a value. */
  #gain(chosen: readonly Join[], other: Join): number {
    const without = chosen.flatMap(({ columns }) => columns.map(({ sql }) => `${sql} is null`)).join(' and ');
    return countOf(
      this.#table,
      `from ${this.#table.sql} where ${without} and ${other.columns.map(({ sql }) => `${sql} is not null`).join(' and ')}`,
    );
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
  #commentParents(): Line[] {
    const { drafts } = this.#known;
    const above =
      this.#table.parent && drafts.find((each) => each.table === this.#table.parent && each.kind !== 'comments');
    if (above) return [this.#aboveLine(above.kind === 'deals' ? 'deal_external_id' : 'lead_external_id', above)];
    const byKind = new Map((['deals', 'leads'] as const).map((kind) => [kind, this.#joins(kind)]));
    const typed = this.#typed(byKind);
    if (typed) return typed;
    const lines = [...this.#parentLine('deal_external_id', 'deals'), ...this.#parentLine('lead_external_id', 'leads')];
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
      this.#used.add(id);
      return (['deals', 'leads'] as const).flatMap((kind): Line[] => {
        const values = type.values.get(kind);
        const target = this.#known.drafts.find((each) => each.kind === kind);
        if (!values || !target) return [];
        const escaped = values.map((value) => value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
        const pattern = `^${escaped.length > 1 ? `(?:${escaped.join('|')})` : escaped[0]} (.+)$`;
        const apply: TransformSpec[] = [
          { extract: pattern },
          ...(target.prefix ? [{ prefix: target.prefix.text }] : []),
        ];
        const found = [...countsOf(type.column)]
          .filter(([value]) => values.includes(value))
          .reduce((sum, [, n]) => sum + n, 0);
        const comment = `check: ${numberText(found)} of ${numberText(this.#table.rows)} belong to ${kind} by ${quoted(type.column)}`;
        return [
          {
            key: kind === 'deals' ? 'deal_external_id' : 'lead_external_id',
            value: { template: `{${type.column.name}} {${id.name}}`, apply },
            comment,
          },
        ];
      });
    }
    return undefined;
  }

  #contentLine(): Line {
    const { roles, table } = this.#draft;
    const key = 'content';
    const [content, subject] = [roles.get('content'), roles.get('subject')];
    const texts = [...(subject && subject.score > SURE ? [subject] : []), ...(content ? [content] : [])];
    const columns = texts.map(({ column }) => column);
    const html = columns.some(({ is }) => is.html > 0.05) ? ['html_to_text'] : [];
    if (columns.length === 0) {
      const instead = table.columns.filter(
        (each) =>
          each.list === undefined &&
          each.is.words > 0.8 &&
          !each.date &&
          fillOf(each) > 0.8 &&
          (each.meaning.concepts.has('type') ||
            each.meaning.concepts.has('title') ||
            each.meaning.concepts.has('outcome') ||
            each.meaning.concepts.has('name')),
      );
      if (instead.length === 0) return this.#open(key, 'content', 'the text');
      for (const each of instead.slice(0, 3)) this.#used.add(each);
      return {
        key,
        value: joined(instead.slice(0, 3), ' - ', []),
        comment: 'check: no column has a text, so these stand for one',
      };
    }
    const figures = columns.map((column) => `${quoted(column)} ${figuresOf('content', column)}`).join(', ');
    return {
      key,
      value: joined(columns, '\n\n', html),
      comment: `check: ${figures}${nextText((content ?? subject)!.others)}`,
    };
  }

  /** All columns with values that are not used otherwise. */
  #rest(): Line[] {
    const { table } = this.#draft;
    const lines = new Map<string, Line>();
    const lists = new Set<string>();
    const events = this.#known.drafts.flatMap((each) => (each.table.parent === table ? [each.table.list!] : []));
    for (const column of table.columns) {
      if (column.filled === 0 || (this.#used.has(column) && column.list === undefined)) continue;
      const { list } = column;
      if (
        list !== undefined &&
        (lists.has(list) || events.includes(list) || (this.#used.has(column) && column.several === 0 && isOnly(column)))
      )
        continue;
      if (list !== undefined) lists.add(list);
      const key = keyOf(list ?? column.name);
      const found = list === undefined ? nameOf(column, this.#known.references, this.#events()) : undefined;
      if (found && isCompany(found.name) && !lines.has('company')) {
        lines.set('company', { key: 'company', value: found.join.value, comment: found.join.why });
        continue;
      }
      const unique = lines.has(key) ? `${key}_${lines.size}` : key;
      const comment = column.date && list === undefined ? doubtOf(column.date) : undefined;
      lines.set(unique, { key: unique, value: customValue(column), comment });
    }
    return [...lines.values()];
  }
}

function isCompany({ table, meaning }: Column): boolean {
  return table.nouns.includes('companies') || meaning.concepts.has('company');
}

/** Lists are carried whole: bare values as one text, others as JSON. */
function customValue(column: Column): ValueSpec {
  const { name, list, date } = column;
  if (list !== undefined) return name === list ? { from: list, apply: [{ join: ', ' }] } : { from: list, as: 'json' };
  return date ? dateValue(column, !date.hasTime) : name;
}

/** A list of bare values, of which nothing else is lost. */
function isOnly({ table, list }: Column): boolean {
  return table.columns.filter((each) => each.list === list && each.filled > 0).length === 1;
}

/** A column's name as a key of custom fields: `Closed Lost Reason` and `ClosedLostReason` become `closed_lost_reason`. */
export function keyOf(name: string): string {
  const plain = fold(name).replaceAll(' ', '_').slice(0, 100);
  return plain === '' ? 'field' : plain;
}

function onlyOf<T>(values: readonly T[]): T | readonly T[] {
  return values.length === 1 ? values[0]! : values;
}

function onlyOfFrom(values: readonly ValueSpec[]): ValueSpec {
  return values.length === 1 ? values[0]! : { from: values };
}

function joined(columns: readonly Column[], separator: string, apply: readonly string[]): ValueSpec {
  const [only] = columns;
  if (columns.length > 1) return { list: columns.map(({ name }) => name), apply: [{ join: separator }, ...apply] };
  return apply.length > 0 ? { from: only!.name, apply } : only!.name;
}

function quoted({ name }: Column): string {
  return `\`${name.length > 80 ? `${name.slice(0, 80)}…` : name}\``;
}

/** `30 of 30 numbers`. */
function figuresOf(role: Role, column: Column): string {
  const { filled, distinct, table } = column;
  const of = `${numberText(filled)} of ${numberText(table.rows)}`;
  const years = column.date ? column.values.flatMap((value) => /(?:19|20)\d\d/.exec(value)?.[0] ?? []).sort() : [];
  const span = years.length > 0 ? ` of ${years[0]}${years.at(-1) === years[0] ? '' : ` to ${years.at(-1)}`}` : '';
  const few = ROLES[role].evidence === 'names that repeat' ? `, ${numberText(distinct)} different` : '';
  return `${of} ${column.date ? 'dates' : ROLES[role].evidence}${span}${few}`;
}

function nextText(others: readonly RoleCandidate[], score = 0): string {
  const near = others.filter((each) => each.score > score * 0.4);
  return near.length === 0
    ? ''
    : `; next: ${near
        .slice(0, 2)
        .map(({ column }) => quoted(column))
        .join(', ')}`;
}

/** The evidence for a role, with the runner-up; marked where it is weak or another column comes near. */
function commentOf(role: Role, { column, score, others }: RoleFound, kind: EntryDraft['kind']): string {
  const [next] = others;
  const unnamed = headerScore(role, column, kind) <= 0;
  const doubt = score < SURE || unnamed || (next && score - next.score < 0.1);
  return `${doubt ? 'check: ' : ''}${unnamed ? 'no header names it; ' : ''}${figuresOf(role, column)}${nextText(others, score)}`;
}

/** A value inside a list is the first one. */
function elementOf(column: Column): {
  value: { from: string; apply: readonly TransformSpec[] };
  several: string | undefined;
} {
  if (column.list === undefined) return { value: { from: column.name, apply: [] }, several: undefined };
  const several =
    column.several === 0
      ? undefined
      : `check: ${numberText(column.several)} records have several; the first one is used, all are a custom field`;
  return { value: { from: column.name, apply: [{ at: 0 }] }, several };
}

/** What stands between several e-mail addresses in a cell. */
function separatorIn({ values }: Column): string | undefined {
  return [' ::: ', ';', ','].find((mark) =>
    values.some((value) => value.split(mark).filter((part) => part.includes('@')).length > 1),
  );
}

/** Cells that a spreadsheet has truncated: `3.93E+11`. */
function damagedIn({ is, values }: Column): number {
  return Math.round(is.damaged * values.length);
}

function passedOver(first: Column, others: readonly Column[]): string | undefined {
  if (others.length === 0) return undefined;
  const some = others.map((other) => `(${other.sql} is not null and ${other.sql} <> ${first.sql})`).join(' or ');
  const both = countOf(first.table, `from ${first.table.sql} where ${first.sql} is not null and (${some})`);
  return both === 0
    ? `${numberText(first.filled)} records have the first one`
    : `check: ${numberText(both)} records have several; the others are custom fields`;
}

export function dateValue({ name, date }: Column, asDay = false): ValueSpec {
  const formats = formatsOf(date!);
  const spec = asDay ? { formats, as: 'date' } : date!.utc ? { formats, timezone: 'UTC' } : formats;
  return { from: name, apply: [{ date: spec }] };
}

function unreadText({ date }: Column): string | undefined {
  return date!.unread > 0 ? `check: ${numberText(date!.unread)} of the values match no format` : undefined;
}

function amountValue({ name, values, separators }: Column, divide: number | undefined): ValueSpec {
  const { decimal, group } = separators ?? { decimal: '.' };
  const isPlain = decimal === '.' && group === undefined && values.every((value) => /^-?\d+(?:\.\d+)?$/.test(value));
  if (isPlain && divide === undefined) return name;
  return { from: name, apply: [{ number: { decimal, ...(group && { group }), ...(divide && { divide }) } }] };
}

/** Cents, by the header or because another column has a hundredth of each value. */
function scaleOf(column: Column): { divide: number; why: string } | undefined {
  if (column.is.decimal > 0) return undefined;
  const named = fold(column.name).split(' ');
  if (named.some((word) => /^micros?$/.test(word))) return { divide: 1_000_000, why: 'its name says millionths' };
  if (column.meaning.concepts.has('cents')) return { divide: 100, why: 'its name says so' };
  const other = column.table.columns.find((each) => {
    if (each === column || !each.separators || each.list !== undefined) return false;
    const pairs = cellsOf([column, each]).filter((pair) => pair.every((cell) => cell !== null));
    return (
      pairs.length > 2 &&
      pairs.every(
        ([a, b]) => numberIn(a!, column) > 0 && Math.abs(numberIn(a!, column) - numberIn(b!, each) * 100) < 0.5,
      )
    );
  });
  return other && { divide: 100, why: `${quoted(other)} has a hundredth of it in every record` };
}

function isHundreds({ values, separators }: Column): boolean {
  return (
    !!separators &&
    values.length > 3 &&
    values.every((value) => /^\d+00$/.test(value)) &&
    values.every((value) => Number(value) >= 10_000)
  );
}
