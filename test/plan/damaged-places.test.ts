/** Updates of records whose lines in the checkpoint were damaged: each goes out under the id that it had before. */
import { describe, expect, it } from 'vitest';
import { Ledger } from '../../src/checkpoint/ledger.ts';
import { IF_CHANGED, type SentLine, type SettledLine } from '../../src/checkpoint/lines.ts';
import { contentSha, fieldHashes } from '../../src/identity.ts';
import { canonicalJson } from '../../src/json.ts';
import { DEFAULT_POLICIES } from '../../src/mapping/policies.ts';
import { EVENT_TYPES, type Ready } from '../../src/model.ts';
import { Plan } from '../../src/plan/plan.ts';

/** The two lines of an update. */
interface Pair {
  readonly sent: SentLine;
  readonly settled: SettledLine;
}

/** Which of the two is left. */
type Left = 'both' | 'sent' | 'settled' | 'none';

/** An update of the record, setting one letter. */
function update(record: string, letter: string): Ready {
  const data = { external_id: record, full_name: letter };
  const content = canonicalJson(data);
  return {
    kind: 'ready',
    type: 'lead/updated',
    entry: 0,
    place: { source: 's', file: 's.csv', line: 2, record: 1 },
    externalId: record,
    data,
    content,
    sha: contentSha(content),
    issues: [],
    omissions: [],
  };
}

function created(letter: string): Ready {
  return { ...update('1', letter), type: 'lead/created' };
}

/** An event that a run sends. */
interface Due {
  readonly event: Ready;
  readonly id: string;
  /** Added by `if_changed`. */
  readonly isAdded: boolean;
}

/** What a run over this input sends. */
function due(ledger: Ledger, input: readonly Ready[]): Due[] {
  const plan = new Plan({ migration: 'm', ledger, policies: [{ ...DEFAULT_POLICIES, if_changed: 'update' }] });
  const events = input.flatMap((event) => {
    const { ordinal, update: added } = plan.add(event);
    return [{ event, ordinal, isAdded: false }, ...(added ? [{ ...added, isAdded: true }] : [])];
  });
  plan.link(EVENT_TYPES);
  return events
    .filter(({ event, ordinal }) => ['ready', 'retry'].includes(plan.tables[event.type].state(ordinal)))
    .map(({ event, ordinal, isAdded }) => ({ event, id: plan.idOf(event, ordinal), isAdded }));
}

function pairOf({ event, id, isAdded }: Due): Pair {
  const about = { id, type: event.type, external_id: event.externalId!, content_sha: event.sha };
  const how = { outcome: 'updated', entity_id: 'e', code: isAdded ? IF_CHANGED : null } as const;
  const fields = fieldHashes(event.data);
  return {
    sent: { kind: 'sent', ...about },
    settled: { ...about, status: 'acknowledged', ...how, fields, at: '2026-01-01T00:00:00.000Z' },
  };
}

function read(pairs: readonly Pair[], left: (pair: Pair, nth: number) => Left = () => 'both'): Ledger {
  const ledger = new Ledger({ keepFields: false });
  const seen = new Map<string, number>();
  for (const pair of pairs) {
    const record = pair.sent.external_id!;
    const nth = seen.get(record) ?? 0;
    seen.set(record, nth + 1);
    const which = left(pair, nth);
    if (which === 'both' || which === 'sent') ledger.sent(pair.sent);
    if (which === 'both' || which === 'settled') ledger.settle(pair.settled);
    if (which !== 'both') ledger.isDamaged = true;
  }
  return ledger;
}

/** What runs over these inputs, one after another, leave in the checkpoint. */
function history(...inputs: readonly (readonly Ready[])[]): Pair[] {
  const pairs: Pair[] = [];
  for (const input of inputs) pairs.push(...due(read(pairs), input).map(pairOf));
  return pairs;
}

/** All ways in which so many updates can be equal to one another, as letters: aaa, aab, aba, abb, abc. */
function words(length: number): string[][] {
  if (length === 0) return [[]];
  return words(length - 1).flatMap((word) => {
    const letters = [...new Set(word)];
    return [...letters, String.fromCharCode(97 + letters.length)].map((letter) => [...word, letter]);
  });
}

/** All lists of this length. */
function lists<T>(items: readonly T[], length: number): T[][] {
  if (length === 0) return [[]];
  return lists(items, length - 1).flatMap((list) => items.map((item) => [...list, item]));
}

/** A record with its updates in order, and what is left of the lines of each. Every case is a record of its own. */
interface Case {
  readonly record: string;
  readonly letters: readonly string[];
  readonly left: readonly Left[];
}

function updatesOf(cases: readonly Case[]): Ready[] {
  return cases.flatMap(({ record, letters }) => letters.map((letter) => update(record, letter)));
}

