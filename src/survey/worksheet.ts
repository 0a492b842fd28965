/** The worksheet of names (`references.file`): a table in which people say what old names become in the target account. */
import { restore } from '../files/csv.ts';
import { UserError } from '../errors.ts';
import type { Mapping, References } from '../mapping/mapping.ts';
import { isThere } from '../files/private-file.ts';
import { didYouMean, lineAt, meant, mistake, ProblemsError, type Location, type Problem } from '../problem.ts';
import type { Account } from '../service/account.ts';
import { openSource } from '../input/open.ts';
import type { Source } from '../input/source.ts';
import { quotedNames, Resolver, type MetName } from './resolve.ts';
import { isAbout, keyOf, matching, similarNames, type NameKind, type OldName } from './targets.ts';
import { fold } from '../plan/account/fields.ts';
import { shortPath } from '../files/paths.ts';
import { counted } from '../report/words/numbers.ts';
import { visible } from '../report/words/visible.ts';
import { issueOf } from '../report/words/words.ts';

export const WORKSHEET_FILE = 'references.csv';
export const WORKSHEET_COLUMNS = [
  'kind',
  'pipeline',
  'old_name',
  'records',
  'suggestion',
  'new_name',
  'choices',
] as const;

/** As `new_name`: the field is omitted, like `null` in the mapping. */
export const OMITTED = '(omit)';

const KINDS: readonly NameKind[] = ['pipeline', 'stage', 'owner'];

/** A row with a `new_name`. */
export interface Answer extends OldName {
  readonly newName: string;
  readonly at: Location;
}

/** A row about a name, answered or not. */
export interface NamedRow extends OldName {
  readonly line: number;
}

/** The worksheet that `references.file` names, as it was read. */
export interface ExistingWorksheet {
  readonly columns: readonly string[];
  readonly delimiter: string;
  readonly rows: readonly NamedRow[];
}

/**
 * The names of the mapping and of its worksheet, and the answers in the worksheet (undefined if there is none yet). Throws a
 * `ProblemsError` with every
 * mistake in the worksheet, or a `UserError` if it cannot be read.
 */
export async function openReferences(
  mapping: Pick<Mapping, 'references' | 'worksheet'>,
  account: Account | undefined,
): Promise<{
  readonly resolver: Resolver;
  readonly answers: readonly Answer[];
  readonly existing: ExistingWorksheet | undefined;
}> {
  const { answers, problems, existing } = await readWorksheet(mapping);
  const { references, worksheet } = mapping;
  const resolver = new Resolver(account, [references, referencesOf(answers)], worksheet && shortPath(worksheet.path));
  for (const answer of answers) problems.push(...unknownName(answer, resolver));
  if (problems.length === 0) return { resolver, answers, existing };
  const sorted = problems.sort((a, b) => (a.at?.line ?? 0) - (b.at?.line ?? 0));
  throw new ProblemsError('the worksheet of names cannot be used', sorted);
}

interface ReadAnswers {
  readonly answers: readonly Answer[];
  readonly problems: Problem[];
  readonly existing: ExistingWorksheet | undefined;
}

async function readWorksheet({ worksheet }: Pick<Mapping, 'worksheet'>): Promise<ReadAnswers> {
  if (!worksheet || !isThere(worksheet.path)) return { answers: [], problems: [], existing: undefined };
  const { path } = worksheet;
  try {
    return await readAnswers(await openSource({ name: 'references', path, format: 'csv' }));
  } catch (failure) {
    if (!(failure instanceof UserError)) throw failure;
    const hint = 'save the worksheet as CSV in UTF-8, with one row for each name';
    throw new UserError(failure.message, { hint, cause: failure });
  }
}

