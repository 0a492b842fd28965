/** The lines that only deals have: title, amount, currency, stage. */
import { numberText } from '../../../terminal/numbers.ts';
import type { ValueSpec } from '../../../mapping/spec.ts';
import { cellsOf, countsOf, fillOf } from '../columns.ts';
import { currencyOf, signsIn } from '../currency.ts';
import { amountValue, commentOf, figuresOf, isHundreds, joined, nextText, quoted, scaleOf } from '../evidence.ts';
import { FieldLines } from './field-lines.ts';
import { nameOf } from '../joins.ts';
import { scoreOf } from '../roles.ts';
import { endingOf } from '../words.ts';
import type { Line } from './yaml.ts';

export class DealLines extends FieldLines {
  titleLine(): Line {
    const { roles, table } = this.draft;
    const key = 'title';
    const twin = this.known.drafts.find((each) => each.kind === 'leads' && each.table === table);
    const nameOfPerson = (['full', 'first', 'last'] as const).flatMap((role) => twin?.roles.get(role)?.column ?? []);
    const title = roles.get('title')?.column;
    if (title && !nameOfPerson.includes(title)) return this.plainLine(key, 'title', 'a title');
    const named = (this.draft.candidates.get('title') ?? []).map(({ column }) => column);
    const other = named.find((each) => fillOf(each) > 0.9 && !nameOfPerson.includes(each));
    const instead = twin && other ? [other] : nameOfPerson;
    if (instead.length > 0) {
      const comment = `check: no column has a title, so ${instead.map(quoted).join(', ')} stands for one`;
      return { key, value: joined(instead, ' ', []), comment };
    }
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
    return this.open(key, 'title', 'a title');
  }

  amountLine(): Line {
    const found = this.draft.roles.get('amount');
    const key = 'amount';
    if (!found) return this.open(key, 'amount', 'the amount', (column) => amountValue(column, undefined));
    const { column, others } = found;
    const scale = scaleOf(column);
    const example = column.values.find((each) => /\d[.,]\d{3}$/.test(each)) ?? column.values[0];
    const doubts = [
      ...(scale ? [`divided by ${numberText(scale.divide)}, because ${scale.why}`] : []),
      ...(!scale && isHundreds(column) ? ['all are whole hundreds: if these are cents, add `divide: 100`'] : []),
    ];
    const mark = column.separators?.ambiguous
      ? `set this: in \`${example}\`, \`${column.separators.group}\` is read as the thousands separator`
      : `check: ${[...doubts, figuresOf('amount', column)].join('; ')}`;
    return { key, value: amountValue(column, scale?.divide), comment: `${mark}${nextText(others)}` };
  }

  currencyLine(): Line {
    const { roles } = this.draft;
    const found = roles.get('currency');
    const key = 'currency';
    if (found) {
      const { column } = found;
      const isUpper = column.values.every((value) => value === value.toUpperCase());
      const signs = signsIn(column.values);
      return {
        key,
        value:
          Object.keys(signs).length > 0
            ? { from: column.name, apply: [{ map: { ...signs, '*': '=' } }] }
            : isUpper
              ? column.name
              : { from: column.name, apply: ['uppercase'] },
        comment: commentOf('currency', found, 'deals'),
      };
    }
    const amount = roles.get('amount')?.column;
    const { code, byRow, figures } = currencyOf(amount);
    if (amount && byRow) return { key, value: { from: amount.name, apply: byRow }, comment: `check: ${figures}` };
    if (code !== undefined)
      return { key, value: { value: code }, comment: `set this: no column has the currency, but ${figures}` };
    return { key, value: { value: 'EUR' }, off: true, comment: `set this: ${figures}` };
  }

  stageLine(): Line {
    const { roles } = this.draft;
    const found = roles.get('stage');
    const key = 'stage_name';
    if (!found) return this.open(key, 'stage', 'the stage');
    const { column } = found;
    const other = nameOf(column, this.known.references, this.events(), 'stage');
    const value: ValueSpec = other ? other.join.value : column.name;
    const isKey = column.is.digits > 0.9 || column.is.uuid > 0.5;
    const plain = other
      ? `check: ${other.join.why}`
      : isKey
        ? `check: these are ids, and no export has their names; ${figuresOf('stage', column)}`
        : commentOf('stage', found, 'deals');
    const outcome = roles.get('outcome');
    if (!outcome) return { key, value, comment: plain };
    const decided = [...countsOf(outcome.column)].filter(([said]) => ['won', 'lost'].includes(endingOf(said) ?? ''));
    const by = quoted(outcome.column);
    if (decided.length === 0) {
      return {
        key,
        value,
        comment: `check: ${by} (${[...countsOf(outcome.column).keys()].join(', ')}) may say which deals are won and lost; ${plain.replace(/^check: /, '')}`,
      };
    }
    const rows = cellsOf([outcome.column, column]);
    const unsaid = rows.filter(([said, stage]) => {
      const end = endingOf(said ?? '');
      return (end === 'won' || end === 'lost') && endingOf(stage ?? '') !== end;
    });
    if (unsaid.length === 0) return { key, value, comment: `${plain}; ${by} says the same of won and lost deals` };
    this.used.add(outcome.column);
    const stageOf = (said: string): string => (endingOf(said) === 'won' ? 'Won' : 'Lost');
    const map = { ...Object.fromEntries(decided.map(([said]) => [said, stageOf(said)])), '*': null };
    const comment = `check: ${numberText(unsaid.length)} deals are won or lost by ${by}, but not by ${quoted(column)}; set the stages that they get`;
    return { key, value: { from: [{ from: outcome.column.name, apply: [{ map }] }, value] }, comment };
  }

  /** Offered where some of the stages are those of closed deals, and not all. */
  priority(): Line[] {
    const column = this.draft.roles.get('outcome')?.column ?? this.draft.roles.get('stage')?.column;
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
}
