/** Errors, blocked events, duplicates, omissions and warnings, by code with examples. */
import { explain, NOT_MIGRATED } from '../explain.ts';
import type { CodeGroup, OmittedExample } from './collect.ts';
import type { ReportData } from './report-data.ts';
import { html, type Content, type Markup } from './markup.ts';
import { countsOf, dataTable, externalId, externalText, number, place, prose, section } from './parts.ts';

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
      'Error codes',
      [{ title: 'Code' }, { title: 'Count', numeric: true }, { title: 'Meaning' }, { title: 'Events' }],
      shown.map((group) => [
        html`<a href="#${anchor(group)}"><code>${externalText(group.code, 80)}</code></a>`,
        number(group.count),
        prose(explain(group.code, group.kind).what),
        countsOf(group.types),
      ]),
      ['all', number(errors.count), others > 0 ? `${number(others)} with other codes; see errors.csv` : '', ''],
    ),
    html`${shown.map((group) => cause(group, withValues))}`,
  );
}

function cause(group: CodeGroup, withValues: boolean): Markup {
  const { what, fix } = explain(group.code, group.kind);
  const fields = group.fields.size > 0 ? html` In ${[...group.fields].join(', ')}.` : undefined;
  const values = withValues ? [{ title: 'Message' }, { title: 'Hint' }] : [];
  const count = group.examples.length;
  return html`<article id="${anchor(group)}">
    <header>
      <h3><code>${externalText(group.code, 80)}</code></h3>
      <span class="soft">${number(group.count)} ${group.count === 1 ? 'time' : 'times'}</span>
    </header>
    <p>${prose(what)}${fields}</p>
    ${fix === '' ? undefined : html`<p><b>How to fix it:</b> ${prose(fix)}</p>`}
    ${dataTable(
      count === group.count ? 'Where' : `The first ${count} of ${number(group.count)}`,
      [{ title: 'Place' }, { title: 'Event' }, { title: 'External id' }, { title: 'Field' }, ...values],
      group.examples.map((example): readonly Content[] => [
        place(example),
        example.type || 'record',
        externalId(example.externalId),
        example.field || '–',
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
      [{ title: 'Head of the chain' }, { title: 'Blocks', numeric: true }, { title: 'Events' }, { title: 'Reason' }],
      errors.chains.map(({ entity, externalId: id, count, types, code }) => [
        html`${entity} ${externalId(id)}`,
        number(count),
        countsOf(types),
        code === undefined
          ? 'not in the input and not acknowledged earlier'
          : html`<code>${externalText(code, 80)}</code>`,
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
          [{ title: 'Place' }, { title: 'External id' }],
          dropped.examples.map((example) => [place(example), externalId(example.externalId)]),
        )
      : undefined,
  );
}

export function omissions({ omitted, withValues }: ReportData): Markup | undefined {
  if (omitted.count === 0) return undefined;
  const examples = (list: readonly OmittedExample[]): Markup[] =>
    list
      .slice(0, 3)
      .map(
        (example) =>
          html`<div>
            ${place(example)}
            ${externalId(example.externalId)}${withValues ? html` “${externalText(example.original, 80)}”` : undefined}
          </div>`,
      );
  return section(
    'omitted',
    'Values left out',
    html`<p>
      ${number(omitted.count)} ${omitted.count === 1 ? 'value was' : 'values were'} left out of their events. All are
      listed in <code>omitted.csv</code>.
    </p>`,
    dataTable(
      'Values left out, by field and reason',
      [{ title: 'Field' }, { title: 'Count', numeric: true }, { title: 'Reason' }, { title: 'Examples' }],
      omitted.groups
        .slice(0, MAX_CODES)
        .map((group) => [
          html`<code>${group.field}</code>`,
          number(group.count),
          externalText(group.reason),
          html`${examples(group.examples)}`,
        ]),
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
      'Warning codes',
      [{ title: 'Code' }, { title: 'Count', numeric: true }, { title: 'Meaning' }],
      rows.slice(0, MAX_CODES).map(([code, count]) => {
        const { what, fix } = explain(code, undefined);
        return [html`<code>${externalText(code, 80)}</code>`, number(count), prose(`${what} ${fix}`.trim())];
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
