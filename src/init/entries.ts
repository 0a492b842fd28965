/** Writes the entries of leads and deals for exports that match no preset. */
import { numberText } from '../numbers.ts';
import type { ExportColumn } from './columns.ts';
import { commentText } from './comments.ts';
import {
  amountLine,
  contactLines,
  currencyLine,
  customLine,
  evidence,
  idLine,
  notDeleted,
  timeLines,
  whenLines,
} from './entry-lines.ts';
import { entryText, type EntryLine, type EntryText } from './entry-text.ts';
import type { Guess } from './guess.ts';
import { companyJoin, ownerJoin, stageJoin } from './name-joins.ts';
import { countNames, type CrmNames } from './names.ts';
import { parentLine, parentOf, type KnownExports } from './parents.ts';
import { outcomeOf } from './roles.ts';
import { foldHeader } from './value-text.ts';

/** The entry for one export as YAML below `events:`; undefined if it is for lookups or not used. */
export function guessedEntry(guess: Guess, known: KnownExports, names: CrmNames): EntryText | undefined {
  if (guess.kind === 'leads') return leadText(guess, known);
  if (guess.kind === 'deals') return dealText(guess, known, names);
  return guess.kind === 'comments' ? commentText(guess, known) : undefined;
}

function leadText(guess: Guess, known: KnownExports): EntryText {
  const company = companyJoin(guess, known);
  return entryText(
    'lead/created',
    guess.source,
    [...skipLines(guess), ...timeLines(guess)],
    [
      idLine(guess),
      nameLine(guess),
      ...contactLines(guess),
      customLine(guess, 'custom_params', new Set(), { company, known }),
    ],
    guess.note === undefined ? [] : [guess.note],
  );
}

function skipLines(guess: Guess): EntryLine[] {
  const gone = notDeleted(guess);
  return whenLines(gone ? [gone] : []);
}

function nameLine({ roles }: Guess): EntryLine {
  const [first, last, full] = [roles.get('first_name'), roles.get('last_name'), roles.get('full_name')];
  const key = 'full_name';
  if (first && last) {
    const value = { list: [first.column.name, last.column.name], apply: [{ join: ' ' }] };
    return { key, value, comment: `\`${last.column.name}\` in ${last.why}` };
  }
  if (full) return { key, value: full.column.name, comment: evidence(full) };
  return { key, off: true, value: 'Name', comment: 'set this: no column has the names of people' };
}

function dealText(guess: Guess, known: KnownExports, names: CrmNames): EntryText {
  const [stage, pipeline, owner] = (['stage', 'pipeline', 'owner'] as const).map((role) => guess.roles.get(role));
  const staff = ownerJoin(guess, known);
  const phase = stageJoin(guess, known);
  const company = companyJoin(guess, known);
  const parent = parentOf(guess, 'leads', known);
  const title = titleLine(guess, company?.column);
  const used = new Set([...(parent.found?.taken ?? []), staff?.column, phase?.column]);
  countNames(names.stages, phase ? phase.name : stage?.column);
  countNames(names.pipelines, pipeline?.column);
  countNames(names.owners, staff ? staff.name : owner?.column);
  const stageLines = phase ? [phase.line('stage_name')] : stage ? [stageLine(guess, stage.why)] : [];
  return entryText(
    'deal/created',
    guess.source,
    [
      ...skipLines(guess),
      ...(pipeline && stageLines.length > 0 ? [{ key: 'stage_pipeline', value: pipeline.column.name }] : []),
      ...timeLines(guess),
      ...priority(stage?.column),
    ],
    [
      idLine(guess),
      title,
      ...amountLine(guess),
      currencyLine(guess.roles),
      ...parentLine('lead_external_id', parent),
      ...stageLines.map((line) => withOutcome(line, guess, names)),
      ...(staff
        ? [staff.line('owner_name')]
        : owner
          ? [{ key: 'owner_name', value: owner.column.name, comment: evidence(owner) }]
          : []),
      customLine(guess, 'custom_fields', used, { company, known }),
    ],
  );
}

