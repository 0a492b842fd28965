/** Errors, blocked events, duplicates, omissions and warnings, by code with examples. */
import { numberText } from '../../terminal/numbers.ts';
import { adviceFor, NOT_MIGRATED } from '../../report/advice.ts';
import { typeCounts, typeName, typeNoun } from '../../report/words.ts';
import type { CodeGroup } from '../findings.ts';
import type { PageData } from '../page-data.ts';
import { coded, dataTable, externalId, externalText, fieldName, html, place, prose, section } from './parts.ts';
import type { TableCell, Markup } from './parts.ts';

export function errorsByCode({ findings: { errors, errorCount }, withValues }: PageData): Markup | undefined {
  if (errorCount === 0) return undefined;
  const others = errorCount - errors.reduce((sum, { count }) => sum + count, 0);
  return section(
    'errors',
    'Errors by cause',
    dataTable(
      'What is wrong, most frequent first',
      ['Cause', 'Count', 'Records'],
      errors.map((group) => [
        html`<a href="#${anchor(group)}">${causeOf(group)}</a>`,
        group.count,
        typeCounts(group.types),
      ]),
      ['All', errorCount, others > 0 ? `${numberText(others)} with other causes; see errors.csv` : ''],
    ),
    html`${errors.map((group) => cause(group, withValues))}`,
  );
}

function causeOf({ code, kind }: Pick<CodeGroup, 'code' | 'kind'>): Markup {
  const { what } = adviceFor(code, kind);
  return what === '' ? html`<code>${externalText(code, 80)}</code>` : coded(prose(what), code);
}

function cause(group: CodeGroup, withValues: boolean): Markup {
  const { fix } = adviceFor(group.code, group.kind);
  const values = withValues ? ['Message', 'Hint'] : [];
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
      ]),
    )}
  </article> `;
}

/** A valid fragment for any code, since codes may come from the service. */
function anchor({ code, kind }: CodeGroup): string {
  return `cause-${`${kind}-${code}`.replace(/[^\w-]+/g, '_').slice(0, 60)}`;
}

export function chains({ findings }: PageData): Markup | undefined {
  if (findings.chains.length === 0) return undefined;
  const rest = findings.chainCount - findings.chains.length;
  return section(
    'chains',
    'Blocked events',
    html`<p>
      These events are valid, but a record that they depend on was not accepted. Fix the record at the head of a chain,
      and the next run sends all events that depend on it.
    </p>`,
    dataTable(
      rest > 0 ? `The ${findings.chains.length} longest chains; ${numberText(rest)} more` : 'Chains, longest first',
      ['Head of the chain', 'Blocks', 'Records', 'Reason'],
      findings.chains.map(({ entity, externalId: id, count, types, code }) => [
        html`${entity} ${externalId(id)}`,
        count,
        typeCounts(types),
        code === null ? 'not in the input and not acknowledged earlier' : causeOf({ code, kind: '' }),
      ]),
    ),
  );
}

export function duplicates({ status, findings: { dropped } }: PageData): Markup | undefined {
  const { duplicates: count } = status.events;
  if (count === 0) return undefined;
  return section(
    'duplicates',
    'Duplicates',
    html`<p>
      ${numberText(count)} ${count === 1 ? 'event is' : 'events are'} not sent: another record has the same external id,
      or later updates of the record were acknowledged first.
      ${
        dropped.count > 0
          ? `${numberText(dropped.count)} of them had different content from what was used.`
          : 'All of them have the same content as what was used.'
      }
    </p>`,
    dropped.count > 0
      ? dataTable(
          dropped.count > dropped.examples.length
            ? `The first ${dropped.examples.length} with different content`
            : 'Ignored records with different content',
          ['Place', 'Id in the old CRM'],
          dropped.examples.map((example) => [place(example), externalId(example.externalId)]),
        )
      : undefined,
  );
}

export function omissions({ findings, withValues }: PageData): Markup | undefined {
  const { omissions: groups, omissionCount: count } = findings;
  if (count === 0) return undefined;
  return section(
    'omitted',
    'Values left out',
    html`<p>
      ${numberText(count)} ${count === 1 ? 'value was' : 'values were'} left out of their events. All are listed in
      <code>omitted.csv</code>.
    </p>`,
    dataTable(
      'Values left out, by field and reason',
      ['Field', 'Records', 'Values', 'Reason', 'First places'],
      groups.map((group): TableCell[] => [
        fieldName(group.field),
        typeName(group.type),
        group.count,
        causeOf({ code: group.code, kind: 'map' }),
        html`${group.examples.map(
          (example) =>
            html`<div>
              ${place(example)}
              ${externalId(example.externalId)}${withValues ? html` “${externalText(example.original, 80)}”` : undefined}
            </div>`,
        )}`,
      ]),
    ),
  );
}

export function warnings({ findings: { warnings: found } }: PageData): Markup | undefined {
  if (found.length === 0) return undefined;
  return section(
    'warnings',
    'Warnings',
    dataTable(
      'Warnings, most frequent first',
      ['Warning', 'Count', 'What to do'],
      found.map(({ code, count }) => [causeOf({ code, kind: '' }), count, prose(adviceFor(code, undefined).fix)]),
    ),
  );
}

export function notMigrated(): Markup {
  return section(
    'not-carried',
    'What cannot be migrated',
    dataTable(
      'Limitations of the ingestion webhook, which apply to every migration',
      ['What', 'Why'],
      NOT_MIGRATED.map(([what, why]) => [what, why]),
    ),
  );
}
