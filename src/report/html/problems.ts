/** Errors, blocked events, duplicates, omissions and warnings, by code with examples. */
import { adviceFor, NOT_MIGRATED } from '../advice.ts';
import { omittedLines } from '../omitted.ts';
import type { CodeGroup } from './collect.ts';
import type { ReportData } from './report-data.ts';
import { html, type Content, type Markup } from './markup.ts';
import { dataTable, externalId, externalText, number, place, prose, section } from './parts.ts';
import { coded, fieldName, typeCounts, typeName, typeNoun } from './words.ts';

/** Codes shown in full; the others are counted in one line. */
const MAX_CODES = 40;

export function errorsByCode({ errors, withValues }: ReportData): Markup | undefined {
  if (errors.count === 0) return undefined;
  const shown = errors.groups.slice(0, MAX_CODES);
  const others = errors.groups.slice(MAX_CODES).reduce((sum, { count }) => sum + count, 0);
  return section(
    'errors',
    'Errors by cause',
    dataTable(
      'What is wrong, most frequent first',
      [{ title: 'Cause' }, { title: 'Count', numeric: true }, { title: 'Records' }],
      shown.map((group) => [
        html`<a href="#${anchor(group)}">${causeOf(group)}</a>`,
        number(group.count),
        typeCounts(group.types),
      ]),
      ['All', number(errors.count), others > 0 ? `${number(others)} with other causes; see errors.csv` : ''],
    ),
    html`${shown.map((group) => cause(group, withValues))}`,
  );
}

function causeOf({ code, kind }: Pick<CodeGroup, 'code' | 'kind'>): Markup {
  const { what } = adviceFor(code, kind);
  return what === '' ? html`<code>${externalText(code, 80)}</code>` : coded(prose(what), code);
}

function cause(group: CodeGroup, withValues: boolean): Markup {
  const { fix } = adviceFor(group.code, group.kind);
  const values = withValues ? [{ title: 'Message' }, { title: 'Hint' }] : [];
  const count = group.examples.length;
  return html`<article id="${anchor(group)}">
    <header>
      <h3>${causeOf(group)}</h3>
      <span class="soft">${number(group.count)} ${group.count === 1 ? 'time' : 'times'}</span>
    </header>
    ${fix === '' ? undefined : html`<p><b>How to fix it:</b> ${prose(fix)}</p>`}
    ${dataTable(
      count === group.count ? 'Where' : `The first ${count} of ${number(group.count)}`,
      [{ title: 'Place' }, { title: 'Record' }, { title: 'Id in the old CRM' }, { title: 'Field' }, ...values],
      group.examples.map((example): readonly Content[] => [
        place(example),
        typeNoun(example.type),
        externalId(example.externalId),
        example.field === '' ? '–' : fieldName(example.field),
        ...(withValues ? [externalText(example.message), externalText(example.hint)] : []),
      ]),
    )}
  </article> `;
}

/** A valid fragment for any code, since codes may come from the service. */
function anchor({ code, kind }: CodeGroup): string {
  return `cause-${`${kind}-${code}`.replace(/[^\w-]+/g, '_').slice(0, 60)}`;
}

export function chains({ errors }: ReportData): Markup | undefined {
  if (errors.chains.length === 0) return undefined;
  const rest = errors.chainCount - errors.chains.length;
  return section(
    'chains',
    'Blocked events',
    html`<p>
      These events are valid, but a record that they depend on was not accepted. Fix the record at the head of a chain,
      and the next run sends all events that depend on it.
    </p>`,
    dataTable(
      rest > 0 ? `The ${errors.chains.length} longest chains; ${number(rest)} more` : 'Chains, longest first',
      [{ title: 'Head of the chain' }, { title: 'Blocks', numeric: true }, { title: 'Records' }, { title: 'Reason' }],
      errors.chains.map(({ entity, externalId: id, count, types, code }) => [
        html`${entity} ${externalId(id)}`,
        number(count),
        typeCounts(types),
        code === undefined ? 'not in the input and not acknowledged earlier' : causeOf({ code, kind: '' }),
      ]),
    ),
  );
}

