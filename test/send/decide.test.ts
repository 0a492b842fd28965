// Lost without it: an answer could lead to the wrong next step.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide, decideAfterHealth, type Around, type Decided, type Sent, type Then } from '../../src/send/decide.ts';
import { UNSENT, type Delivery, type Sending } from '../../src/send/delivery.ts';
import { arrived, CLEAR, counted, ended, holds, overdue, probed, type Lane } from '../../src/send/lane.ts';
import type { Attempt, NoAnswer } from '../../src/service/reply.ts';

const MAX_OUTAGE_MS = 60_000;

const delivery = (id: string, more: Partial<Delivery> = {}): Delivery => ({
  ...{ id, type: 'lead/created', externalId: `x-${id}`, content: '{"external_id":"x","full_name":"Ada"}', place: 1 },
  ...{ mayHaveArrivedBefore: false, wasRejected: false, isFollowUp: false, ...more },
});

const about = (more: Partial<Around> = {}): Around => ({
  ...{ delivery: delivery('a'), now: 1_000, waitsFor: undefined, concurrency: 10, random: () => 0.5 },
  ...{ maxOutageMs: MAX_OUTAGE_MS, isStopping: false, ...more },
});

const acknowledged = (deduplicated = false): Attempt => ({
  kind: 'acknowledged',
  acknowledgement: {
    id: 's1',
    status: 'processed',
    entity: 'Lead',
    outcome: deduplicated ? 'none' : 'created',
    deduplicated,
  },
});
const refused = (status: number, code: string): Attempt => ({ kind: 'refused', status, code, message: 'no amount' });
const exists = refused(409, 'already_exists');
const unauthorised: Attempt = { kind: 'unauthorised', status: 401, code: 'unauthorised', message: 'no' };
const page = (status: number): Attempt => ({ kind: 'intercepted', status, code: `http_${status}`, message: 'Rule 9' });
const limited: Attempt = { kind: 'rate_limited', retryAfterMs: 2_000 };
const lost = (more: Partial<NoAnswer> = {}): NoAnswer => ({
  ...{ kind: 'unanswered', code: 'connection_lost', message: 'lost, Ada', sent: 'maybe', ...more },
});

const sent = (sending: Partial<Sending> = {}, lane: Partial<Lane> = {}): Sent => ({
  lane: { ...CLEAR, ...lane },
  sending: { ...UNSENT, attempts: 1, sentAt: 1_000, ...sending },
});
const alone = (id: string): Partial<Lane> => ({ door: { kind: 'alone', id, reason: 'credentials', until: 6_000 } });
const since = (countedTo: number): Partial<Lane> => ({ blocked: { cause: 'rate_limited', countedTo, lastedMs: 0 } });
const down: Partial<Lane> = { door: { kind: 'down', until: 2_000, probes: 1 } };
const proven: Partial<Lane> = { hasAcknowledged: true };

/** `wait 500`, `stop credentials 3`, `end refused exists`: what is done, in one line. */
function text(then: Then): string {
  if (then.kind === 'wait') return `wait ${then.ms}`;
  if (then.kind === 'stop') return `stop ${then.reason.code} ${then.reason.exitCode}`;
  if (then.kind !== 'end') return then.kind;
  const { delivered } = then;
  const more = delivered.kind === 'refused' ? delivered.why : delivered.kind === 'failed' ? delivered.code : '';
  return `end ${delivered.kind} ${delivered.kind === 'pending' ? delivered.hadNoEffect : more}`.trim();
}

