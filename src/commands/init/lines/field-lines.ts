/** The lines of single fields: the column of the role with its evidence, or the candidates. */
import { numberText } from '../../../terminal/numbers.ts';
import type { TransformSpec } from '../../../mapping/spec.ts';
import { SURE } from '../assign.ts';
import { countOf, fillOf, isComplete, isUnique, type Column, type Table } from '../columns.ts';
import { doubtOf } from '../dates.ts';
import {
  commentOf,
  damagedIn,
  dateValue,
  elementOf,
  figuresOf,
  joined,
  nextText,
  NONE,
  passedOver,
  quoted,
  separatorIn,
  unreadText,
} from '../evidence.ts';
import type { EntryDraft } from '../guess.ts';
import { idValue, nameOf, reach, reachTyped, type KnownTables } from '../joins.ts';
import { isCountry } from '../region.ts';
import { headerScore, scoreOf, type Role } from '../roles.ts';
import { isByChance } from './references.ts';
import type { Line } from './yaml.ts';

/** `Rossi, Anna` */
const REVERSED = /^\p{Lu}[\p{L}'’ .-]*, *\p{Lu}[\p{L}'’ .-]*$/u;

export class FieldLines {
  protected readonly draft: EntryDraft;
  protected readonly table: Table;
  protected readonly known: KnownTables;
  /** Columns that need not be carried otherwise, to be added to. */
  protected readonly used: Set<Column>;

  constructor(draft: EntryDraft, known: KnownTables, used: Set<Column>) {
    this.draft = draft;
    this.table = draft.table;
    this.known = known;
    this.used = used;
  }

  idLine(): Line {
    const { roles, key, prefix, kind, table } = this.draft;
    const value = idValue(this.draft) ?? table.columns[0]!.name;
    const line = (comment: string): Line => ({ key: 'external_id', value, comment });
    const column = key?.column;
    if (!column) return line(`set this: ${key?.why ?? 'no column has a unique id'}`);
    const referred = this.known.references
      .filter((each) => each.to === column && !isByChance(each))
      .map(({ from }) => from.table.source);
    const by = [...new Set(referred.filter((source) => source !== table.source))].slice(0, 3);
    const figures = `unique in all ${numberText(column.filled)} records${by.length > 0 ? `, referred to by ${by.join(', ')}` : ''}`;
    if (prefix && kind !== 'deals') return line(`check: ${prefix.why}, so these have a prefix`);
    if (column.is.damaged > 0) {
      return line(
        `set this: a spreadsheet has truncated ${damagedIn(column)} ids (3.93E+11); export again without opening the file in a spreadsheet`,
      );
    }
    if (key.repeats)
      return line(`check: ${numberText(column.distinct)} people in ${numberText(column.filled)} records`);
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
  plainLine(key: string, role: Role, what: string): Line {
    const found = this.draft.roles.get(role);
    if (!found) return this.open(key, role, what);
    return { key, value: found.column.name, comment: commentOf(role, found, this.draft.kind) };
  }

  /** A role that is left open. */
  open(key: string, role: Role, what: string, value: (column: Column) => unknown = ({ name }) => name): Line {
    const candidates = this.draft.candidates.get(role) ?? [];
    const [first] = candidates;
    if (!first) return { key, value: NONE, off: true, comment: `no column looks like ${what}` };
    const list = candidates.map(({ column }) => `${quoted(column)} (${figuresOf(role, column)})`).join(', ');
    return {
      key,
      value: value(first.column),
      off: true,
      comment: `set this: candidates for ${what}: ${list}`,
    };
  }

  nameLine(): Line {
    const { roles } = this.draft;
    const [first, last] = [roles.get('first'), roles.get('last')];
    const key = 'full_name';
    const whole = roles.get('full')?.column;
    const fallback = this.#fallback(first && last ? [first.column, last.column] : whole ? [whole] : []);
    if (fallback) return { key, ...fallback };
    if (first && last) {
      const value = { list: [first.column.name, last.column.name], apply: [{ join: ' ' }] };
      const worst = first.score < last.score ? first : last;
      return { key, value, comment: commentOf(worst === first ? 'first' : 'last', { ...worst, others: [] }, 'leads') };
    }
    const full = roles.get('full')?.column;
    const reversed = full?.values.filter((value) => REVERSED.test(value)).length ?? 0;
    if (full && full.list === undefined && reversed > 0.8 * full.values.length) {
      const replace = { pattern: '^([^,]+), *([^,]+)$', with: '$2 $1' };
      const why = `check: ${numberText(reversed)} of ${numberText(full.values.length)} are written last name, first name, and are reversed`;
      return { key, value: { from: full.name, apply: [{ replace }] }, comment: why };
    }
    return this.plainLine(key, 'full', 'the names of people');
  }

  /** The names, and what stands for them in records that have none: a whole name, or of most people their company. */
  #fallback(names: readonly Column[]): Pick<Line, 'value' | 'comment'> | undefined {
    const { table } = this;
    const without = `from ${table.sql} where ${names.map(({ sql }) => `${sql} is null`).join(' and ')}`;
    const countIn = ({ sql }: Column): number => countOf(table, `${without} and ${sql} is not null`);
    const able = table.columns.filter(
      (column) =>
        column.is.words > 0.8 &&
        column.is.flag < 0.5 &&
        column.list === undefined &&
        !names.includes(column) &&
        !column.meaning.concepts.has('id') &&
        (column.meaning.concepts.has('company') || headerScore('full', column, 'leads') > 0.7),
    );
    const [best] = able.map((column) => ({ column, count: countIn(column) })).sort((a, b) => b.count - a.count);
    if (names.length === 0 || !best || best.count < table.rows * 0.05) return undefined;
    this.used.add(best.column);
    const comment = `check: ${numberText(best.count)} of ${numberText(table.rows)} have no name, so ${quoted(best.column)} stands for it`;
    return { value: { from: [joined(names, ' ', []), best.column.name] }, comment };
  }

