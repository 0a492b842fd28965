/** What went wrong, and what was left out: by code, with first examples. */
import { explain, NOT_CARRIED } from '../explain.ts';
import type { CodeGroup, OmittedExample } from './collect.ts';
import type { ReportData } from './report-data.ts';
import { html, type Content, type Markup } from './markup.ts';
import { countsOf, dataTable, externalId, foreign, number, place, prose, section } from './parts.ts';

/** Codes shown in full; the rest is one line. */
const MOST_CODES = 40;

export function errorsByCode({ errors, withValues }: ReportData): Markup | undefined {
  if (errors.count === 0) return undefined;
  const shown = errors.groups.slice(0, MOST_CODES);
  const others = errors.groups.slice(MOST_CODES).reduce((sum, { count }) => sum + count, 0);
  return section(
    'errors',
    'What was not accepted, by cause',
    dataTable(
      'Causes and how often each occurred',
      [{ title: 'Code' }, { title: 'Count', numeric: true }, { title: 'Meaning' }, { title: 'Events' }],
      shown.map((group) => [
        html`<a href="#${anchor(group)}"><code>${foreign(group.code, 80)}</code></a>`,
        number(group.count),
        prose(explain(group.code, group.kind).what),
        countsOf(group.types),
      ]),
      ['all', number(errors.count), others > 0 ? `${number(others)} under further codes, see errors.csv` : '', ''],
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
      <h3><code>${foreign(group.code, 80)}</code></h3>
      <span class="soft">${number(group.count)} ${group.count === 1 ? 'time' : 'times'}</span>
    </header>
    <p>${prose(what)}${fields}</p>
    ${fix === '' ? undefined : html`<p><b>To fix it:</b> ${prose(fix)}</p>`}
    ${dataTable(
      count === group.count ? 'Where' : `The first ${count} of ${number(group.count)}`,
      [{ title: 'Place' }, { title: 'Event' }, { title: 'External id' }, { title: 'Field' }, ...values],
      group.examples.map((example): readonly Content[] => [
        place(example),
        example.type || 'record',
        externalId(example.externalId),
        example.field || '–',
        ...(withValues ? [foreign(example.message), foreign(example.hint)] : []),
      ]),
    )}
  </article> `;
}

/** Safe in an address whatever the service calls its errors. */
function anchor({ code, kind }: CodeGroup): string {
  return `cause-${`${kind}-${code}`.replace(/[^\w-]+/g, '_').slice(0, 60)}`;
}

export function chains({ errors }: ReportData): Markup | undefined {
  if (errors.chains.length === 0) return undefined;
  const rest = errors.chainsInAll - errors.chains.length;
  return section(
    'chains',
    'Blocked: what waits for what',
    html`<p>
      These events are sound, but what they hang on was not accepted. Mending the one record at the head of a chain
      frees all that wait for it, on the next run.
    </p>`,
    dataTable(
      rest > 0 ? `The ${errors.chains.length} longest chains; ${number(rest)} more` : 'Chains, the longest first',
      [
        { title: 'Head of the chain' },
        { title: 'Blocks', numeric: true },
        { title: 'Events' },
        { title: 'Why it failed' },
      ],
      errors.chains.map(({ entity, externalId: id, count, types, code }) => [
        html`${entity} ${externalId(id)}`,
        number(count),
        countsOf(types),
        code === undefined ? 'neither in the input nor acknowledged earlier' : html`<code>${foreign(code, 80)}</code>`,
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
      ${number(count)} ${count === 1 ? 'record repeats another' : 'records repeat others'} of the same external id, so
      one of each counts.
      ${
        dropped
          ? `${number(dropped.count)} of them had other content than the one that counts.`
          : 'All of them have the same content.'
      }
    </p>`,
    dropped
      ? dataTable(
          dropped.count > dropped.examples.length
            ? `The first ${dropped.examples.length} with other content`
            : 'Records with other content that do not count',
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
            ${externalId(example.externalId)}${withValues ? html` “${foreign(example.original, 80)}”` : undefined}
          </div>`,
      );
  return section(
    'omitted',
    'Values left out',
    html`<p>
      ${number(omitted.count)} ${omitted.count === 1 ? 'value was' : 'values were'} left out; the events themselves went
      on without. All are listed in <code>omitted.csv</code>.
    </p>`,
    dataTable(
      'Values left out, by field and reason',
      [{ title: 'Field' }, { title: 'Count', numeric: true }, { title: 'Reason' }, { title: 'First of them' }],
      omitted.groups
        .slice(0, MOST_CODES)
        .map((group) => [
          html`<code>${group.field}</code>`,
          number(group.count),
          foreign(group.reason),
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
      'What was noticed without refusing anything',
      [{ title: 'Code' }, { title: 'Count', numeric: true }, { title: 'Meaning' }],
      rows.slice(0, MOST_CODES).map(([code, count]) => {
        const { what, fix } = explain(code, undefined);
        return [html`<code>${foreign(code, 80)}</code>`, number(count), prose(`${what} ${fix}`.trim())];
      }),
    ),
  );
}

export function notCarried(): Markup {
  return section(
    'not-carried',
    'What this way of migrating cannot carry',
    dataTable(
      'True of every migration through the service’s ingestion',
      [{ title: 'What' }, { title: 'Why' }],
      NOT_CARRIED.map(([what, why]) => [what, why]),
    ),
  );
}
