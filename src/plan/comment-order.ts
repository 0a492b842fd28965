import type { EventTable } from './event-table.ts';

/**
 * The comments in the order in which they are sent. Those of one parent go by time, then as in the files, the ones without
 * a time last: the service dates comments by arrival, so their order cannot be corrected later. Parents take turns,
 * `lanes` of them at a time, so that while one comment is on its way, those of other parents can be sent.
 */
export function* inTurns(table: EventTable, comments: Uint32Array, lanes: number): Generator<number, void, undefined> {
  const parentOf = (place: number): number | undefined => table.parent(comments[place]!);
  comments.sort((one, other) => table.parent(one)! - table.parent(other)! || byTime(table, one, other) || one - other);
  /** For each parent whose turn it can be: the place of its next comment. */
  const places: number[] = [];
  let unopened = 0;
  const open = (): number | undefined => {
    if (unopened === comments.length) return undefined;
    const first = unopened;
    do unopened += 1;
    while (unopened < comments.length && parentOf(unopened) === parentOf(first));
    return first;
  };
  while (places.length < lanes) {
    const first = open();
    if (first === undefined) break;
    places.push(first);
  }
  for (let turn = 0; places.length > 0; turn = turn + 1 < places.length ? turn + 1 : 0) {
    const place = places[turn]!;
    yield comments[place]!;
    const hasNext = place + 1 < comments.length && parentOf(place + 1) === parentOf(place);
    const next = hasNext ? place + 1 : open();
    if (next !== undefined) places[turn] = next;
    else {
      places.splice(turn, 1);
      turn -= 1;
    }
  }
}

/** Both can be infinite, and their difference then is no number. */
function byTime(table: EventTable, one: number, other: number): number {
  const [time, otherTime] = [table.time(one), table.time(other)];
  return time === otherTime ? 0 : time < otherTime ? -1 : 1;
}