describe('one decision', () => {
  it.each<[name: string, before: Sent, attempt: Attempt, about: Around, expected: string]>([
    ['an acknowledgement ends it', sent(), acknowledged(), about(), 'end acknowledged'],
    ['a refusal ends it', sent(), refused(422, 'odd'), about(), 'end refused other'],
    ['409, and nothing can have arrived: somebody else’s', sent(), exists, about(), 'end refused exists'],
    ['409 of a page without a code', sent(), refused(409, 'http_409'), about(), 'end refused exists'],
    ['409 after a lost answer: asked again', sent({ mayHaveArrived: true }), exists, about(), 'wait 500'],
    ['and once more', sent({ mayHaveArrived: true, askedAgain: 1 }), exists, about(), 'wait 1000'],
    ['and then it is', sent({ mayHaveArrived: true, askedAgain: 2 }), exists, about(), 'end refused exists'],
    [
      '409 after an earlier run',
      sent(),
      exists,
      about({ delivery: delivery('a', { mayHaveArrivedBefore: true }) }),
      'wait 500',
    ],
    [
      '422 not_found of an update',
      sent(),
      refused(422, 'not_found'),
      about({ delivery: delivery('a', { type: 'lead/updated' }) }),
      'end refused missing',
    ],
    ['422 not_found of a create', sent(), refused(422, 'not_found'), about(), 'end refused other'],
    ['401: once more, alone', sent(), unauthorised, about(), 'hold'],
    ['401 again: stop', sent({}, alone('a')), unauthorised, about(), 'stop unauthorised 3'],
    ['401 while another one is tried alone', sent({}, alone('b')), unauthorised, about(), 'again'],
    ['a page of a firewall: once more, alone', sent({}, proven), page(403), about(), 'hold'],
    ['again: this one is rejected', sent({ interceptions: 1 }, proven), page(410), about(), 'end failed http_410'],
    [
      'a second event in a row: stop',
      sent({ interceptions: 1 }, { ...proven, interceptedInARow: 1 }),
      page(403),
      about(),
      'stop intercepted 3',
    ],
    [
      'nothing was acknowledged: wrong base URL',
      sent({ interceptions: 1 }),
      page(404),
      about(),
      'stop wrong_base_url 3',
    ],
    ['nothing was acknowledged, 403: credentials', sent({ interceptions: 1 }), page(403), about(), 'stop http_403 3'],
    ['a page while another one is tried alone', sent({}, alone('b')), page(403), about(), 'again'],
    ['a 429: again, the limiter waits', sent(), limited, about(), 'again'],
    ['no answer: is the service up?', sent(), lost(), about(), 'ask'],
    ['no answer, while others are answered', sent({}, { answeredAt: 1_000 }), lost(), about(), 'wait 500'],
    ['no answer, and the service is down', sent({}, down), lost(), about(), 'again'],
    ['no answer, three times', sent({}, { failing: new Set(['b', 'c']) }), lost(), about(), 'again'],
    ['two, with a concurrency of 1', sent({}, { failing: new Set(['b']) }), lost(), about({ concurrency: 1 }), 'again'],
    [
      'the fifth time, while others are answered',
      sent({ failures: 4, unanswered: 4 }, { ...proven, answeredAt: 1_000 }),
      lost({ code: 'timeout' }),
      about(),
      'end failed timeout',
    ],
    [
      'the fifth time, and nothing was ever acknowledged',
      sent({ failures: 4, unanswered: 4 }, { answeredAt: 1_000 }),
      lost(),
      about(),
      'wait 8000',
    ],
    [
      'the same, and an earlier run gave it up',
      sent({ failures: 4 }, { answeredAt: 1_000 }),
      lost(),
      about({ delivery: delivery('a', { wasRejected: true }) }),
      'end failed connection_lost',
    ],
    [
      'no answer after a 503 with Retry-After',
      sent({}, { answeredAt: 1_000 }),
      lost({ retryAfterMs: 20_000 }),
      about(),
      'wait 20000',
    ],
    [
      'a Retry-After of years: what is left of --max-outage',
      sent({}, { answeredAt: 1_000 }),
      lost({ retryAfterMs: 1e12 }),
      about(),
      'wait 60000',
    ],
    [
      'after it, while others go on',
      sent({ unansweredSince: 1_000, sentAt: 61_000 }, { ...proven, answeredAt: 61_000 }),
      lost({ retryAfterMs: 1e12, code: 'http_503' }),
      about({ now: 61_000 }),
      'end failed http_503',
    ],
    ['no answer for --max-outage', sent({ sentAt: 0 }), lost(), about({ now: 60_000 }), 'stop outage 3'],
    ['429s for --max-outage', sent({}, since(0)), limited, about({ now: 60_000 }), 'stop rate_limited 3'],
    [
      'but our own limit does not count',
      sent({}, since(0)),
      limited,
      about({ now: 60_000, waitsFor: 'rate' }),
      'again',
    ],
    [
      'no connection with this configuration',
      sent(),
      lost({ setup: true, sent: 'no', code: 'bad_certificate' }),
      about(),
      'stop bad_certificate 2',
    ],
    [
      'the same after a request has arrived',
      sent({}, { mayHaveArrived: true }),
      lost({ setup: true, sent: 'no', code: 'proxy_auth' }),
      about(),
      'stop proxy_auth 3',
    ],
    ['withdrawn while the lane waits', sent(), { kind: 'withdrawn' }, about(), 'again'],
    ['withdrawn by the end of the run', sent(), { kind: 'withdrawn' }, about({ isStopping: true }), 'end pending true'],
    [
      'the same after a lost answer',
      sent({ mayHaveArrived: true }),
      { kind: 'withdrawn' },
      about({ isStopping: true }),
      'end pending false',
    ],
    [
      'the same after a page of somebody else',
      sent({ interceptions: 1 }),
      { kind: 'withdrawn' },
      about({ isStopping: true }),
      'end pending false',
    ],
  ])('%s', (_, before, attempt, around, expected) => {
    expect(text(decide(before, attempt, around).then)).toBe(expected);
  });

  it.each<[name: string, before: Sent, isUp: boolean, expected: string, failures: number]>([
    ['the service is up: counts', sent({ unanswered: 1, failures: 1 }), true, 'wait 500', 2],
    ['it is not: does not', sent({ unanswered: 3, failures: 1 }), false, 'wait 2000', 1],
    ['others have failed meanwhile', sent({ failures: 4 }, { ...proven, ...down }), true, 'again', 0],
    ['the fifth', sent({ unanswered: 5, failures: 4 }, proven), true, 'end failed connection_lost', 5],
  ])('after /health: %s', (_, before, isUp, expected, failures) => {
    const decided = decideAfterHealth(before, lost(), isUp, about());
    expect([text(decided.then), decided.sending.failures]).toEqual([expected, failures]);
  });

  it('what came instead of an answer is told without values of the event', () => {
    const { lane } = decide(sent({ sentAt: 0 }), lost(), about({ now: 60_000 }));
    expect(lane.lastFailure).toContain('lost');
    expect(overdue(lane, MAX_OUTAGE_MS)!.message).not.toContain('Ada');
  });

  it('an error of another request that was answered 429 counts until an event is answered', () => {
    const moment = { ...about(), waitsFor: 'rate_limited' } as const;
    const from = counted(CLEAR, moment);
    expect(overdue(counted(from, { ...moment, now: 60_999 }), MAX_OUTAGE_MS)).toBeUndefined();
    expect(overdue(counted(from, { ...moment, now: 61_000 }), MAX_OUTAGE_MS)).toMatchObject({ code: 'rate_limited' });
    const { lane } = decide({ ...sent(), lane: from }, acknowledged(), about({ now: 30_000 }));
    expect(overdue(counted(lane, about({ now: 61_000 })), MAX_OUTAGE_MS)).toBeUndefined();
  });
});

