// Lost without it: a rule of `core/next` could change without a history that shows it.
import { describe, expect, it } from 'vitest';
import * as core from '../../src/core/known.ts';
import { next, type Verdict, type Wanted } from '../../src/core/next.ts';

/** A value by its letter: `w` is wanted, `W` is the same in its normal form; `-` is absent, `?` unknown. */
const HASHES: Readonly<Record<string, string>> = {
  w: 'a00000000001a00000000001',
  W: 'b00000000001a00000000001',
  V: 'c00000000001a00000000001',
  x: 'd00000000001b00000000001',
  y: 'e00000000001c00000000001',
};
const LETTERS = Object.fromEntries(Object.entries(HASHES).map(([letter, hash]) => [hash, letter]));
const hashOf = (letter: string): string => HASHES[letter] ?? letter;
const bodyOf = (fields: Readonly<Record<string, string>>): core.Body =>
  Object.fromEntries(Object.entries(fields).map(([field, letter]) => [field, hashOf(letter)]));

/** `a=xw b=-`: the values that each field may have. */
function setsOf(text: string): core.Known['fields'] {
  const pairs = text.split(' ').filter((pair) => pair !== '');
  return Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), [...pair.slice(pair.indexOf('=') + 1)].map(hashOf)]),
  );
}
const textOf = (fields: core.Known['fields']): string =>
  Object.entries(fields)
    .map(([field, set]) => `${field}=${set.map((hash) => LETTERS[hash] ?? hash).join('')}`)
    .join(' ');

const shownAs = (letter: string): core.ShownField =>
  letter === ' '
    ? { kind: 'empty' }
    : letter === '!'
      ? { kind: 'not_comparable' }
      : { kind: 'value', hash: hashOf(letter) };
/** Of the field `a`; nothing if the record was not read back. `none`: it was, and does not show the field. */
const shownOf = (text: string): core.ShownFields | undefined =>
  text === '' ? undefined : text === 'none' ? {} : { a: shownAs(text) };

const OURS = { exists: 'yes', whose: 'ours' } as const;
const OTHERS = { exists: 'yes', whose: 'other' } as const;

type Policy = ReturnType<Wanted['policyOf']>;
const POLICIES = {
  keep: { ifChanged: 'update', ifEdited: 'keep' },
  over: { ifChanged: 'update', ifEdited: 'overwrite' },
  report: { ifChanged: 'report', ifEdited: 'keep' },
  ignore: { ifChanged: 'ignore', ifEdited: 'keep' },
} as const satisfies Readonly<Record<string, Policy>>;

const wantedOf = (fields: Readonly<Record<string, string>>, more: Partial<Wanted> = {}): Wanted => ({
  ...{ mode: 'create', content: 'now', ifExists: 'update', ifMissing: 'reject', policyOf: () => POLICIES.keep },
  fields: new Map(Object.entries(bodyOf(fields))),
  ...more,
});

