/** Writes the entries for exports that match no preset. */
import { commentText } from './comments.ts';
import { amountLine, contactLines, currencyLine, customLine, head, idLine, phoneColumns } from './entry-lines.ts';
import { entryText, type EntryLine } from './entry-text.ts';
import type { NamedGuess } from './guess.ts';
import type { ExportColumn } from './head.ts';
import { companyJoin, ownerJoin, stageJoin } from './name-joins.ts';
import { countNames, type CrmNames } from './names.ts';
import { parentLine, parentOf } from './parents.ts';

/** The entry for one export as YAML below `events:`; undefined if it is for lookups or not used. */
export function guessedEntry(guess: NamedGuess, all: readonly NamedGuess[], names: CrmNames): string | undefined {
  if (guess.kind === 'leads') return [...noteLines(guess), leadText(guess, all)].join('\n');
  if (guess.kind === 'deals') return dealText(guess, all, names);
  return guess.kind === 'comments' ? commentText(guess, all) : undefined;
}

function noteLines({ note }: NamedGuess): string[] {
  return note === undefined ? [] : [`  # ${note}`];
}

function leadText(guess: NamedGuess, all: readonly NamedGuess[]): string {
  const { roles } = guess;
  const first = roles.get('first_name');
  const last = roles.get('last_name');
  const full = roles.get('full_name');
  const parts = [first, last].flatMap((column) => (column ? [column.name] : []));
  const name = parts.length > 0 ? { list: parts, apply: [{ join: ' ' }] } : full?.name;
  const company = companyJoin(guess, all);
  const used = new Set([first, last, parts.length > 0 ? undefined : full, ...phoneColumns(guess)]);
  return entryText('lead/created', guess.source, head(guess), [
    idLine(guess),
    ...(name === undefined ? [] : [{ key: 'full_name', value: name }]),
    ...contactLines(guess),
    customLine(guess, 'custom_params', used, company),
  ]);
}

function dealText(guess: NamedGuess, all: readonly NamedGuess[], names: CrmNames): string {
  const { roles } = guess;
  const [title, stage, pipeline, owner] = (['title', 'stage', 'pipeline', 'owner'] as const).map((role) =>
    roles.get(role),
  );
  const staff = ownerJoin(guess, all);
  const phase = stageJoin(guess, all);
  const company = companyJoin(guess, all);
  const parent = parentOf(guess, 'leads', all);
  const used = new Set([title, stage, pipeline, owner, ...(parent.found?.columns ?? []), staff?.column, phase?.column]);
  countNames(names.stages, phase ? phase.name : stage);
  countNames(names.pipelines, pipeline);
  countNames(names.owners, staff ? staff.name : owner);
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
      ...amountLine(guess),
      currencyLine(roles),
      ...parentLine('lead_external_id', parent),
      ...(phase ? [phase.line('stage_name')] : stage ? [{ key: 'stage_name', value: stage.name }] : []),
      ...(staff ? [staff.line('owner_name')] : owner ? [{ key: 'owner_name', value: owner.name }] : []),
      customLine(guess, 'custom_fields', used, company),
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