export function duplicates({ status, omitted }: ReportData): Markup | undefined {
  const { duplicates: count } = status.events;
  if (count === 0) return undefined;
  const { dropped } = omitted;
  return section(
    'duplicates',
    'Duplicates',
    html`<p>
      ${number(count)} ${count === 1 ? 'event is' : 'events are'} not sent: another record has the same external id, or
      later updates of the record were acknowledged first.
      ${
        dropped
          ? `${number(dropped.count)} of them had different content from what was used.`
          : 'All of them have the same content as what was used.'
      }
    </p>`,
    dropped
      ? dataTable(
          dropped.count > dropped.examples.length
            ? `The first ${dropped.examples.length} with different content`
            : 'Ignored records with different content',
          [{ title: 'Place' }, { title: 'Id in the old CRM' }],
          dropped.examples.map((example) => [place(example), externalId(example.externalId)]),
        )
      : undefined,
  );
}

export function omissions({ status, omitted, withValues }: ReportData): Markup | undefined {
  if (omitted.count === 0) return undefined;
  const lines = status.basis === 'ended' ? omittedLines(status.summary?.omitted ?? {}).slice(0, MAX_CODES) : [];
  const withExamples = lines.filter(({ field }, index) => lines.findIndex((line) => line.field === field) === index);
  const examples = (field: string): Markup =>
    html`${(omitted.fields.get(field)?.examples ?? [])
      .slice(0, 3)
      .map(
        (example) =>
          html`<div>
            ${place(example)}
            ${externalId(example.externalId)}${withValues ? html` “${externalText(example.original, 80)}”` : undefined}
          </div>`,
      )}`;
  const rows = lines.map((line): Content[] => [
    fieldName(line.field),
    typeName(line.type),
    number(line.count),
    causeOf({ code: line.code, kind: 'map' }),
    withExamples.includes(line) ? examples(line.field) : '',
  ]);
  const others = [...omitted.fields].map(([field, { count }]): Content[] => [
    fieldName(field),
    '–',
    number(count),
    'see omitted.csv',
    examples(field),
  ]);
  return section(
    'omitted',
    'Values left out',
    html`<p>
      ${number(omitted.count)} ${omitted.count === 1 ? 'value was' : 'values were'} left out of their events. All are
      listed in <code>omitted.csv</code>.
    </p>`,
    dataTable(
      'Values left out, by field and reason',
      [
        { title: 'Field' },
        { title: 'Records' },
        { title: 'Values', numeric: true },
        { title: 'Reason' },
        { title: 'First places' },
      ],
      // Without the counts of a run that has ended, there is only what its file says.
      rows.length > 0 ? rows : others,
    ),
  );
}

export function warnings({ status }: ReportData): Markup | undefined {
  const rows = Object.entries(status.summary?.warnings_by_code ?? {}).sort((a, b) => b[1] - a[1]);
  if (rows.length === 0) return undefined;
  return section(
    'warnings',
    'Warnings',
    dataTable(
      'Warnings, most frequent first',
      [{ title: 'Warning' }, { title: 'Count', numeric: true }, { title: 'What to do' }],
      rows.slice(0, MAX_CODES).map(([code, count]) => {
        return [causeOf({ code, kind: '' }), number(count), prose(adviceFor(code, undefined).fix)];
      }),
    ),
  );
}

export function notMigrated(): Markup {
  return section(
    'not-carried',
    'What cannot be migrated',
    dataTable(
      'Limitations of the ingestion webhook, which apply to every migration',
      [{ title: 'What' }, { title: 'Why' }],
      NOT_MIGRATED.map(([what, why]) => [what, why]),
    ),
  );
}
