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
import { entryText, type CrmNames, type EntryLine, type EntryText } from './entry-text.ts';
import type { Guess } from './guess.ts';
import { nameJoin, type KnownExports } from './joins.ts';
import { parentLine, parentOf } from './parents.ts';
import { outcomeOf, type Finding } from './roles.ts';
import { foldHeader } from './value-text.ts';

/** The entry for one export as YAML below `events:`; undefined if it is for lookups or not used. */
export function guessedEntry(guess: Guess, known: KnownExports): EntryText | undefined {
  if (guess.kind === 'leads') return leadText(guess, known);
  if (guess.kind === 'deals') return dealText(guess, known);
  return guess.kind === 'comments' ? commentText(guess, known) : undefined;
}

function leadText(guess: Guess, known: KnownExports): EntryText {
  const company = nameJoin(guess, known, 'company');
  return entryText(
    'lead/created',
    guess.source,
    [...whenLines(notDeleted(guess)), ...timeLines(guess)],
    [
      idLine(guess),
      nameLine(guess),
      ...contactLines(guess),
      customLine(guess, 'custom_params', new Set(), { company, known }),
    ],
    { above: guess.note === undefined ? [] : [guess.note] },
  );
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

function dealText(guess: Guess, known: KnownExports): EntryText {
  const [stage, pipeline, owner] = (['stage', 'pipeline', 'owner'] as const).map((role) => guess.roles.get(role));
  const staff = nameJoin(guess, known, 'owner');
  const phase = nameJoin(guess, known, 'stage');
  const company = nameJoin(guess, known, 'company');
  const parent = parentOf(guess, 'leads', known);
  const used = new Set([...(parent.found?.taken ?? []), staff?.column, phase?.column]);
  const ownStage = stage && stageLine(stage);
  const stageName = phase ? phase.line('stage_name') : ownStage;
  const outcome = stageName && outcomeLine(stageName, guess);
  const ownOwner = owner && { key: 'owner_name', value: owner.column.name, comment: evidence(owner) };
  const ownerName = staff ? staff.line('owner_name') : ownOwner;
  const named = (kind: CrmNames[0], column: ExportColumn | undefined): CrmNames[] =>
    column ? [[kind, column.few()]] : [];
  return entryText(
    'deal/created',
    guess.source,
    [
      ...whenLines(notDeleted(guess)),
      ...(pipeline && stageName ? [{ key: 'stage_pipeline', value: pipeline.column.name }] : []),
      ...timeLines(guess),
      ...priority(stage?.column),
    ],
    [
      idLine(guess),
      titleLine(guess, company?.column),
      ...amountLine(guess),
      currencyLine(guess.roles),
      ...parentLine('lead_external_id', parent),
      ...(outcome ? [outcome.line] : stageName ? [stageName] : []),
      ...(ownerName ? [ownerName] : []),
      customLine(guess, 'custom_fields', used, { company, known }),
    ],
    {
      names: [
        ...named('stages', phase?.name ?? stage?.column),
        ...named('pipelines', pipeline?.column),
        ...named('owners', staff?.name ?? owner?.column),
        ...(outcome ? [outcome.names] : []),
      ],
    },
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

function stageLine({ column, why }: Finding): EntryLine {
  const isNumber = column.number !== undefined || column.code;
  const comment = isNumber ? `set this: these are ids, and no export has their names: ${why}` : why;
  return { key: 'stage_name', value: column.name, comment };
}

/** Won and lost decide before the stage; undefined if the stage says the same. */
function outcomeLine(
  { key, value }: EntryLine,
  { roles, table }: Guess,
): { line: EntryLine; names: CrmNames } | undefined {
  const outcome = roles.get('outcome')?.column;
  const stage = roles.get('stage')?.column;
  if (!outcome || !stage) return undefined;
  const pairs = table.db.all<{ outcome: string; stage: string | null; n: number }>(
    `select ${outcome.sql} outcome, ${stage.sql} stage, count(*) n from ${table.sql} where ${outcome.sql} is not null group by 1, 2`,
  );
  const unsaid = pairs.filter(({ outcome: said, stage: name }) => {
    const is = outcomeOf(said);
    return is !== undefined && (name === null || outcomeOf(name) !== is);
  });
  if (unsaid.length === 0) return undefined;
  const total = unsaid.reduce((sum, { n }) => sum + n, 0);
  const decided = [...outcome.few()].filter(([said]) => outcomeOf(said) !== undefined);
  const stageOf = (said: string): string => (outcomeOf(said) === 'won' ? 'Won' : 'Lost');
  const map = { ...Object.fromEntries(decided.map(([said]) => [said, stageOf(said)])), '*': null };
  return {
    line: {
      key,
      value: { from: [{ from: outcome.name, apply: [{ map }] }, value] },
      comment: `check: ${numberText(total)} deals are won or lost by \`${outcome.name}\`, but not by \`${stage.name}\`; set the stages that they get`,
    },
    names: ['stages', decided.map(([said, count]) => [stageOf(said), count])],
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
