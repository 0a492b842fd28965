import { fittingTable, valueRows } from '../../terminal/layout.ts';
import { shortPath } from '../../files/paths.ts';
import { namesById, type Account } from '../../service/account.ts';
import { stageTotalsText } from './control-totals.ts';
import { VERDICT_NAMES, VERDICTS, type FieldDifference, type EntityResult } from './differences.ts';
import { CHECKED, comparedFields, STAGED, kindOf } from '../../kinds/index.ts';
import type { Entity } from '../../model.ts';
import { isLikelyForm } from '../../plan/compare/shown.ts';
import { whyNotComparable } from './compare.ts';
import type { LiveRecord } from './record.ts';
import { storedOf, type Verification } from './verify.ts';
import { verificationTexts } from '../../report/verification.ts';
import { counted, numberText } from '../../terminal/numbers.ts';

/** The result of a verification as text, but for its ending. Names of stages and pipelines come from `account`. */
export function verificationText(found: Verification, account: Account | undefined, columns: number): string {
  const names = namesById(account);
  const parts = CHECKED.map((entity) => entityText(entity, found.entities[entity]!, columns));
  const reasons = CHECKED.flatMap((entity) => notComparable(entity, found.entities[entity]!));
  const forms = CHECKED.flatMap((entity) => otherForms(entity, found));
  if (forms.length > 0) parts.push(['shown in a form that cannot be compared', ...forms].join('\n'));
  if (reasons.length > 0) parts.push(['not comparable', ...reasons].join('\n'));
  if (found.totals.length > 0) parts.push(stageTotalsText(found.totals, found.entities[STAGED]!));
  const { comments_not_compared: comments } = found;
  if (comments > 0) parts.push(`comments: ${numberText(comments)} acknowledged, none of them compared`);
  if (found.first_differences.length > 0) {
    const lines = found.first_differences.map((difference) => `  ${differenceText(difference, names)}`);
    parts.push(['first differences of each kind', ...lines].join('\n'));
    parts.push(`all differences: ${shortPath(found.files.verify)}`);
  }
  return parts.join('\n\n');
}

function notComparable(entity: Entity, { fields }: EntityResult): string[] {
  return comparedFields(entity)
    .filter(({ name }) => fields[name]!.not_comparable > 0)
    .map((field) => `  ${entity} ${field.name}: ${whyNotComparable(field)}`);
}

function otherForms(entity: Entity, { entities, first_differences: first }: Verification): string[] {
  const { fields, read_back: read, missing } = entities[entity]!;
  return Object.entries(fields)
    .filter(([, { other_form: count }]) => count > 0)
    .map(([name, { other_form: count }]) => {
      const example = first.find(
        (each) => each.entity === entity && each.field === name && each.verdict === 'other_form',
      );
      const such = example ? `, such as \`${example.actual}\` for \`${example.expected}\`` : '';
      const isForm = isLikelyForm({ read: read - missing, unexplained: count });
      const why = isForm ? ': with so many, it is rather how the service writes this field than an edit' : '';
      return `  ${entity} ${name}: ${counted(count, 'record')} of ${numberText(read - missing)}${such}${why}`;
    });
}

const ENDINGS: Readonly<Record<Verification['exit']['reason'], readonly string[]>> = {
  same: [],
  different: ['Some records differ from what was sent.'],
  missing: ['Some records no longer exist in the service.'],
  other_form: ['No record differs, but some values are shown in a form that cannot be compared.'],
  refused: ['Some records could not be read.'],
  totals: ['The control totals differ.'],
};

/** How a verification ended: what agrees, what was compared with, and what no answer showed. */
export function endingText(found: Verification): string {
  const { digest, is_dry_run: isDryRun } = found.plan;
  const plan = `${isDryRun ? 'the plan of a dry run' : 'the plan that was sent'}${digest === null ? '' : ` (${digest})`}`;
  return [...ENDINGS[found.exit.reason], ...verificationTexts(storedOf(found)), `Compared with ${plan}.`].join(' ');
}

function entityText(entity: Entity, result: EntityResult, columns: number): string {
  const [read, all] = [result.read_back, result.acknowledged].map(numberText);
  const lines = [`${kindOf(entity).words[1]}: ${read} of ${all} acknowledged records read back`];
  if (result.missing > 0) lines.push(`  missing: ${numberText(result.missing)}`);
  if (result.refused > 0) lines.push(`  refused: ${numberText(result.refused)} (they may belong to another account)`);
  if (result.without_id > 0) {
    lines.push(`  not read back: ${numberText(result.without_id)} without a known service id (skipped or replayed)`);
  }
  if (result.not_in_input > 0) {
    lines.push(`  not compared: ${numberText(result.not_in_input)} without a valid event in the current input`);
  }
  const fields = Object.entries(result.fields).filter(([, counts]) =>
    VERDICT_NAMES.some((verdict) => counts[verdict] > 0),
  );
  const shown = VERDICT_NAMES.filter(
    (verdict) => verdict === 'same' || fields.some(([, counts]) => counts[verdict] > 0),
  );
  if (fields.length > 0) {
    const rows = fields.map(([name, counts]) => [`  ${name}`, ...shown.map((verdict) => numberText(counts[verdict]))]);
    lines.push(fittingTable([['', ...shown.map((verdict) => VERDICTS[verdict])], ...rows], columns));
  }
  return lines.join('\n');
}

function differenceText(difference: FieldDifference, names: ReadonlyMap<string, string>): string {
  const { entity, external_id: id, field, verdict } = difference;
  if (verdict === 'missing') return `${entity} ${id}: missing${difference.actual && `, ${difference.actual}`}`;
  if (verdict === 'refused') return `${entity} ${id}: not read: ${difference.actual}`;
  const value = (text: string): string => `\`${names.get(text.toLowerCase()) ?? text}\``;
  return `${entity} ${id} ${field}: expected ${value(difference.expected)}, found ${value(difference.actual)} (${VERDICTS[verdict]})`;
}

/** `live`: what the service shows, or why it cannot be read. */
export function liveText(live: LiveRecord | string, account: Account | undefined, columns: number): string {
  const names = namesById(account);
  const head = 'in the service now';
  if (typeof live === 'string') return `${head}\n  not read: ${live}`;
  if (!live.found) return `${head}\n  it does not exist any more`;
  const named = (text: string): string => names.get(text.toLowerCase()) ?? text;
  const fields = live.fields.map(({ field, verdict, expected = '', actual, reason }): [string, string] => {
    if (verdict === 'same') return [field, named(actual)];
    if (verdict === 'not_sent') return [field, `${named(actual)} (not sent by this migration)`];
    if (verdict === 'not_comparable') return [field, `(not comparable: ${reason})`];
    return [field, `${named(actual)} (${VERDICTS[verdict]}; in the plan: ${named(expected)})`];
  });
  return `${head}${live.updated_at === null ? '' : `   updated ${live.updated_at}`}\n${valueRows(fields, columns)}`;
}
