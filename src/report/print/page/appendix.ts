/** For those who put right what is wrong: outcomes, errors, values left out and warnings, with codes and places. */
import type { EventType } from '../../../model.ts';
import { numberText } from '../../words/numbers.ts';
import { meaningOf } from '../../words/words.ts';
import { capital, typeCounts, typeName, typeNoun } from '../../words/terms.ts';
import { countFindings, ofSeverity, shareText, type Finding } from '../../files/findings.ts';
import { parseJson, type JsonObject } from '../../../json.ts';
import { withoutValues } from '../../../send/without-values.ts';
import type { PageData } from '../page-data.ts';
import { coded, dataTable, externalId, externalText, fieldName, html, place, prose, section } from '../html.ts';
import type { TableCell, Markup } from '../html.ts';

/** Codes and fields that are listed; all others are counted together. */
const MOST_LISTED = 40;
const MOST_PLACES = 3;

export function errorsByCode({ findings, withValues }: PageData): Markup | undefined {
  const all = ofSeverity(findings, 'error');
  if (all.length === 0) return undefined;
  const errors = all.slice(0, MOST_LISTED);
  const others = countFindings(all.slice(MOST_LISTED));
  return section(
    'errors',
    'Errors by cause',
    dataTable(
      'What is wrong, most frequent first',
      ['Cause', 'Count', 'Records'],
      errors.map((group) => [
        html`<a href="#${anchor(group)}">${causeOf(group)}</a>`,
        countCell(group),
        typeCounts(group.types),
      ]),
      ['All', countFindings(all), others > 0 ? `${numberText(others)} with other causes; see errors.csv` : ''],
    ),
    html`${errors.map((group) => cause(group, withValues))}`,
  );
}

/** How many, and their share where it is large. */
function countCell(finding: Finding): TableCell {
  return { right: `${numberText(finding.count)}${shareText(finding)}` };
}

function causeOf({ code, kind }: Pick<Finding, 'code' | 'kind'>): Markup {
  const { what } = meaningOf(code, kind);
  return what === '' ? html`<code>${externalText(code, 80)}</code>` : coded(prose(what), code);
}

function cause(group: Finding, withValues: boolean): Markup {
  const isRefusal = group.kind === 'send';
  const fix = fixOf(group);
  const values = withValues ? ['Message', 'Hint'] : isRefusal ? ['Message'] : [];
  const count = group.examples.length;
  return html`<article id="${anchor(group)}">
    <header>
      <h3>${causeOf(group)}</h3>
      <span class="soft">${numberText(group.count)} ${group.count === 1 ? 'time' : 'times'}</span>
    </header>
    ${fix === '' ? undefined : html`<p><b>How to fix it:</b> ${prose(fix)}</p>`}
    ${dataTable(
      count === group.count ? 'Where' : `The first ${count} of ${numberText(group.count)}`,
      ['Place', 'Record', 'Id in the old CRM', 'Field', ...values],
      group.examples.map((example): readonly TableCell[] => [
        place(example),
        typeNoun(example.type ?? ''),
        externalId(example.externalId),
        example.field === null ? '–' : fieldName(example.field),
        ...(withValues ? [externalText(example.message), externalText(example.hint ?? '')] : []),
        ...(isRefusal && !withValues ? [externalText(messageOf(example))] : []),
      ]),
    )}
  </article> `;
}

/** Of a code that only the service knows, it follows the status, which its hint knows; hints of refusals have no values. */
function fixOf({ kind, code, examples: [example] }: Finding): string {
  const hint = kind === 'send' && meaningOf(code, undefined).what === '' ? (example?.hint ?? '') : '';
  return hint === '' ? meaningOf(code, kind).fix : `${capital(hint)}.`;
}

/** The messages of the service, without the values that they repeat. */
function messageOf({ message, data }: Finding['examples'][number]): string {
  return data === null ? '' : withoutValues(message, parseJson(data) as JsonObject);
}

/** A valid fragment for any code, since codes may come from the service. */
function anchor({ code, kind }: Finding): string {
  return `cause-${`${kind}-${code}`.replace(/[^\w-]+/g, '_').slice(0, 60)}`;
}

export function omissions({ findings, withValues }: PageData): Markup | undefined {
  const groups = ofSeverity(findings, 'omission');
  const count = countFindings(groups);
  if (count === 0) return undefined;
  return section(
    'omitted',
    'Values left out',
    html`<p>
      ${numberText(count)} ${count === 1 ? 'value was' : 'values were'} left out of their events.
      <code>left_out.csv</code> lists each one.
    </p>`,
    dataTable(
      'Values left out, by field and reason',
      ['Field', 'Records', 'Values', 'Reason', 'First places'],
      groups.slice(0, MOST_LISTED).map((group): TableCell[] => [
        fieldName(group.field),
        Object.keys(group.types)
          .map((type) => typeName(type as EventType | ''))
          .join(', '),
        countCell(group),
        causeOf(group),
        html`${group.examples
          .slice(0, MOST_PLACES)
          .map(
            (example) =>
              html`<div>
                ${place(example)}
                ${externalId(example.externalId)}${withValues ? html` “${externalText(example.original ?? '', 80)}”` : undefined}
              </div>`,
          )}`,
      ]),
    ),
  );
}

export function warnings({ findings }: PageData): Markup | undefined {
  const found = ofSeverity(findings, 'warning').slice(0, MOST_LISTED);
  if (found.length === 0) return undefined;
  return section(
    'warnings',
    'Warnings',
    dataTable(
      'Warnings, most frequent first',
      ['Warning', 'Count', 'First places', 'What to do'],
      found.map(({ code, count, examples }) => [
        causeOf({ code, kind: '' }),
        count,
        html`${examples
          .filter(({ file }) => file !== '')
          .slice(0, MOST_PLACES)
          .map((example) => html`<div>${place(example)}</div>`)}`,
        prose(meaningOf(code, undefined).fix || '–'),
      ]),
    ),
  );
}