interface Played {
  readonly id: string;
  sending: Sending;
  then: Then;
}

const attempts = fc.constantFrom(
  ...[acknowledged(), acknowledged(true), refused(422, 'odd'), exists, unauthorised, page(403), limited, lost()],
  ...[lost({ sent: 'no' }), lost({ retryAfterMs: 90_000 })],
);
const turn = fc.record({ who: fc.nat(4), attempt: attempts, passes: fc.nat(9_000), isHealthy: fc.boolean() });

/** One run with five requests: who may send does, and gets an answer. `check` sees every decision. */
function play(
  turns: readonly { who: number; attempt: Attempt; passes: number; isHealthy: boolean }[],
  check: (before: Sent, attempt: Attempt, decided: Decided, played: Played, around: Around) => void,
): { lane: Lane; now: number; all: Played[]; isStopped: boolean } {
  let [lane, now] = [CLEAR, 0];
  const all = ['a', 'b', 'c', 'd', 'e'].map((id): Played => ({ id, sending: UNSENT, then: { kind: 'again' } }));
  for (const { who, attempt, passes, isHealthy } of turns) {
    now += passes;
    const around = about({ now, delivery: delivery(all[who]!.id) });
    lane = counted(lane, around);
    const open = all.filter(({ then }) => then.kind !== 'end');
    if (lane.door.kind === 'down' && now >= lane.door.until) lane = probed(lane, isHealthy, open[0]?.id, around);
    const played = all[who]!;
    if (played.then.kind === 'end') continue;
    lane = arrived(lane, played.id);
    if (holds(lane, played.id)) continue;
    const sending = { ...played.sending, attempts: played.sending.attempts + 1, sentAt: now };
    let decided = decide({ lane, sending }, attempt, around);
    if (decided.then.kind === 'ask' && attempt.kind === 'unanswered')
      decided = decideAfterHealth(decided, attempt, isHealthy, around);
    check({ lane, sending }, attempt, decided, played, around);
    ({ lane } = decided);
    Object.assign(played, { sending: decided.sending, then: decided.then });
    if (decided.then.kind === 'stop') return { lane, now, all, isStopped: true };
    if (decided.then.kind === 'end') lane = ended(lane, played.id, around);
  }
  return { lane, now, all, isStopped: false };
}