/** Without a title: what may stand for one. */
function titleLine({ roles, table: { columns } }: Guess, company: ExportColumn | undefined): EntryLine {
  const found = roles.get('title');
  if (found) return { key: 'title', value: found.column.name, comment: evidence(found) };
  const taken = new Set([...roles.values()].map(({ column }) => column));
  const instead = columns.filter(
    (column) =>
      column !== company &&
      (column.words || column.person) &&
      column.filled > column.table.rows / 2 &&
      !taken.has(column) &&
      /compan|account|organi|client|customer|contact|person|product|service|type|categor|aziend|prodott|kund|firm/.test(
        foldHeader(column.name),
      ),
  );
  const [first, second] = instead.map(({ name }) => name);
  if (first === undefined)
    return { key: 'title', off: true, value: 'Deal Name', comment: 'set this: no column has a title' };
  const value = second === undefined ? first : { list: [first, second], apply: [{ join: ' - ' }] };
  return { key: 'title', value, comment: 'set this: no column has a title, so this stands for one' };
}

function stageLine({ roles }: Guess, why: string): EntryLine {
  const { column } = roles.get('stage')!;
  const isNumber = column.number !== undefined || column.code;
  const comment = isNumber ? `set this: these are ids, and no export has their names: ${why}` : why;
  return { key: 'stage_name', value: column.name, comment };
}

/** Won and lost decide before the stage, unless the stage says the same. */
function withOutcome(line: EntryLine, { roles, table }: Guess, names: CrmNames): EntryLine {
  const outcome = roles.get('outcome')?.column;
  const stage = roles.get('stage')?.column;
  if (!outcome || !stage) return line;
  const pairs = table.db.all<{ outcome: string; stage: string | null; n: number }>(
    `select ${outcome.sql} outcome, ${stage.sql} stage, count(*) n from ${table.sql} where ${outcome.sql} is not null group by 1, 2`,
  );
  const unsaid = pairs.filter(({ outcome: said, stage: name }) => {
    const is = outcomeOf(said);
    return is !== undefined && (name === null || outcomeOf(name) !== is);
  });
  const count = unsaid.reduce((sum, { n }) => sum + n, 0);
  if (count === 0) return line;
  const map: Record<string, string | null> = {};
  for (const value of outcome.few().keys()) {
    const is = outcomeOf(value);
    if (is === undefined) continue;
    map[value] = is === 'won' ? 'Won' : 'Lost';
    names.stages.set(map[value], (names.stages.get(map[value]) ?? 0) + outcome.few().get(value)!);
  }
  return {
    key: line.key,
    value: { from: [{ from: outcome.name, apply: [{ map: { ...map, '*': null } }] }, line.value] },
    comment: `check: ${numberText(count)} deals are won or lost by \`${outcome.name}\`, but not by \`${stage.name}\`; set the stages that they get`,
  };
}

/** Whole words of a stage's name that say that its deals are closed. */
const CLOSED =
  /(?:^|[^\p{L}])(?:closed|won|lost|chius[oai]|vint[oaie]|pers[oaie]|gewonnen|verloren|abgeschlossen|gagnée?s?|perdue?s?|ganad[oa]s?|perdid[oa]s?|cerrad[oa]s?)(?:$|[^\p{L}])/iu;

/** Offered where some of the stages are those of closed deals, and not all. */
function priority(stage: ExportColumn | undefined): EntryLine[] {
  const stages = [...(stage?.few().keys() ?? [])];
  const closed = stages.filter((name) => CLOSED.test(name));
  if (!stage || closed.length === 0 || closed.length === stages.length) return [];
  const map = Object.fromEntries([...closed.map((name) => [name, 0]), ['*', 1]]) as Record<string, number>;
  const comment = 'remove the `#` to send open deals first, with their people and comments';
  return [{ key: 'priority', off: true, value: { from: stage.name, apply: [{ map }] }, comment }];
}
