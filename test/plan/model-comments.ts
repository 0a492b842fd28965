/** What earlier runs sent of comments, alone or combined, and what a survey has to decide of comments after them. */
import type { Event } from './model.ts';
import type { Status } from './planning.ts';

/** A comment as one request had it. */
interface Part {
  readonly id: string;
  readonly parent: string;
  readonly text: string;
}
interface Body {
  readonly key: string;
  readonly parts: readonly Part[];
}

/** A comment in the service, or perhaps in it: one of the input, or one that carries several. */
interface Sent {
  exists: 'no' | 'maybe' | 'yes';
  isAcknowledged: boolean;
  /** It has one of them. */
  bodies: readonly Body[];
  /** The body that was rejected last. */
  rejected: string | undefined;
}

export class Comments {
  readonly #alone = new Map<string, Sent>();
  readonly #carriers = new Map<string, Sent>();

  /** Comments of the input as events, combined or not, judged by what was sent of them. */
  judged(events: readonly Event[], max: number | undefined): Event[] {
    const decided = events.filter(({ state }) => state !== 'ready').map((event) => this.#unmapped(event));
    const loose: Event[] = [];
    const bound = new Map<string, Event[]>();
    for (const event of events.filter(({ state }) => state === 'ready')) {
      const carrier = this.#carrierOf(event.id);
      if (carrier === undefined) loose.push(event);
      else if (this.#isThere(carrier, event) || this.#certain(carrier).includes(event.id))
        bound.set(carrier, [...(bound.get(carrier) ?? []), event]);
      else decided.push({ ...event, state: 'rejected', code: 'uncertain' });
    }
    const taken = new Set(loose.map(({ id }) => id));
    for (const [carrier, parts] of bound) {
      const place = ({ id }: Event): number =>
        Math.max(...this.#carriers.get(carrier)!.bodies.map((body) => body.parts.findIndex((part) => part.id === id)));
      const order = (event: Event): number[] => [this.#isThere(carrier, event) ? 0 : 1, place(event), event.n];
      const sorted = parts.sort((one, other) => compareAll(order(one), order(other)));
      decided.push(this.#concluded(carrier, combinedOf(sorted, carrier, max !== undefined)));
      taken.add(carrier);
    }
    const isAlone = ({ id }: Event): boolean => max === undefined || (this.#alone.get(id)?.exists ?? 'no') !== 'no';
    for (const event of loose.filter(isAlone)) decided.push(this.#aloneJudged(event));
    const rest = loose.filter((event) => !isAlone(event));
    for (const parent of new Set(rest.map((event) => event.parent))) {
      const group = inTime(rest.filter((event) => event.parent === parent));
      for (let from = 0; from < group.length; from += max!) {
        const parts = group.slice(from, from + max!);
        let id = `${parts[0]!.id}+`;
        while (taken.has(id) || (this.#carriers.get(id)?.exists ?? 'no') !== 'no') id += '+';
        taken.add(id);
        decided.push(toSend(combinedOf(parts, id, true), this.#carriers.get(id)));
      }
    }
    return decided;
  }

  /** These were sent, and ended like this. */
  sent(events: readonly Event[], end: Status): void {
    for (const event of events) {
      const all = event.parts === undefined ? this.#alone : this.#carriers;
      const before = all.get(event.id) ?? NEVER;
      const earlier = before.exists === 'maybe' ? before.bodies : [];
      const body = { key: keyOf(event), parts: (event.parts ?? [event]).map(partOf) };
      const bodies = [...earlier.filter(({ key }) => key !== body.key), body];
      if (end === 'open') all.set(event.id, { ...before, exists: 'maybe', bodies, rejected: undefined });
      else if (end === 'rejected') all.set(event.id, { ...before, rejected: body.key });
      else {
        const possible = end === 'deduplicated' ? bodies : [body];
        all.set(event.id, { exists: 'yes', isAcknowledged: true, bodies: possible, rejected: undefined });
      }
    }
  }

  /** How many were acknowledged, and are not in the input. */
  gone(events: readonly Event[]): number {
    const present = new Set(events.flatMap(({ id, parts = [] }) => [id, ...parts.map((part) => part.id)]));
    const alone = [...this.#alone].flatMap(([id, { isAcknowledged }]) => (isAcknowledged ? [id] : []));
    return new Set([...alone, ...this.#allCertain()].filter((id) => !present.has(id))).size;
  }

  /** What a carrier has brought in each body that it may have. */
  #certain(carrier: string): string[] {
    const { exists, bodies } = this.#carriers.get(carrier)!;
    if (exists !== 'yes') return [];
    return bodies[0]!.parts.map(({ id }) => id).filter((id) => bodies.every((body) => partIn(body, id)));
  }

  #allCertain(): string[] {
    return [...this.#carriers.keys()].flatMap((carrier) => this.#certain(carrier));
  }

  #carrierOf(id: string): string | undefined {
    return [...this.#carriers].find(
      ([, sent]) => sent.exists !== 'no' && sent.bodies.some((body) => partIn(body, id)),
    )?.[0];
  }

  #isThere(carrier: string, { id, parent }: Event): boolean {
    return this.#carriers.get(carrier)!.bodies.some((body) => partIn(body, id)?.parent === parent);
  }

  /** A row that cannot be mapped, of a comment that is there. */
  #unmapped(event: Event): Event {
    if (event.isMapped || event.state !== 'invalid') return event;
    const isThere = this.#alone.get(event.id)?.isAcknowledged || this.#allCertain().includes(event.id);
    return isThere ? { ...event, state: 'acknowledged', code: 'unmapped' } : event;
  }

  /** Once it was acknowledged, its parts decide. */
  #concluded(carrier: string, event: Event): Event {
    const sent = this.#carriers.get(carrier)!;
    if (sent.exists !== 'yes') return toSend(event, sent);
    const codes = event.parts!.map((part) => {
      const found = sent.bodies.map((body) => partIn(body, part.id));
      const isSame = found.map((each) => each && JSON.stringify(each) === JSON.stringify(partOf(part)));
      if (found.includes(undefined)) return 'uncertain';
      if (isSame.every(Boolean)) return undefined;
      return isSame.some(Boolean) ? 'uncertain' : 'comment_changed';
    });
    if (codes.includes('uncertain')) return { ...event, state: 'rejected', code: 'uncertain' };
    return { ...event, state: 'acknowledged', code: codes.find((code) => code !== undefined) };
  }

  #aloneJudged(event: Event): Event {
    const sent = this.#alone.get(event.id);
    if (sent?.exists !== 'yes') return toSend(event, sent);
    const isPossible = sent.bodies.some(({ key }) => key === keyOf(event));
    if (isPossible && sent.bodies.length > 1) return { ...event, state: 'rejected', code: 'uncertain' };
    return { ...event, state: 'acknowledged', code: isPossible ? undefined : 'comment_changed' };
  }
}

const NEVER: Sent = { exists: 'no', isAcknowledged: false, bodies: [], rejected: undefined };

const partIn = ({ parts }: Body, id: string): Part | undefined => parts.find((part) => part.id === id);
const partOf = ({ id, parent, data }: Event): Part => ({ id, parent: parent!, text: data.content as string });
const keyOf = ({ data }: Event): string => JSON.stringify(data);
const toSend = (event: Event, sent: Sent | undefined): Event => ({
  ...event,
  state: sent?.rejected === keyOf(event) ? 'retry' : 'ready',
});

function compareAll(one: readonly number[], other: readonly number[]): number {
  return one.map((each, at) => each - other[at]!).find((order) => order !== 0) ?? 0;
}

/** By time, those without one last. */
function inTime(events: readonly Event[]): Event[] {
  return events.toSorted((one, other) =>
    compareAll([one.at ?? Number.MAX_VALUE, one.n], [other.at ?? Number.MAX_VALUE, other.n]),
  );
}

/** The event of the first one, with the texts of all. `isHeaded`: each under its id; without the mapping's heading, under its time in UTC. */
function combinedOf(parts: readonly Event[], id: string, isHeaded: boolean): Event {
  const [base] = parts as [Event];
  const texts = parts.map(({ id: own, at, data }) => {
    const time = at === undefined ? '' : `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')}\n`;
    return `${isHeaded ? `${own}\n` : time}${data.content as string}`;
  });
  const priorities = parts.flatMap(({ own }) => own ?? []);
  const own = priorities.length === 0 ? undefined : Math.max(...priorities);
  return {
    ...base,
    id,
    name: `comment ${id}`,
    parts,
    own,
    data: { ...base.data, external_id: id, content: texts.join('\n\n') },
  };
}