const history = fc.array(turn, { minLength: 5, maxLength: 60 });

describe('whatever comes', () => {
  it('one event at most may send while another one is tried alone, and none while the service is down', () => {
    fc.assert(
      fc.property(history, (turns) => {
        play(turns, (_, __, { lane }) => {
          const free = ['a', 'b', 'c', 'd', 'e'].filter((id) => !holds(lane, id));
          if (lane.door.kind === 'down') expect(free).toEqual([]);
          if (lane.door.kind === 'alone' || lane.door.kind === 'probe') expect(free.length).toBeLessThanOrEqual(1);
        });
      }),
    );
  });

  it('an answer ends an outage, and nothing is counted for it any more', () => {
    fc.assert(
      fc.property(history, (turns) => {
        play(turns, (_, attempt, { lane }) => {
          if (attempt.kind === 'unanswered') return;
          expect(lane.failing.size).toBe(0);
          expect(['open', 'alone']).toContain(lane.door.kind);
          if (attempt.kind !== 'rate_limited') expect(lane.blocked).toBeUndefined();
        });
      }),
    );
  });

  it('no event is given up during an outage, before anything was acknowledged, or before its fifth failure', () => {
    fc.assert(
      fc.property(history, (turns) => {
        play(turns, (before, attempt, { lane, sending, then }) => {
          if (then.kind !== 'end' || then.delivered.kind !== 'failed') return;
          expect(before.lane.hasAcknowledged).toBe(true);
          if (attempt.kind === 'intercepted') return expect(sending.interceptions).toBe(2);
          expect(lane.door.kind).not.toBe('down');
          if (attempt.kind === 'unanswered' && attempt.retryAfterMs === undefined) expect(sending.failures).toBe(5);
        });
      }),
    );
  });

  it('a record is called somebody else’s only after it was asked for twice, where a request may have arrived', () => {
    fc.assert(
      fc.property(history, (turns) => {
        const lostOnes = new Set<string>();
        play(turns, (_, attempt, { sending, then }, { id }) => {
          const isExisting =
            then.kind === 'end' && then.delivered.kind === 'refused' && then.delivered.why === 'exists';
          if (isExisting && lostOnes.has(id)) expect(sending.askedAgain).toBe(2);
          if (then.kind === 'end' && then.delivered.kind === 'acknowledged')
            expect(then.delivered.mayHaveArrived).toBe(lostOnes.has(id));
          if (attempt.kind === 'unanswered' && attempt.sent === 'maybe') lostOnes.add(id);
        });
      }),
    );
  });

  it('the run stops for an outage only where nothing was answered for --max-outage', () => {
    fc.assert(
      fc.property(history, (turns) => {
        let answeredAt = 0;
        play(turns, (_, attempt, { then }, __, { now }) => {
          if (then.kind === 'stop' && then.reason.code === 'outage')
            expect(now - answeredAt).toBeGreaterThanOrEqual(MAX_OUTAGE_MS);
          if (attempt.kind !== 'unanswered' && attempt.kind !== 'rate_limited') answeredAt = now;
        });
      }),
    );
  });

  it('once the service answers, every request ends', () => {
    fc.assert(
      fc.property(history, (turns) => {
        const before = play(turns, () => undefined);
        fc.pre(!before.isStopped);
        const answers = Array.from({ length: 40 }, (_, n) => ({
          ...{ who: n % 5, attempt: acknowledged(), passes: n % 5 === 0 ? 5_000 : 0, isHealthy: true },
        }));
        const { all, isStopped } = play([...turns, ...answers], () => undefined);
        if (!isStopped) expect(all.map(({ then }) => then.kind)).toEqual(Array(5).fill('end'));
      }),
    );
  });
});
