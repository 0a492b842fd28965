/** The lines that only deals have: title, amount, currency, stage. */
import { numberText, ofText } from '../../../report/words/numbers.ts';
import { currencyOfCountry, hasCents, isCurrency } from '../../../kinds/currencies.ts';
import { columnsOf } from '../matrix/assign.ts';
import {
  cellsOf,
  countsOf,
  fillOf,
  holderOf,
  isComplete,
  isKey,
  plainColumns,
  valueIn,
  type Column,
  type Table,
} from '../columns.ts';
import {
  amountValue,
  commentOf,
  currencyOf,
  signsIn,
  figuresOf,
  isHundreds,
  nextText,
  quoted,
  scaleOf,
  textsAmong,
  TRUE,
  unitOf,
  type Scale,
} from '../evidence.ts';
import type { TransformSpec, ValueSpec } from '../../../mapping/spec.ts';
import { milestones, titles } from '../matrix/content.ts';
import { endsIn, outcomes } from '../matrix/ends.ts';
import { headerScore, isOfFirm, NAMES } from '../matrix/roles.ts';
import { numberIn, multipleIn } from '../multiples.ts';
import { grossOf } from '../relations/derived.ts';
import { joined, placeholder } from '../relations/lookups.ts';
import { endingOf, fold } from '../words.ts';
import { namedLine, openLine, plainLine, type Context, type Made } from './field-lines.ts';
import { plainComment, type Line } from './yaml.ts';

export function titleLine(context: Context): Made {
  const { roles, candidates, table } = context.draft;
  const twin = context.draft.twin && context.known.drafts.find((each) => each.kind === 'lead' && each.table === table);
  const nameOfPerson = columnsOf(twin ? twin.roles : undefined, ...NAMES);
  const title = roles.get('title')?.column;
  if (title && !nameOfPerson.includes(title)) return plainLine(context, 'title');
  const named = (candidates.get('title') ?? []).map(({ column }) => column);
  const other = named.find((each) => fillOf(each) > 0.9 && !nameOfPerson.includes(each) && (twin || isOfFirm(each)));
  const instead = other ? [other] : nameOfPerson;
  if (instead.length > 0) {
    const comment = `check: no column has a title, so ${instead.map(quoted).join(', ')} is used instead`;
    return { value: joined(instead, ' '), comment };
  }
  const above = context.known.drafts.find((each) => each.kind === 'lead' && each.table === table.parent);
  const names = columnsOf(above?.roles, ...NAMES).map(({ name }) => `$.${name}`);
  if (names.length === 0) return openLine(context, 'title');
  const comment = 'set this: no column has a title, so the name of the record that contains the deal is used';
  return { value: names.length === 1 ? names[0]! : { list: names, apply: [{ join: ' ' }] }, comment };
}