describe('a field whose value is not certainly the wanted one', () => {
  /** Known values, what the service shows, the policy, whose the record is: what follows. */
  const CASES: readonly (readonly [
    string,
    string,
    keyof typeof POLICIES,
    'ours' | 'other',
    Verdict | 'read' | 'as wanted',
  ])[] = [
    ['w', '', 'keep', 'ours', 'as wanted'],
    ['w', 'W', 'keep', 'ours', 'as wanted'],
    ['w', 'x', 'over', 'ours', 'edited'],
    ['w', ' ', 'keep', 'ours', 'edited'],
    ['W', '', 'report', 'ours', 'reported'],
    ['x', '', 'ignore', 'ours', 'ignored'],
    ['x', '', 'report', 'ours', 'reported'],
    ['x', '', 'keep', 'ours', 'read'],
    ['x', 'x', 'keep', 'ours', 'sent'],
    ['x', 'none', 'keep', 'ours', 'sent'],
    ['x', 'y', 'keep', 'ours', 'kept'],
    ['x', 'y', 'over', 'ours', 'overwritten'],
    ['x', ' ', 'keep', 'ours', 'kept'],
    ['-x', ' ', 'keep', 'ours', 'sent'],
    ['x', '!', 'keep', 'ours', 'not_comparable'],
    ['x', '!', 'over', 'ours', 'overwritten'],
    ['xw', '', 'report', 'ours', 'read'],
    ['xw', '', 'ignore', 'ours', 'read'],
    ['xw', '!', 'report', 'ours', 'not_comparable'],
    ['xw', 'none', 'report', 'ours', 'uncertain'],
    ['xw', 'none', 'ignore', 'ours', 'uncertain'],
    ['xw', 'y', 'report', 'ours', 'reported'],
    ['xw', 'y', 'keep', 'ours', 'kept'],
    ['x?', '', 'report', 'ours', 'read'],
    ['x?', '', 'ignore', 'ours', 'ignored'],
    ['x?', 'none', 'report', 'ours', 'uncertain'],
    // Nobody knows whether a person has set it, or the state that is lost.
    ['x?', 'y', 'keep', 'ours', 'reported'],
    ['x?', 'y', 'over', 'ours', 'overwritten'],
    ['x?', 'y', 'keep', 'other', 'sent'],
    ['?', 'y', 'keep', 'ours', 'kept'],
    ['', 'y', 'report', 'other', 'sent'],
    ['', '', 'report', 'ours', 'reported'],
  ];

  it.each(CASES)('may be %j, shown as %j, %s, %s: %s', (set, shown, policy, whose, follows) => {
    const known = { exists: 'yes', whose, serviceId: 'S', fields: setsOf(set === '' ? '' : `a=${set}`) } as const;
    const wanted = wantedOf({ a: 'w' }, { policyOf: () => POLICIES[policy] });
    const { step, verdicts } = next(wanted, known, () => true, shownOf(shown));
    expect(step.kind === 'read' ? 'read' : (verdicts.get('a') ?? 'as wanted')).toBe(follows);
    expect(step.kind === 'update').toBe(follows === 'sent' || follows === 'overwritten');
  });

  it.each([
    ['x', '', 'keep', 'read'],
    ['x', 'x', 'keep', 'emptied'],
    ['x', '', 'ignore', undefined],
    ['-', '', 'keep', undefined],
  ] as const)('is emptied: %j, shown as %j, %s: %s', (set, shown, policy, follows) => {
    const known = { ...OURS, fields: setsOf(`a=${set}`) };
    const { step, verdicts } = next(
      wantedOf({}, { policyOf: () => POLICIES[policy] }),
      known,
      () => true,
      shownOf(shown),
    );
    expect(step.kind === 'read' ? 'read' : verdicts.get('a')).toBe(follows);
  });
});

it.each([
  ['create', 'update', 'reject', { exists: 'maybe', whose: 'ours', create: { id: 'C', bodies: [] } }, 'create C'],
  ['create', 'update', 'reject', core.NOTHING_KNOWN, 'create'],
  ['create', 'reject', 'reject', OTHERS, 'create'],
  ['create', 'skip', 'reject', OTHERS, 'skipped: exists'],
  ['create', 'update', 'reject', OTHERS, 'update'],
  // It was set before: `if_exists` is about records that are met for the first time.
  ['create', 'reject', 'reject', { ...OTHERS, serviceId: 'S' }, 'update'],
  ['create', 'skip', 'reject', { ...OTHERS, serviceId: 'S' }, 'update'],
  ['update', 'reject', 'reject', OTHERS, 'update'],
  ['update', 'skip', 'reject', OTHERS, 'update'],
  ['create', 'reject', 'reject', { ...OURS, fields: setsOf('a=w') }, 'end'],
  ['create', 'skip', 'reject', { ...OURS, fields: setsOf('a=w') }, 'end'],
  ['update', 'update', 'reject', { missing: 'now' }, 'update'],
  ['update', 'update', 'skip', { missing: 'now' }, 'skipped: missing'],
  ['update', 'update', 'create', { missing: 'now' }, 'create'],
  ['update', 'update', 'skip', { missing: 'earlier' }, 'update'],
  ['update', 'update', 'create', { missing: 'earlier' }, 'update'],
  ['update', 'update', 'reject', { open: { kind: 'update', id: 'U', fields: bodyOf({ a: 'w' }) } }, 'update U'],
  ['update', 'update', 'reject', { open: { kind: 'update', id: 'U', fields: bodyOf({ a: 'x' }) } }, 'update'],
  ['update', 'update', 'reject', { open: { kind: 'update', id: 'U', fields: {} } }, 'update'],
] as const)('mode %s, if_exists %s, if_missing %s, known %j: %s', (mode, ifExists, ifMissing, known, follows) => {
  const wanted = wantedOf({ a: 'w' }, { mode, ifExists, ifMissing });
  const { step } = next(wanted, { ...core.NOTHING_KNOWN, ...known }, () => false);
  const id =
    step.kind === 'end'
      ? step.skipped && `skipped: ${step.skipped}`
      : 'id' in step
        ? step.id && `${step.kind} ${step.id}`
        : undefined;
  expect(id ?? step.kind).toBe(follows);
});