  emailLine(): Line {
    const found = this.draft.roles.get('email');
    const key = 'email';
    if (!found) return this.#fromElsewhere(key, 'email') ?? this.open(key, 'email', 'the e-mail addresses');
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

  /** The address or number that a table has which becomes no event. */
  #fromElsewhere(key: string, role: 'email' | 'phone'): Line | undefined {
    const { tables, drafts, references } = this.known;
    const { table } = this;
    const id = this.draft.roles.get('id')?.column;
    const able = tables.filter(
      (each) =>
        each.list === undefined &&
        !drafts.some((draft) => draft.table === each) &&
        !each.nouns.includes('users') &&
        !each.nouns.includes('companies'),
    );
    const [best] = able
      .flatMap(({ columns }) => columns.map((column) => ({ column, score: scoreOf(role, column, 'leads') })))
      .filter(({ score }) => score > 0.8)
      .sort((a, b) => b.score - a.score);
    const way = reachTyped(table, id, role, this.known) ?? (best && reach(table, id, best.column, references, tables));
    const apply = [role === 'email' ? 'lowercase' : 'phone'];
    return way && { key, value: { from: way.value, apply }, comment: `check: ${way.why}` };
  }

  phoneLine(): Line {
    const { roles, table } = this.draft;
    const found = roles.get('phone');
    const key = 'phone_number';
    if (!found)
      return (
        this.#fromElsewhere(key, 'phone') ??
        this.open(key, 'phone', 'the phone numbers', ({ name }) => ({ from: name, apply: ['phone'] }))
      );
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

  timeLine(role: 'created' | 'happened'): Line {
    const key = 'occurred_at';
    const found = this.draft.roles.get(role);
    if (!found) {
      const what = role === 'created' ? 'when the record was created' : 'when it happened';
      const dates = this.table.columns.filter(({ date, list }) => date && list === undefined);
      if ((this.draft.candidates.get(role) ?? []).length === 0 && dates.length > 0) {
        return {
          key,
          value: dateValue(dates[0]!),
          off: true,
          comment: `set this: no column says ${what}, only ${dates.map(quoted).join(', ')}`,
        };
      }
      return this.open(key, role, what, dateValue);
    }
    const doubt = doubtOf(found.column.date!) ?? unreadText(found.column);
    const why = commentOf(role, found, this.draft.kind);
    const isComment = role === 'happened' && !/^check|^set this/.test(why);
    return {
      key,
      value: dateValue(found.column),
      comment: doubt ?? `${isComment ? 'check: comments are sorted by it; ' : ''}${why}`,
    };
  }

  /** The owner, author or pipeline, by the name that another export has for the id. */
  namedLine(key: string, role: 'owner' | 'author' | 'pipeline'): Line {
    const found = this.draft.roles.get(role);
    if (!found) return this.open(key, role, `the ${role}`);
    const other = nameOf(found.column, this.known.references, this.events(), role);
    if (other) {
      const { value, share, why } = other.join;
      return { key, value, comment: `${share < 1 ? 'check: ' : ''}${why}${nextText(found.others)}` };
    }
    const isKey = found.column.is.words < 0.8 || found.column.is.uuid > 0.5 || found.column.is.code > 0.8;
    const comment = isKey
      ? `check: these are ids, and no export has their names; ${figuresOf(role, found.column)}${nextText(found.others)}`
      : commentOf(role, found, this.draft.kind);
    return { key, value: found.column.name, comment };
  }

  contentLine(): Line {
    const { roles, table } = this.draft;
    const key = 'content';
    const [content, subject] = [roles.get('content'), roles.get('subject')];
    const texts = [...(subject && subject.score > SURE ? [subject] : []), ...(content ? [content] : [])];
    const columns = texts.map(({ column }) => column);
    const html = columns.some(({ is }) => is.html > 0.05) ? ['html_to_text'] : [];
    const instead = table.columns
      .filter(
        (each) =>
          each.list === undefined &&
          !columns.includes(each) &&
          each.is.words > 0.8 &&
          !each.date &&
          fillOf(each) > 0.8 &&
          (['type', 'title', 'outcome', 'name'] as const).some((concept) => each.meaning.concepts.has(concept)),
      )
      .slice(0, 3);
    if (columns.length === 0) {
      if (instead.length === 0) return this.open(key, 'content', 'the text');
      for (const each of instead) this.used.add(each);
      return {
        key,
        value: joined(instead, ' - ', []),
        comment: `check: no column has a text, so these stand for one: ${instead.map(quoted).join(', ')}`,
      };
    }
    const without = table.rows - Math.max(...columns.map(({ filled }) => filled));
    const outcome = instead.find((each) => isComplete(each) && each.meaning.concepts.has('outcome'));
    if (without > table.rows * 0.1 && outcome) {
      this.used.add(outcome);
      return {
        key,
        value: { from: [joined(columns, '\n\n', html), outcome.name] },
        comment: `check: ${numberText(without)} of ${numberText(table.rows)} have no text, so ${quoted(outcome)} stands for it`,
      };
    }
    const figures = columns.map((column) => `${quoted(column)} ${figuresOf('content', column)}`).join(', ');
    return {
      key,
      value: joined(columns, '\n\n', html),
      comment: `check: ${figures}${nextText((content ?? subject)!.others)}`,
    };
  }

  events(): Set<Table> {
    return new Set(this.known.drafts.map(({ table }) => table));
  }
}
