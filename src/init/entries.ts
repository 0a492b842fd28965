/** Writes the entries for exports that match no preset. */
import type { ExportColumn } from './head.ts';
import { currencyOf } from './currency.ts';
import { dateText } from './dates.ts';
import type { Guess, ColumnRole } from './guess.ts';
import { ownerJoin, parentLine, parentOf, type Parent } from './parents.ts';
import { countNames, type CrmNames } from './names.ts';
import { entryText, type EntryLine } from './entry-text.ts';
import { keyOf } from './value-text.ts';

export interface NamedGuess extends Guess {
  /** Its name in `sources`. */
  readonly source: string;
  /** Added to its ids, which are also those of records of another export, and why. */
  readonly prefix: { readonly text: string; readonly why: string } | undefined;
}

/** Maximum number of custom fields per entry. */
const MAX_CUSTOM = 40;

/** The entry for one export as YAML below `events:`; undefined if it is for lookups or not recognised. */
export function guessedEntry(guess: NamedGuess, all: readonly NamedGuess[], names: CrmNames): string | undefined {
  if (guess.kind === 'leads') return leadText(guess);
  if (guess.kind === 'deals') return dealText(guess, all, names);
  return guess.kind === 'comments' ? commentText(guess, all) : undefined;
}

function leadText(guess: NamedGuess): string {
  const { roles } = guess;
  const first = roles.get('first_name');
  const last = roles.get('last_name');
  const full = roles.get('full_name');
  const parts = [first, last].flatMap((column) => (column ? [column.name] : []));
  const name = parts.length > 0 ? { list: parts, apply: [{ join: ' ' }] } : full?.name;
  const used = new Set([first, last, parts.length > 0 ? undefined : full]);
  return entryText('lead/created', guess.source, head(guess), [
    idLine(guess),
    ...(name === undefined ? [] : [{ key: 'full_name', value: name }]),
    ...contactLines(guess),
    customLine(guess, 'custom_params', used),
  ]);
}

function contactLines({ roles }: NamedGuess): EntryLine[] {
  const email = roles.get('email');
  const phone = roles.get('phone');
  const damaged = phone?.facts.damaged;
  return [
    ...(email ? [{ key: 'email', value: { from: email.name, apply: ['lowercase'] } }] : []),
    ...(phone
      ? [
          {
            key: 'phone_number',
            value: { from: phone.name, apply: ['phone'] },
            comment: damaged
              ? `set this: a spreadsheet has truncated ${damaged} of the numbers; export again`
              : undefined,
          },
        ]
      : []),
  ];
}

function dealText(guess: NamedGuess, all: readonly NamedGuess[], names: CrmNames): string {
  const { roles } = guess;
  const [title, stage, pipeline, owner] = (['title', 'stage', 'pipeline', 'owner'] as const).map((role) =>
    roles.get(role),
  );
  const leads = all.filter(({ kind }) => kind === 'leads');
  const staff = ownerJoin(guess, all);
  const parent = parentOf(guess, leads);
  const used = new Set([title, stage, pipeline, owner, parent.found?.join.column, staff?.column]);
  countNames(names.stages, stage);
  countNames(names.pipelines, pipeline);
  countNames(names.owners, staff ? staff.email : owner);
  return entryText(
    'deal/created',
    guess.source,
    [
      ...(pipeline && stage ? [{ key: 'stage_pipeline', value: pipeline.name }] : []),
      ...head(guess),
      ...priority(stage),
    ],
    [
      idLine(guess),
      ...(title ? [{ key: 'title', value: title.name }] : []),
      ...amountLine(roles.get('amount')),
      currencyLine(roles),
      ...parentLine('lead_external_id', parent, 'deals'),
      ...(stage ? [{ key: 'stage_name', value: stage.name }] : []),
      ...(staff ? [staff.line] : owner ? [{ key: 'owner_name', value: owner.name }] : []),
      customLine(guess, 'custom_fields', used),
    ],
  );
}

/** Whole words of a stage's name that say that its deals are closed. */
const CLOSED =
  /(?:^|[^\p{L}])(?:closed|won|lost|chius[oai]|vint[oaie]|pers[oaie]|gewonnen|verloren|abgeschlossen|gagnée?s?|perdue?s?|ganad[oa]s?|perdid[oa]s?|cerrad[oa]s?)(?:$|[^\p{L}])/iu;

/** Offered where some of the stages are those of closed deals, and not all. */
function priority(stage: ExportColumn | undefined): EntryLine[] {
  const stages = [...new Set(stage?.values)];
  const closed = stages.filter((name) => CLOSED.test(name));
  if (!stage || closed.length === 0 || closed.length === stages.length) return [];
  const map = Object.fromEntries([...closed.map((name) => [name, 0]), ['*', 1]]) as Record<string, number>;
  const comment = 'remove the `#` to send open deals first, with their people and comments';
  return [{ key: '# priority', value: { from: stage.name, apply: [{ map }] }, comment }];
}