it.each([
  // An open update goes out once more, unless it would set what must not be set now.
  ['a=xw b=w', { a: 'w', b: 'w' }, 'U a b'],
  ['a=xw b=xw', { a: 'w', b: 'w' }, 'a'],
  ['a=xw b=x', { a: 'w' }, 'a'],
  ['a=xw b=w', { a: 'x', b: 'w' }, 'a'],
] as const)('an update without an answer set a and b to w; of %s, %j is wanted: %s', (fields, wants, follows) => {
  const open = { kind: 'update', id: 'U', fields: bodyOf({ a: 'w', b: 'w' }) } as const;
  const policyOf = (field: string) => POLICIES[field === 'b' ? 'report' : 'keep'];
  const { step } = next(wantedOf(wants, { policyOf }), { ...OURS, fields: setsOf(fields), open }, () => false);
  const isSent = step.kind === 'update';
  expect(
    isSent ? [step.id, ...Object.keys(step.fields)].filter((each) => each !== undefined).join(' ') : step.kind,
  ).toBe(follows);
});

describe('what is known', () => {
  const create = (fields: Readonly<Record<string, string>>, id = 'C') =>
    ({ kind: 'create', id, fields: bodyOf(fields) }) as const;
  const update = (fields: Readonly<Record<string, string>>) =>
    ({ kind: 'update', id: 'U', fields: bodyOf(fields) }) as const;
  const ACKNOWLEDGED = { kind: 'acknowledged', deduplicated: false, mayHaveArrived: false, serviceId: 'S' } as const;
  const REPEATED = { ...ACKNOWLEDGED, deduplicated: true } as const;
  const RESENT = { ...REPEATED, mayHaveArrived: true } as const;
  const refusal = (why: 'exists' | 'missing' | 'other') => ({ kind: 'refused', why }) as const;
  const NO = core.NOTHING_KNOWN;
  const MAYBE = core.opened(NO, create({ a: 'x' }));
  const ours = (fields: string): core.Known => ({ ...OURS, fields: setsOf(fields) });
  const others = (fields: string): core.Known => ({ ...OTHERS, fields: setsOf(fields) });
  const said = ({ exists, whose, fields, missing }: core.Known): string =>
    [exists, ...(exists === 'no' ? [] : [whose]), textOf(fields), missing && `missing ${missing}`]
      .filter(Boolean)
      .join(' ');

  it.each<[name: string, before: core.Known, request: core.Request, after: string]>([
    ['a create', NO, create({ a: 'w' }), 'maybe ours a=w'],
    ['a create after one without an answer', MAYBE, create({ a: 'w', b: 'w' }), 'maybe ours a=xw b=-w'],
    ['the same create', MAYBE, create({ a: 'x' }), 'maybe ours a=x'],
    [
      'a create after one whose body is forgotten',
      { ...MAYBE, create: undefined },
      create({ a: 'w' }),
      'maybe ours a=?w',
    ],
    ['an update', ours('a=x b=x'), update({ a: 'w' }), 'yes ours a=xw b=x'],
    ['an update of a field that has nothing', ours(''), update({ a: 'w' }), 'yes ours a=-w'],
    ['an update of what nobody has looked at', NO, update({ a: 'w' }), 'no a=?w'],
    ['custom fields without one of their keys', ours('c.x=x c.y=x'), update({ 'c.x': 'w' }), 'yes ours c.x=xw c.y=x-'],
  ])('before %s is sent', (_, before, request, after) => {
    const known = core.opened(before, request);
    expect(said(known)).toBe(after);
    expect(known.open).toBe(request);
  });

  it('has each body that went out under the id once', () => {
    const bodies = ['x', 'w', 'x'].map((letter) => ({ a: letter }));
    const known = [...bodies, { a: 'x', b: 'w' }].reduce((before, body) => core.opened(before, create(body)), NO);
    expect(known.create?.bodies).toEqual([{ a: 'x' }, { a: 'w' }, { a: 'x', b: 'w' }].map(bodyOf));
  });

  it.each<[before: core.Known, request: core.Request, answer: core.RequestEnd, isAdopted: boolean, after: string]>([
    [NO, create({ a: 'w' }), ACKNOWLEDGED, false, 'yes ours a=w'],
    [MAYBE, create({ a: 'w' }), ACKNOWLEDGED, false, 'yes ours a=w'],
    [MAYBE, create({ a: 'w' }), REPEATED, false, 'yes ours a=xw'],
    [NO, create({ a: 'w', c: 'w' }), RESENT, false, 'yes ours a=w c=w'],
    [NO, create({ a: 'w', c: 'w' }), REPEATED, false, 'yes ours a=w? c=w'],
    [NO, create({ a: 'w', c: 'w' }), RESENT, true, 'yes ours a=w? c=w'],
    [ours('a=x b=x'), update({ a: 'w' }), ACKNOWLEDGED, false, 'yes ours a=w b=x'],
    [others('a=x'), update({ a: 'w' }), ACKNOWLEDGED, false, 'yes other a=w'],
    [NO, update({ a: 'w' }), ACKNOWLEDGED, false, 'yes other a=w'],
    [ours('a=x'), update({ a: 'w' }), { kind: 'none' }, false, 'yes ours a=xw'],
    [ours('a=x'), update({ a: 'w' }), refusal('other'), false, 'yes ours a=x'],
    [MAYBE, create({ a: 'w' }), refusal('other'), false, 'maybe ours a=x'],
    [NO, create({ a: 'w' }), refusal('exists'), false, 'yes other'],
    [core.opened(NO, update({ b: 'x' })), create({ a: 'w' }), refusal('exists'), false, 'yes other b=?x'],
    [
      core.opened(core.opened(NO, update({ b: 'x' })), create({ a: 'x' })),
      create({ a: 'w' }),
      refusal('exists'),
      false,
      'yes other b=?x',
    ],
    [NO, update({ a: 'w' }), refusal('missing'), false, 'no missing now'],
    [others('a=x'), update({ a: 'w' }), refusal('missing'), false, 'no missing now'],
    // A record of ours that is gone is not made again.
    [ours('a=x'), update({ a: 'w' }), refusal('missing'), false, 'yes ours a=x'],
  ])('%j after %j was answered %j (adopted: %s): %s', (before, request, answer, isAdopted, after) => {
    const about = { content: 'now', isShown: (field: string) => field !== 'c', isAdopted };
    expect(said(core.answered(before, request, answer, about))).toBe(after);
  });

  /** What was known, what is wanted of `a`, what the service shows of it. */
  it.each<[before: core.Known, wanted: string, shown: string, after: string]>([
    [ours('a=x?'), 'w', 'none', 'a=x'],
    [ours('a=?'), 'w', 'none', 'a=?'],
    [ours('a=x?'), 'w', ' ', 'a=x?'],
    [others('a=x?'), 'w', 'none', 'a=x?'],
    [others(''), 'w', 'w', ''],
    [others('a=xw'), 'w', 'w', 'a=w'],
    [others('a=x?'), 'w', ' ', 'a=-'],
    [others('a=x?'), 'w', 'y', ''],
    [others('a=x'), 'w', ' ', 'a=x'],
    [others('a=x'), 'w', 'y', 'a=x'],
    [ours(''), '', ' ', ''],
    [ours('a=x'), '', ' ', 'a=-'],
    [ours('a=-x'), 'w', ' ', 'a=-'],
    [ours('a=x'), 'w', 'w', 'a=w'],
    [ours('a=x'), 'w', 'W', 'a=w'],
    [ours('a=Wx'), 'w', 'W', 'a=W'],
    [ours('a=WV'), 'w', 'w', 'a=w'],
    [ours('a=xy'), 'w', 'y', 'a=y'],
    [ours('a=x'), 'w', 'y', 'a=x'],
    [ours('a=xy'), 'w', '!', 'a=xy'],
  ])('%j, of which %j is wanted, once %j was seen: %s', (before, wanted, shown, after) => {
    const known = core.seen(before, wantedOf(wanted === '' ? {} : { a: wanted }).fields, shownOf(shown)!);
    expect(textOf(known.fields)).toBe(after);
  });

  it.each<[known: core.Known, isAsWanted: boolean]>([
    [ours('a=w'), true],
    [ours('a=w b=-'), true],
    [ours('a=w b=x'), false],
    [ours('a=xw'), false],
    [ours('a=W'), false],
    [ours(''), false],
    [others('a=w'), true],
    [core.opened(NO, create({ a: 'w' })), false],
  ])('%j is as wanted: %s', (known, isAsWanted) => {
    expect(core.isAsWanted(known, wantedOf({ a: 'w' }).fields)).toBe(isAsWanted);
  });

  it.each([
    [NO, false, false],
    [NO, true, true],
    [MAYBE, false, true],
    [core.opened(ours('a=x'), update({ a: 'w' })), false, true],
    [core.opened(ours('a=x'), { ...update({ a: 'w' }), id: 'another' }), false, false],
  ])('a repeat after %j, arrived %s, is our own: %s', (before, mayHaveArrived, isOwn) => {
    expect(core.isOwnRepeat(before, update({ a: 'w' }), { mayHaveArrived })).toBe(isOwn);
  });

  it('has custom fields under the name of the whole', () => {
    expect(['custom_params.a.b', 'c.x', 'title'].map(core.wholeOf)).toEqual(['custom_params', 'c', 'title']);
  });
});