export function amountLine(context: Context): Made {
  const found = context.draft.roles.get('amount');
  if (!found) return openLine(context, 'amount', (column) => amountValue(column, scaleOf(column)));
  const { column, others } = found;
  const currency = context.draft.roles.get('currency')?.column;
  const codes = new Set(currency?.values ?? [currencyOf(column).code ?? '']);
  const whole = [...codes].filter((code) => isCurrency(code) && !hasCents(code));
  const isWhole = whole.length === codes.size;
  const scale = isWhole ? undefined : scaleOf(column);
  const unit = scale || isWhole ? undefined : unitOf(column);
  const example = column.values.find((each) => /\d[.,]\d{3}$/.test(each)) ?? column.values[0];
  const doubts = [
    ...(scale ? [scaleText(column, scale)] : []),
    ...(scale?.divide && whole.length > 0 ? [`amounts in ${whole.join(', ')} have no cents`] : []),
    ...(unit && unit.others > 0
      ? [`${quoted(unit.column)} is not \`${unit.name}\` in ${numberText(unit.others)}`]
      : []),
    ...(unit?.others === 0 ? [`${quoted(unit.column)} is \`${unit.name}\`, but the amounts have decimals`] : []),
    ...(!scale && !unit && !isWhole && isHundreds(column)
      ? ['all are multiples of 100: if they are cents, add `divide: 100`']
      : []),
  ];
  const gross = grossOf(column);
  if (gross && !gross.meaning.concepts.has('base'))
    doubts.push(`${quoted(gross)} is always the same multiple of it, as if tax were added`);
  const texts = textsAmong(column);
  if (texts.length > 0)
    doubts.push(
      `${texts.map((text) => `\`${text}\``).join(', ')} ${texts.length === 1 ? 'is not an amount' : 'are not amounts'}`,
    );
  const multiples = column.values.filter((value) => multipleIn(value));
  if (multiples.length > 0) {
    const [first] = multiples;
    doubts.push(
      `${ofText(multiples.length, column.values.length)} have a unit such as \`${multipleIn(first!)!.mark}\`: \`${first}\` becomes ${numberIn(first!, column)}`,
    );
  }
  const isMixed = unit !== undefined || (scale !== undefined && (multiples.length > 0 || whole.length > 0));
  const mark =
    column.separators?.ambiguous && !isWhole
      ? `set this: in \`${example}\`, \`${column.separators.group}\` is read as the thousands separator`
      : `${isMixed ? 'set this' : 'check'}: ${[...doubts, figuresOf('amount', column), ...(doubts.length > 0 ? [] : [ANY_AMOUNT])].join('; ')}`;
  return { value: amountValue(column, scale), comment: `${mark}${nextText(others)}` };
}

/** What is doubtful about every amount. */
const ANY_AMOUNT = 'it may be net or gross, planned or final';

function scaleText(column: Column, { divide, multiply, why }: Scale): string {
  if (divide) return `divided by ${numberText(divide)}, because ${why}`;
  const example = column.values[0]!;
  return `multiplied by ${numberText(multiply!)}, because ${why}: ${example} becomes ${numberIn(example, column) * multiply!}`;
}

export function currencyLine({ draft: { roles, candidates }, known }: Context): Made {
  const found = roles.get('currency');
  if (found) {
    const { values } = found.column;
    const signs = signsIn(values);
    const isUpper = values.every((value) => value === value.toUpperCase());
    const apply: TransformSpec | undefined =
      Object.keys(signs).length > 0 ? { map: { ...signs, '*': '=' } } : isUpper ? undefined : 'uppercase';
    return { value: valueIn(found.column, ...(apply ? [apply] : [])), comment: commentOf('currency', found, 'deal') };
  }
  const amount = (roles.get('amount') ?? candidates.get('amount')?.[0])?.column;
  const { country } = known;
  const local = country && currencyOfCountry(country);
  const { code = local, able, byRow, figures } = currencyOf(amount, local);
  if (amount && byRow) return { value: valueIn(amount, ...byRow), comment: `check: ${figures}` };
  if (code === undefined) {
    const several = able ? `, which may be ${able.join(', ')}` : '';
    return { value: { value: able?.[0] ?? 'EUR' }, off: true, comment: `set this: ${figures}${several}` };
  }
  const where = code === local && able?.length !== 1 ? `; the exports seem to be from ${country!}` : '';
  return {
    value: { value: code },
    comment: `set this: ${able ? 'no column has the currency, but ' : ''}${figures}${where}`,
  };
}

/** The values of a column that say that a deal was won or lost, and which. */
function endedIn(column: Column): Map<string, 'won' | 'lost'> {
  return new Map([...endsIn(column)].flatMap(([value, end]) => (end === 'open' ? [] : [[value, end] as const])));
}