function commentText(guess: NamedGuess, all: readonly NamedGuess[]): string {
  const { roles } = guess;
  const content = roles.get('content');
  const author = roles.get('author');
  const parents = (['deals', 'leads'] as const).flatMap((kind): [string, Parent][] => {
    const search = parentOf(
      guess,
      all.filter((other) => other.kind === kind),
    );
    return [[kind === 'deals' ? 'deal_external_id' : 'lead_external_id', search]];
  });
  const found = parents.filter(([, { found }]) => found !== undefined);
  const value = content?.facts.html ? { from: content.name, apply: ['html_to_text'] } : (content?.name ?? 'Text');
  return entryText(
    'comment/created',
    guess.source,
    [...(found.length === 2 ? [{ key: 'if_both', value: 'deal' }] : []), ...head(guess)],
    [
      ...(roles.has('id') ? [idLine(guess)] : []),
      { key: 'content', value, comment: content ? undefined : 'set this: the column with the text' },
      ...(author ? [{ key: 'author_name', value: author.name }] : []),
      ...(found.length === 0
        ? [
            {
              key: 'lead_external_id',
              value: 'Lead ID',
              comment: 'set this: no column contains the id of its lead or deal',
            },
          ]
        : []),
      ...parents.flatMap(([key, search]) => parentLine(key, search, 'comments')),
    ],
  );
}

function head({ roles }: NamedGuess): EntryLine[] {
  const created = roles.get('created');
  return created ? [{ key: 'occurred_at', ...dateValue(created, false) }] : [];
}

function dateValue({ name, facts }: ExportColumn, asDay: boolean): { value: unknown; comment: string | undefined } {
  const { formats, ambiguous } = facts.date!;
  const one = formats.length === 1 ? formats[0] : formats;
  const value = { from: name, apply: [{ date: asDay ? { formats: one, as: 'date' } : one }] };
  if (!ambiguous) return { value, comment: undefined };
  const { example, other } = ambiguous;
  const readings = `${example} is read as ${dateText(example, formats[0]!)}; with ${other} it would be ${dateText(example, other)}`;
  return { value, comment: `set this: ${readings}` };
}

function idLine({ roles, prefix }: NamedGuess): EntryLine {
  const id = roles.get('id');
  if (!id) return { key: 'external_id', value: 'ID', comment: 'set this: no column has a unique id' };
  const { facts } = id;
  if (prefix) {
    const value = { from: id.name, apply: [{ prefix: prefix.text }] };
    return { key: 'external_id', value, comment: `check: ${prefix.why}` };
  }
  if (facts.damaged > 0) {
    return {
      key: 'external_id',
      value: id.name,
      comment: `set this: a spreadsheet has truncated ${facts.damaged} ids (3.93E+11); export again without opening the file in a spreadsheet`,
    };
  }
  if (facts.email)
    return {
      key: 'external_id',
      value: id.name,
      comment: 'set this: no id column found, so the e-mail address is used',
    };
  return {
    key: 'external_id',
    value: id.name,
    comment: facts.unique ? undefined : 'set this: some of these ids occur more than once',
  };
}

function amountLine(column: ExportColumn | undefined): EntryLine[] {
  if (!column) return [];
  const { decimal, group, ambiguous } = column.facts.number!;
  const value = { from: column.name, apply: [{ number: group === '' ? { decimal } : { decimal, group } }] };
  const example = column.values.find((each) => /\d[.,]\d{3}$/.test(each)) ?? column.values[0];
  const comment = ambiguous
    ? `set this: in \`${example}\`, \`${group}\` is read as the thousands separator`
    : undefined;
  return [{ key: 'amount', value, comment }];
}

function currencyLine(roles: Guess['roles']): EntryLine {
  const column = roles.get('currency');
  if (column) return { key: 'currency', value: column.name };
  const found = currencyOf(roles.get('amount'));
  if ('why' in found) return { key: '# currency', value: { value: 'EUR' }, comment: `set this: ${found.why}` };
  const comment = `set this: no column contains the currency, but ${found.figures}`;
  return { key: 'currency', value: { value: found.code }, comment };
}

/** All columns with values that are not used otherwise. */
function customLine(
  { export: { columns }, roles }: NamedGuess,
  key: string,
  used: ReadonlySet<ExportColumn | undefined>,
): EntryLine {
  const taken = new Set<ExportColumn | undefined>([...used, ...roles.values()]);
  const fields = Object.create(null) as Record<string, unknown>;
  for (const column of columns) {
    if (taken.has(column) || column.facts.filled === 0 || Object.keys(fields).length >= MAX_CUSTOM) continue;
    const name = keyOf(column.name);
    const unique = name in fields ? `${name}_${Object.keys(fields).length}` : name;
    fields[unique] = column.facts.date ? dateValue(column, !column.facts.date.hasTime).value : column.name;
  }
  return { key, value: fields };
}

/** The recognised columns as text. */
export function rolesText(roles: ReadonlyMap<ColumnRole, ExportColumn>): string {
  return [...roles].map(([role, { name }]) => `${role} \`${name}\``).join(', ');
}
