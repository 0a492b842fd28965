/** Outcomes by type and by priority. */
import { EVENT_TYPES } from '../../kinds/index.ts';
import type { EventCounts } from '../../vocabulary/terms.ts';
import { capital, OUTCOMES, OUTCOME_NAMES as NAMES, typeName } from '../../vocabulary/terms.ts';
import type { PageData } from '../page-data.ts';
import { coded, dataTable, html, section, time, type Markup } from '../../print/html.ts';

export function outcome(data: PageData): Markup {
  const { by_type: byType, events, priorities } = data.status;
  const cells = (counts: EventCounts): number[] => [counts.total, ...NAMES.map((name) => counts[name])];
  const types = EVENT_TYPES.flatMap((type) => (byType[type] ? [{ type, counts: byType[type] }] : []));
  return section(
    'outcome',
    'Outcome by type',
    html`<p>Every event has exactly one outcome: total = ${Object.values(OUTCOMES).join(' + ')}.</p>`,
    dataTable(
      'Events by type and outcome',
      ['Records', 'Total', ...NAMES.map((name) => capital(OUTCOMES[name]))],
      types.map(({ type, counts }) => [coded(typeName(type), type), ...cells(counts)]),
      ['All', ...cells(events)],
    ),
    priorities.length < 2 ? undefined : priorityTable(data),
  );
}

function priorityTable(data: PageData): Markup {
  return dataTable(
    'Events by priority, in the order in which they are sent',
    ['Priority', 'Events', 'In the service', 'Done'],
    data.status.priorities.map(({ priority, events, acknowledged, done_at: at }) => [
      String(priority),
      events,
      acknowledged,
      at === null ? '–' : html`${new Date(at) > data.now ? 'about ' : ''}${time(at, data.timezone)}`,
    ]),
  );
}
