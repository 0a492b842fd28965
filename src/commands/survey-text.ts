import { canonicalJson } from '../json.ts';
import { EVENT_TYPES, type EventType, type Ready } from '../model.ts';

/** The first events of each type, as they would go out. */
export function samplesText(samples: ReadonlyMap<EventType, readonly Ready[]>): string {
  return EVENT_TYPES.flatMap((type) => {
    const events = samples.get(type) ?? [];
    if (events.length === 0) return [];
    return [`${type}, for example`, ...events.map(({ data }) => `  ${canonicalJson(data)}`)];
  }).join('\n');
}