/** Ids of what a run over the input sends from what is left, by record. */
function resent(cases: readonly Case[], pairs: readonly Pair[], input = updatesOf(cases)): Map<string, string[]> {
  const leftOf = new Map(cases.map(({ record, left }) => [record, left]));
  const ledger = read(pairs, ({ sent }, nth) => leftOf.get(sent.external_id!)![nth]!);
  const ids = new Map<string, string[]>(cases.map(({ record }) => [record, []]));
  for (const { event, id } of due(ledger, input)) ids.get(event.externalId!)!.push(id);
  return ids;
}

/** Records of which something else is sent again than the updates that have no answer left, each under its own id. */
function mistaken(cases: readonly Case[], pairs: readonly Pair[]): string[] {
  const known = new Set(pairs.map(({ sent }) => sent.id));
  const again = resent(cases, pairs);
  const isRight = ({ record, left }: Case): boolean => {
    const ids = new Set(again.get(record)!.filter((id) => known.has(id)));
    const unanswered = left.filter((lines) => lines === 'sent' || lines === 'none');
    return ids.size === unanswered.length && again.get(record)!.length === ids.size;
  };
  return cases.filter((each) => !isRight(each)).map(({ record }) => record);
}

/** A case for every way in which up to four updates of a record can be equal, and of what can be left of them. */
function casesOf(waysOf: (length: number) => Left[][]): Case[] {
  return [1, 2, 3, 4].flatMap((length) =>
    words(length).flatMap((letters) =>
      waysOf(length).map((left) => ({ record: `${letters.join('')} ${left.join(' ')}`, letters, left })),
    ),
  );
}

describe('updates of which lines are damaged', () => {
  it('keep their ids, whichever lines it are, and further updates have ids of their own', () => {
    const cases = casesOf((length) => lists(['both', 'sent', 'settled', 'none'], length));
    const pairs = history(updatesOf(cases));
    expect(mistaken(cases, pairs)).toEqual([]);
    const known = new Set(pairs.map(({ sent }) => sent.id));
    const before = resent(cases, pairs);
    for (const further of ['a', 'z']) {
      const grown = cases.map((each) => ({ ...each, letters: [...each.letters, further] }));
      const after = resent(cases, pairs, updatesOf(grown));
      const isRight = ({ record }: Case): boolean =>
        after.get(record)!.filter((id) => !known.has(id)).length === 1 &&
        new Set(after.get(record)).size === before.get(record)!.length + 1;
      expect(cases.filter((each) => !isRight(each)).map(({ record }) => record)).toEqual([]);
    }
  });

  it('keep their ids where some came later between the others, if not both lines of several are gone', () => {
    const ways = (length: number): Left[][] => [
      ...lists<Left>(['both', 'sent'], length),
      ...lists<Left>(['both', 'none'], length).filter((left) => left.filter((lines) => lines === 'none').length === 1),
    ];
    for (const isFirst of [[1], [0, 1], [0, 2], [1, 2], [0, 1, 3], [1, 2, 3], [0, 3]]) {
      const cases = casesOf(ways).map((each) => ({ ...each, record: `${each.record} ${isFirst.join('')}` }));
      const first = cases.map((each) => ({ ...each, letters: each.letters.filter((_, nth) => isFirst.includes(nth)) }));
      expect(mistaken(cases, history(updatesOf(first), updatesOf(cases)))).toEqual([]);
    }
  });

  it('keep their ids after others were rejected and tried again', () => {
    const input = [update('1', 'a'), update('1', 'b')];
    const [a, b] = history(input) as [Pair, Pair];
    const refused: Pair = { ...a, settled: { ...a.settled, status: 'rejected', outcome: null } };
    const [again] = due(read([refused, b]), input).map(pairOf) as [Pair];
    const withoutB = read([refused, b, again], (pair) => (pair === b ? 'sent' : 'both'));
    expect(due(withoutB, input).map(({ id }) => id)).toEqual([b.sent.id]);
  });

  it.each(['sent', 'none'] as const)(
    'keep their ids among those of the mapping where if_changed added them: %s',
    (lines) => {
      const before = [created('a')];
      const input = [created('b'), update('1', 'c')];
      const pairs = history(before, input);
      const added = pairs[1]!;
      expect(added.settled.code).toBe(IF_CHANGED);
      const ledger = read(pairs, (pair) => (pair === added ? lines : 'both'));
      expect(due(ledger, input).map(({ id }) => id)).toEqual([added.sent.id]);
    },
  );

  it('are no reason to take a change back to an earlier content for sent', () => {
    const pairs = history([created('a')], [created('b')], [created('c')]);
    const ledger = read(pairs, (_, nth) => (nth === 1 ? 'sent' : 'both'));
    const [back] = due(ledger, [created('b')]) as [Due];
    expect(pairs.map(({ sent }) => sent.id)).not.toContain(back.id);
  });
});