export function stageLine(context: Context): Made {
  const { roles } = context.draft;
  const [found, outcome] = [roles.get('stage'), roles.get('outcome')?.column];
  const line = namedLine(context, 'stage');
  if (!found) return endsByFlags(context) ?? lastMilestone(context) ?? nameAround(context) ?? line;
  const said = outcome ? [...countsOf(outcome).keys()] : [];
  const ends = outcome ? endedIn(outcome) : new Map<string, never>();
  if (!outcome || ends.size === 0) {
    const byFlags = endsByFlags(context, { line, column: found.column });
    if (byFlags) return byFlags;
    const isEndOnly = !outcome && found.others.length > 0 && outcomes(found.column) > 0.5;
    if (!outcome && !isEndOnly) return line;
    const doubt = outcome
      ? `${quoted(outcome)} (${said.join(', ')}) may say which deals are won or lost`
      : 'it says only how deals ended';
    return { ...line, comment: `check: ${doubt}; ${plainComment(line)}` };
  }
  const by = quoted(outcome);
  const unsaid = cellsOf([outcome, found.column]).filter(
    ([end, stage]) => ends.has(end ?? '') && endingOf(stage ?? '') !== ends.get(end!),
  );
  if (unsaid.length === 0) return { ...line, comment: `${line.comment}; ${by} agrees about won and lost deals` };
  context.used.add(outcome);
  const became = [...ends].map(([value, end]) => [value, end === 'won' ? 'Won' : 'Lost'] as const);
  const map = { ...Object.fromEntries(became), '*': null };
  const stages = [...new Set(became.map(([, stage]) => `\`${stage}\``))].join(' or ');
  const others = said.filter((each) => !ends.has(each)).slice(0, 3);
  const rest =
    others.length === 0 ? 'deals without one' : `deals with ${others.map((each) => `\`${each}\``).join(', ')}`;
  const comment = `check: ${by} says that ${numberText(unsaid.length)} deals are won or lost, but ${quoted(found.column)} does not: their stage becomes ${stages}; ${rest} keep ${quoted(found.column)}`;
  return { value: { from: [valueIn(outcome, { map }), line.value] }, comment };
}

/** Flags that say how a deal ended: `won`, `lost`, any that just those have why they were lost, and of `closed` those not won. */
function endFlags({ columns }: Table) {
  const whys = columns.filter(
    ({ meaning, filled, name }) =>
      meaning.concepts.has('reason') &&
      filled > 0 &&
      fold(name)
        .split(' ')
        .some((word) => endingOf(word) === 'lost'),
  );
  const flags = columns.flatMap((column) => {
    const { list, is, name, distinct } = column;
    // What all have accepted is a condition, not an offer.
    if (list !== undefined || is.flag < 0.9 || (distinct === 1 && isComplete(column))) return [];
    const values = [...countsOf(column).keys()];
    const [yes, no] = [values.filter((value) => TRUE.test(value)), values.filter((value) => !TRUE.test(value))];
    const areLost = ([value]: readonly string[]): boolean =>
      whys.some((why) => cellsOf([column, why]).every(([cell, text]) => (cell === value) === (text !== null)));
    if (areLost(yes)) return [{ column, end: 'lost' as const, yes, no }];
    if (areLost(no)) return [{ column, end: 'lost' as const, yes: no, no: yes }];
    const end = endingOf(meaningfulPart(name)) ?? (column.meaning.concepts.has('closed') ? 'closed' : undefined);
    return yes.length > 0 ? [{ column, end, yes, no }] : [];
  });
  const flagged = (columns: readonly Column[], from: ValueSpec, texts: readonly string[], end: 'won' | 'lost') => {
    const map = { ...Object.fromEntries(texts.map((text) => [text, end === 'won' ? 'Won' : 'Lost'])), '*': null };
    const value: ValueSpec = { ...(typeof from === 'string' ? { from } : from), apply: [{ map }] };
    return { columns, value, end, isEnded: (cells: readonly (string | null)[]) => texts.includes(cells.join(' ')) };
  };
  const ends = flags.flatMap(({ column, end, yes }) =>
    end === 'won' || end === 'lost' ? [flagged([column], column.name, yes, end)] : [],
  );
  const [won, closed] = [flags.find(({ end }) => end === 'won'), flags.find(({ end }) => end === 'closed')];
  if (!won || !closed || ends.length > 1) return ends;
  const both = closed.yes.flatMap((one) => won.no.map((other) => `${one} ${other}`));
  const template = `${placeholder(closed.column)} ${placeholder(won.column)}`;
  return [...ends, flagged([closed.column, won.column], { template }, both, 'lost')];
}

/** How deals ended by flags; where a column has their stages, only if it does not say so. */
function endsByFlags({ draft: { table }, used }: Context, stage?: { line: Made; column: Column }): Made | undefined {
  const flags = endFlags(table).filter(
    ({ columns, isEnded, end }) =>
      !stage ||
      cellsOf([...columns, stage.column]).some(
        (cells) => isEnded(cells.slice(0, -1)) && endingOf(cells.at(-1) ?? '') !== end,
      ),
  );
  if (flags.length === 0) return undefined;
  const columns = [...new Set(flags.flatMap((each) => each.columns))];
  for (const column of columns) used.add(column);
  const figures = columns.map((column) => `${quoted(column)} ${figuresOf('outcome', column)}`).join(', ');
  const from = flags.map(({ value }) => value);
  if (!stage)
    return {
      value: { from, default: 'Open' },
      comment: `check: no column has the stage, only how deals ended: ${figures}`,
    };
  const comment = `check: ${figures} show which deals are won or lost, but ${quoted(stage.column)} does not; other deals keep ${quoted(stage.column)}`;
  return { value: { from: [...from, stage.line.value as ValueSpec] }, comment };
}

/** Where each stage has a column with its day: the last one that a deal has. */
function lastMilestone({ draft: { table } }: Context): Made | undefined {
  const days = milestones(table);
  if (days.length === 0) return undefined;
  const from = days.toReversed().map(({ name }) => ({ from: name, apply: [{ map: { '*': name } }] }));
  const figures = days.map((day) => `${quoted(day)} ${numberText(day.filled)}`).join(', ');
  return {
    value: { from },
    comment: `check: no column has the stage, only dates of stages: the last stage with a date is used: ${figures}`,
  };
}

/** The name of what has the list of these deals, and is no record itself: a column of a board. */
function nameAround({ draft: { table }, known }: Context): Made | undefined {
  const around = table.list === undefined ? undefined : holderOf(table, known.tables);
  if (!around || known.drafts.some((each) => each.table === around) || around.rows > table.rows / 2) return undefined;
  const isName = (column: Column): boolean =>
    isKey(column) && column.is.words > 0.8 && column.is.uuid < 0.5 && titles(column) > 0;
  const named = plainColumns(around).filter(isName);
  const column =
    named.find((each) => headerScore('stage', each, 'deal') > 0 || each.meaning.concepts.has('name')) ?? named[0];
  if (!column) return undefined;
  const value = `${around.list === undefined ? '$.' : '..'}${column.name}`;
  return {
    value,
    comment: `check: no column has the stage, so the name of the record that contains these lists is used: ${figuresOf('stage', column)}`,
  };
}

/** `is_won`, `IsLost`. */
function meaningfulPart(name: string): string {
  return name.replace(/^.*\./s, '').replace(/^(?:is|was)_?/i, '');
}

/** Offered where some of the stages are those of closed deals, and not all. */
export function priorityLine({ draft: { roles } }: Context): Line[] {
  const column = (roles.get('outcome') ?? roles.get('stage'))?.column;
  const closed = column ? [...endedIn(column).keys()] : [];
  if (!column || closed.length === 0 || closed.length === countsOf(column).size) return [];
  const map = { ...Object.fromEntries(closed.map((name) => [name, 0])), '*': 1 };
  const value = valueIn(column, { map });
  const comment = 'remove the `#` to send open deals first, with their people and comments';
  return [{ key: 'priority', off: true, value, comment }];
}