async function readAnswers(source: Source): Promise<ReadAnswers> {
  const names = ['kind', 'pipeline', 'old_name', 'new_name'] as const;
  const columns = names.map((name) => source.columns.indexOf(name));
  const problems = names.flatMap((name, index): Problem[] => {
    const at = { file: source.files[0]!.path, line: 1, column: 1 };
    if (source.duplicateColumns.has(name))
      return [mistake('duplicate_column', `the column \`${name}\` is there twice`, at)];
    if (columns[index]! >= 0) return [];
    return [
      mistake('missing_column', `missing column \`${name}\``, at, `the header is ${WORKSHEET_COLUMNS.join(', ')}`),
    ];
  });
  const answers = new Map<string, Answer>();
  const rows: NamedRow[] = [];
  if (problems.length > 0) return { answers: [], problems, existing: undefined };
  for await (const batch of source.batches()) {
    for (const item of batch) {
      const at = lineAt(item.place);
      if (item.kind === 'unreadable') {
        problems.push(item.issue.with({ at }));
        continue;
      }
      const [kind, pipeline, oldName, newName] = columns.map((column) =>
        restore((item.raw as readonly string[])[column] ?? '').trim(),
      ) as [string, string, string, string];
      if (!isKind(kind)) {
        if (kind !== '' || newName !== '') {
          const hint = didYouMean(kind, KINDS) ?? `use ${KINDS.join(', ')}`;
          problems.push(mistake('unknown_kind', `unknown kind \`${kind}\``, at, hint));
        }
        continue;
      }
      if (oldName !== '') rows.push({ kind, pipeline, oldName, line: at.line });
      if (newName === '') continue;
      const key = keyOf({ kind, pipeline, oldName });
      const other = answers.get(key);
      if (oldName === '')
        problems.push(mistake('no_old_name', `a \`new_name\` without \`old_name\`: "${newName}"`, at));
      else if (other && other.newName !== newName) {
        const message = `${kind} \`${oldName}\` is on line ${other.at.line} already, with another \`new_name\``;
        problems.push(mistake('answered_twice', message, at, 'keep one of the rows'));
      } else if (!other) answers.set(key, { kind, pipeline, oldName, newName, at });
    }
  }
  const { columns: header, delimiter = ',' } = source;
  return { answers: [...answers.values()], problems, existing: { columns: header, delimiter, rows } };
}

function referencesOf(answers: readonly Answer[]): References {
  const pipelines = new Map<string, string | null>();
  const stages = new Map<string, string | null>();
  const stagesByPipeline = new Map<string, Map<string, string | null>>();
  const owners = new Map<string, string | null>();
  const mapOf = ({ kind, pipeline }: Answer): Map<string, string | null> => {
    if (kind !== 'stage' || pipeline === '') return { pipeline: pipelines, stage: stages, owner: owners }[kind];
    const within = stagesByPipeline.get(pipeline) ?? new Map<string, string | null>();
    stagesByPipeline.set(pipeline, within);
    return within;
  };
  for (const answer of answers) mapOf(answer).set(answer.oldName, isOmitted(answer.newName) ? null : answer.newName);
  return { pipelines, stages, stagesByPipeline, owners };
}

function isKind(kind: string): kind is NameKind {
  return (KINDS as readonly string[]).includes(kind);
}

export function isOmitted(newName: string): boolean {
  return newName.toLowerCase() === OMITTED;
}

/** The mistake in the `new_name` of a row, if the account is known. */
function unknownName({ kind, pipeline, newName, at }: Answer, resolver: Resolver): readonly Problem[] {
  const scope = resolver.scope(kind, pipeline);
  if (!scope || isOmitted(newName)) return [];
  const { targets, where } = scope;
  const matches = matching(newName, targets);
  if (matches.length === 1) return [];
  if (matches.length > 1) {
    const message = `${kind} \`${newName}\` matches ${matches.length} ${where}`;
    return [mistake(`ambiguous_${kind}`, message, at, `write which one: ${quotedNames(matches, targets)}`)];
  }
  const hint =
    meant(similarNames(newName, targets)) ??
    `use a name${kind === 'owner' ? ', e-mail address' : ''} or id of the account, or \`${OMITTED}\``;
  return [mistake(`unresolved_${kind}`, `${kind} \`${newName}\` not found among the ${where}`, at, hint)];
}

const MOST_NAMED = 10;

/** Changes that a spreadsheet makes to a name that it reads as a number or a date. */
function plain(name: string): string {
  return fold(name)
    .replace(/\.0+$/, '')
    .replace(/^0+(?=.)/, '')
    .replace(/[^\p{L}\p{N}]/gu, '');
}

/**
 * The rows of a worksheet whose `old_name` no record has: a spreadsheet may have changed it (`0012` to `12`), so the name that it was is
 * given where one is alike. Undefined if there are none.
 */
export function unmatchedAnswers(answers: readonly Answer[], met: readonly MetName[]): Problem | undefined {
  const unmatched = answers.filter((answer) => !met.some((name) => isAbout(answer, name)));
  if (unmatched.length === 0) return undefined;
  const open = met.filter(({ resolution }) => resolution.kind !== 'resolved' || resolution.byDefault);
  const texts = unmatched.slice(0, MOST_NAMED).map(({ kind, oldName, at }) => {
    const like = open.find((name) => name.kind === kind && plain(name.oldName) === plain(oldName));
    return `line ${at.line}: ${kind} \`${visible(oldName)}\`${like ? ` (the exports have \`${visible(like.oldName)}\`)` : ''}`;
  });
  const more = unmatched.length - texts.length;
  const rows = `${texts.join(', ')}${more > 0 ? `, and ${counted(more, 'more row')}` : ''}`;
  return issueOf('unmatched_answer', shortPath(unmatched[0]!.at.file), rows).with({ count: unmatched.length });
}
